import type { Clock } from '../../ports/clock.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** The API server refuses longer ones. */
const MESSAGE_MAX = 1024;

/** events.v1, as far as we write it. */
export interface EventObject extends KubeObject {
  involvedObject: { apiVersion: string; kind: string; name: string; namespace?: string; uid?: string; resourceVersion?: string };
  reason: string;
  message: string;
  type: 'Normal' | 'Warning';
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

/** `at`: whole seconds, as `eventTime` says. `id`: tells this Event from all others about the object. */
export interface SaidEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  at: string;
  id: string;
}

/** An Event in the namespace of its object, of a Node in `default`. A message that is too long is cut. */
export function eventObject(
  about: KubeObject & { kind: string; apiVersion: string },
  { type, reason, message, at, id }: SaidEvent,
  { component, instance }: { component: string; instance: string },
): EventObject {
  const { name, namespace, uid, resourceVersion } = about.metadata;
  return {
    metadata: { name: `${name}.${id}`, namespace: namespace ?? 'default' },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    reason,
    message: message.length <= MESSAGE_MAX ? message : `${message.slice(0, MESSAGE_MAX - 1)}…`,
    type,
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
  };
}

/** metav1.Time has whole seconds. */
export function eventTime(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
