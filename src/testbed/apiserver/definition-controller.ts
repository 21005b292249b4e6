import type { Backend } from './backend.ts';
import { DEFINITIONS, establishedStatus, serveDefinition } from './definitions.ts';
import { releaseFinalizers, remove } from './deletes.ts';
import { equal, textAt, type ApiObject } from './json.ts';
import type { Change } from './store.ts';

const CLEAN_UP = 'customresourcecleanup.apiextensions.k8s.io';

/** What a server's own controllers do for definitions: establish new ones, serve what they say, remove the objects of those that go. */
export class DefinitionController {
  readonly #backend: Backend;
  readonly #endWatches: (storage: string) => void;

  constructor(backend: Backend, endWatches: (storage: string) => void) {
    this.#backend = backend;
    this.#endWatches = endWatches;
  }

  /** To be called after each change of a definition or of an object of a custom kind. */
  note(change: Change): void {
    const definition = change.object;
    if (change.type === 'DELETED') {
      serveDefinition(this.#backend, definition, true);
      this.#endWatches(storageOf(definition));
    } else if (definition.metadata.deletionTimestamp !== undefined) this.#clear(definition);
    else this.#establish(definition);
  }

  /** The last object of a kind went: its definition may go too. */
  noteGone(storage: string): void {
    const definition = this.#backend.store.collection(DEFINITIONS).get(storage);
    if (definition?.metadata.deletionTimestamp !== undefined) this.#release(definition);
  }

  #establish(definition: ApiObject): void {
    serveDefinition(this.#backend, definition, false);
    const status = establishedStatus(definition, this.#backend);
    const finalizers = definition.metadata.finalizers ?? [];
    if (equal(definition['status'], status) && finalizers.includes(CLEAN_UP)) return;
    const kept = finalizers.includes(CLEAN_UP) ? finalizers : [...finalizers, CLEAN_UP];
    this.#backend.store.put(DEFINITIONS, { ...definition, metadata: { ...definition.metadata, finalizers: kept }, status });
  }

  #clear(definition: ApiObject): void {
    const kind = this.#backend.registry.all().find((one) => one.storage === storageOf(definition));
    if (kind !== undefined) {
      for (const object of this.#backend.store.collection(kind.storage).inNamespace('')) {
        remove(this.#backend, kind, object, {
          gracePeriodSeconds: undefined,
          propagationPolicy: 'Background',
          uid: undefined,
          resourceVersion: undefined,
          dryRun: false,
        });
      }
    }
    this.#release(definition);
  }

  #release(definition: ApiObject): void {
    if (this.#backend.store.collection(storageOf(definition)).size > 0) return;
    const kind = this.#backend.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
    if (kind !== undefined) releaseFinalizers(this.#backend, kind, definition, [CLEAN_UP]);
  }
}

function storageOf(definition: ApiObject): string {
  return `${textAt(definition, 'spec', 'names', 'plural')}.${textAt(definition, 'spec', 'group')}`;
}
