import type { Cluster } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import { Conflict } from '../conflict.ts';
import type { Annotate, Change, ObjectRef } from '../remediation/actions.ts';
import { annotationsPatch, precondition } from '../remediation/patch.ts';
import { resourceOf } from '../remediation/resource-of.ts';
import type { RestoreNode } from './node-backup.ts';

/** Objects as they were read for a decision, each as its own last write left it. */
export class ReadObjects {
  readonly #objects = new Map<string, KubeObject>();

  put(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>, object: KubeObject): void {
    this.#objects.set(keyOf(ref), object);
  }

  /** Rejects with `Conflict` where another one has its name. */
  of(target: ObjectRef): KubeObject {
    const object = this.#objects.get(keyOf(target));
    if (object === undefined || object.metadata.uid !== target.uid) throw new Conflict(`${keyOf(target)} is gone, or another one has its name`);
    return object;
  }

  /** One merge patch, under the identity and version that were read; `bodyOf` puts them in. */
  async patch(
    cluster: Pick<Cluster, 'mergePatch'>,
    target: ObjectRef,
    bodyOf: (object: KubeObject) => object,
    subresource?: 'status',
  ): Promise<void> {
    const body = bodyOf(this.of(target));
    const { namespace } = target;
    const options = { ...(namespace !== undefined && { namespace }), ...(subresource !== undefined && { subresource }) };
    this.put(target, await cluster.mergePatch(resourceOf(target), target.name, body, options));
  }

  async annotate(cluster: Pick<Cluster, 'mergePatch'>, { target, changes, resourceVersion }: Annotate): Promise<void> {
    if (resourceVersion !== undefined && this.of(target).metadata.resourceVersion !== resourceVersion) {
      throw new Conflict(`${keyOf(target)} has changed since it was decided upon`);
    }
    await this.patch(cluster, target, (object) => annotationsPatch(object, changes));
  }

  /** Labels, annotations and the cordon in one write. */
  async restore(cluster: Pick<Cluster, 'mergePatch'>, { target, labels, annotations, isCordoned }: RestoreNode): Promise<void> {
    await this.patch(cluster, target, (object) => {
      const isSame = (changes: readonly Change[], marks: Readonly<Record<string, string>> = {}): boolean =>
        changes.every(({ key, was }) => marks[key] === was);
      if (!isSame(labels, object.metadata.labels) || !isSame(annotations, object.metadata.annotations)) {
        throw new Conflict(`${keyOf(target)} was changed meanwhile`);
      }
      const metadata = { ...precondition(object), labels: marksOf(labels), annotations: marksOf(annotations) };
      return { metadata, ...(isCordoned === true && { spec: { unschedulable: true } }) };
    });
  }
}

function marksOf(changes: readonly Change[]): Record<string, string | null> {
  return Object.fromEntries(changes.map(({ key, to }) => [key, to ?? null]));
}

function keyOf({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
