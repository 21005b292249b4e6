import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Lister, Resource } from '../../ports/cluster.ts';
import type { FenceMetrics } from '../../ports/metrics.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';

export interface RefusedWritesOptions {
  nodes: Pick<Lister<Node>, 'get'>;
  recorder: Recorder;
  metrics: Pick<FenceMetrics, 'problem'>;
  log: Logger;
  /** All that stand refused now, in words; called when that changes. */
  onChange: (words: readonly string[]) => void;
}

/** More are counted, not kept. */
const KEPT_MAX = 256;
/** What does not change when it is sent again: the schema, and the rights. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);

/** Status writes that the server refuses: each is told once, where people look, until one of that object succeeds. */
export class RefusedWrites {
  readonly #options: RefusedWritesOptions;
  readonly #standing = new Map<string, string>();

  constructor(options: RefusedWritesOptions) {
    this.#options = options;
  }

  /** Follows one write of a status; what it comes to is the caller's as before. */
  async follow<T extends KubeObject>(resource: Resource<T>, object: KubeObject, write: Promise<T>): Promise<T> {
    const key = [resource.plural, resource.group, object.metadata.namespace ?? '', object.metadata.name].join(' ');
    try {
      const written = await write;
      this.#clear(key);
      return written;
    } catch (error) {
      if (error instanceof ApiStatusError && REFUSALS.has(error.status)) this.#refused(key, resource, object, error);
      // Gone: nobody writes it any more.
      else if (error instanceof ApiStatusError && error.status === 404) this.#clear(key);
      throw error;
    }
  }

  #refused(key: string, resource: Resource, object: KubeObject, { status, message }: ApiStatusError): void {
    const { recorder, metrics, log, onChange } = this.#options;
    const remedy = status === 403 ? 'kubectl apply -k config/rbac' : 'kubectl apply -k config/crd';
    const words = `the API server refuses the status of ${resource.kind} ${object.metadata.name}: ${message} (mend it: ${remedy})`;
    if (this.#standing.get(key) === words || (!this.#standing.has(key) && this.#standing.size >= KEPT_MAX)) return;
    this.#standing.set(key, words);
    log.error('a status is refused', { resource: resource.plural, object: object.metadata.name, problem: words });
    metrics.problem('StatusRefused');
    recorder.event(this.#concerned(resource, object), 'Warning', 'StatusRefused', `Nothing goes on here until this is mended: ${words}.`);
    onChange([...this.#standing.values()]);
  }

  /** The Node, where there is one: people look there. */
  #concerned(resource: Resource, object: KubeObject): KubeObject {
    const { spec } = object as { spec?: { node?: unknown } };
    const name = typeof spec?.node === 'string' ? spec.node : object.metadata.name;
    const node = this.#options.nodes.get(name);
    if (node !== undefined) return { apiVersion: 'v1', kind: 'Node', metadata: node.metadata };
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    return { apiVersion, kind: resource.kind, metadata: object.metadata };
  }

  #clear(key: string): void {
    if (this.#standing.delete(key)) this.#options.onChange([...this.#standing.values()]);
  }
}
