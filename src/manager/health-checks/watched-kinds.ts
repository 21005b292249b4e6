import { backOffMs } from '../../domain/back-off.ts';
import type { FoundKind, RemediationKinds } from '../../controllers/machine-health-check/dependencies.ts';
import { discoveryDocument } from '../../kube/discovery.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { Resource } from '../../ports/cluster.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { WatchBase } from '../watching.ts';

interface Entry {
  found: FoundKind;
  reflector?: Reflector<UntypedObject>;
  cancel?: () => void;
  /** So many looks in a row told nothing. */
  failures: number;
}

/** Each is one watch of the API server. */
const KINDS_MAX = 32;
const AGAIN_MS = 30_000;
/** After the first look that told nothing; after others in a row twice as long, but no longer than after one that did. */
const AFTER_FAILURE_MS = 5_000;
const DEADLINE_MS = 10_000;

/** Kinds of templates and requests that checks name: found by discovery, looked for again and again, watched for as long as they are wanted. */
export class WatchedKinds implements RemediationKinds {
  readonly #base: WatchBase;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();

  constructor(base: WatchBase) {
    this.#base = base;
  }

  want(kinds: ReadonlySet<string>): void {
    for (const [kind, entry] of [...this.#entries]) {
      if (kinds.has(kind)) continue;
      entry.cancel?.();
      entry.reflector?.close();
      this.#entries.delete(kind);
    }
    for (const kind of kinds) {
      if (this.#entries.has(kind) || this.#entries.size >= KINDS_MAX) continue;
      const entry: Entry = { found: 'unknown', failures: 0 };
      this.#entries.set(kind, entry);
      void this.#reconcile(kind, entry);
    }
  }

  of(kind: string): FoundKind {
    return this.#entries.get(kind)?.found ?? 'unknown';
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #reconcile(kind: string, entry: Entry): Promise<void> {
    let restMs = AGAIN_MS;
    try {
      const resource = await this.#discover(kind);
      if (this.#entries.get(kind) !== entry) return;
      entry.failures = 0;
      if (resource === undefined) this.#settle(entry, 'absent');
      else if (entry.reflector === undefined) this.#watch(entry, resource);
    } catch (error) {
      // What is watched already goes on being watched.
      this.#base.logger.debug('remediation kind could not be discovered', { resource: kind, error });
      entry.failures += 1;
      restMs = backOffMs(entry.failures, AFTER_FAILURE_MS, AGAIN_MS);
    }
    if (this.#entries.get(kind) !== entry) return;
    entry.cancel = this.#base.clock.after(restMs, () => void this.#reconcile(kind, entry));
  }

  /** undefined: it is not served, or its objects are in no namespace. */
  async #discover(kindKey: string): Promise<Resource<UntypedObject> | undefined> {
    const [apiVersion = '', kind = ''] = kindKey.split(' ');
    const [group = '', version = ''] = apiVersion.split('/');
    const document = await discoveryDocument(this.#base.transport, `/apis/${group}/${version}`, { deadlineMs: DEADLINE_MS });
    if (document === undefined) return undefined;
    const { resources = [] } = document as { resources?: readonly { name?: string; kind?: string; namespaced?: boolean }[] };
    const found = resources.find((each) => each.kind === kind && each.namespaced === true && each.name?.includes('/') === false);
    return found?.name === undefined ? undefined : { group, version, kind, plural: found.name, namespaced: true };
  }

  #watch(entry: Entry, resource: Resource<UntypedObject>): void {
    const reflector = new Reflector<UntypedObject>({ ...this.#base, resource });
    entry.reflector = reflector;
    reflector.start();
    this.#settle(entry, { resource, lister: reflector.lister });
  }

  #settle(entry: Entry, found: FoundKind): void {
    if (found === 'absent') {
      entry.reflector?.close();
      delete entry.reflector;
    }
    if (entry.found === found) return;
    entry.found = found;
    for (const listener of this.#listeners) listener();
  }
}
