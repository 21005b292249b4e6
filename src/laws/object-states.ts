import type { KubeObject } from '../ports/objects.ts';
import type { ApiEvent } from './trace.ts';
import { Timeline } from './timeline.ts';

/** A state of an object and who caused it; `object` is undefined once it is gone. */
export interface ObjectState {
  object: KubeObject | undefined;
  user: string;
  event: ApiEvent;
}

interface DeletableObject extends KubeObject {
  spec?: { nodeName?: string; terminationGracePeriodSeconds?: number };
  status?: { phase?: string };
}

const ENDED: readonly string[] = ['Succeeded', 'Failed'];

/** What the API held at each place of the trace, told from successful writes. */
export class ObjectStates {
  readonly #states = new Map<string, Timeline<ObjectState>>();

  record(position: number, event: ApiEvent): void {
    const name = nameOf(event);
    if (name === undefined) return;
    const key = stateKey(event.resource, name, event.namespace);
    const timeline = this.#states.get(key) ?? new Timeline<ObjectState>();
    const object = stateAfter(event, timeline.before(position)?.object);
    if (object === 'unknown') return;
    this.#states.set(key, timeline);
    timeline.add(position, event.at, { object, user: event.user, event });
  }

  of(resource: string, name: string, namespace?: string): Timeline<ObjectState> | undefined {
    return this.#states.get(stateKey(resource, name, namespace));
  }

  /** Every object of a resource that stood just before `position`. */
  *standing(resource: string, position: number): Generator<KubeObject> {
    for (const [key, timeline] of this.#states) {
      if (!key.startsWith(`${resource} `)) continue;
      const object = timeline.before(position)?.object;
      if (object !== undefined) yield object;
    }
  }

  /** Names of a resource's objects that ever stood, with their states. */
  *every(resource: string): Generator<[name: string, timeline: Timeline<ObjectState>]> {
    for (const [key, timeline] of this.#states) if (key.startsWith(`${resource} `)) yield [key.slice(key.lastIndexOf(' ') + 1), timeline];
  }
}

export function nameOf(event: ApiEvent): string | undefined {
  return event.name ?? (event.object as Partial<KubeObject> | undefined)?.metadata?.name;
}

function stateKey(resource: string, name: string, namespace: string | undefined): string {
  return `${resource} ${namespace ?? ''} ${name}`;
}

/** A delete's `object` is what stood before it: whether it goes at once is decided as the API server does. */
function stateAfter(event: ApiEvent, before: KubeObject | undefined): KubeObject | undefined | 'unknown' {
  if (event.verb === 'delete') return afterDelete(event, (event.object as DeletableObject | undefined) ?? before);
  if (event.subresource === 'binding') return before === undefined ? 'unknown' : bound(before, event.request);
  if (event.subresource === 'eviction') return before === undefined ? 'unknown' : afterDelete(event, before);
  const object = event.object as Partial<KubeObject> | undefined;
  if (object?.metadata === undefined) return 'unknown';
  return hasEnded(event, object.metadata) ? undefined : { ...object, metadata: object.metadata };
}

/** The write that takes the last finalizer of what is being deleted is its end; a pod's is its kubelet's. */
function hasEnded({ resource }: ApiEvent, { deletionTimestamp, finalizers = [] }: KubeObject['metadata']): boolean {
  return resource !== 'pods' && deletionTimestamp !== undefined && finalizers.length === 0;
}

function afterDelete(event: ApiEvent, object: DeletableObject | undefined): KubeObject | undefined {
  if (object === undefined) return undefined;
  if ((object.metadata.finalizers ?? []).length > 0) return marked(object);
  if (event.resource !== 'pods' || object.spec?.nodeName === undefined || ENDED.includes(object.status?.phase ?? '')) return undefined;
  return gracePeriodOf(event, object) === 0 ? undefined : marked(object);
}

/** Seconds that a deletion or an eviction gives this pod. */
export function gracePeriodOf({ subresource, request }: ApiEvent, pod: DeletableObject | undefined): number {
  type Options = { gracePeriodSeconds?: number } | null | undefined;
  const options = subresource === 'eviction' ? (request as { deleteOptions?: Options } | null | undefined)?.deleteOptions : (request as Options);
  return options?.gracePeriodSeconds ?? pod?.spec?.terminationGracePeriodSeconds ?? 30;
}

function marked(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: object.metadata.deletionTimestamp ?? 'marked' } };
}

function bound(pod: KubeObject, request: unknown): KubeObject {
  const nodeName = (request as { target?: { name?: string } } | undefined)?.target?.name;
  return { ...pod, ...{ spec: { ...(pod as DeletableObject).spec, nodeName } } };
}
