import { REMEDY_INTENT_ANNOTATION } from '../../../controllers/remedies/job/intent.ts';
import type { RemedyIntent } from '../../../controllers/remedies/job/intent.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { CORDON_BY_REMEDY } from '../../../ports/remedies.ts';
import type { KubeObject, Node, Pod } from '../../../ports/objects.ts';
import type { NodeFence, NodeFenceReport } from '../../../ports/resources.ts';
import type { ApiEvent, TraceEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { isPower } from '../device-findings.ts';

/** One thing that remedies did to a node, as the API's audit and the devices saw it. */
export interface Deed {
  at: number;
  /** `cordon`, `uncordon`, `evict`, `fence`, `off`, `on`; a Job by the name of its remedy. */
  what: string;
  /** Id of the run that it begins, where it says so. */
  run?: string;
}

/** Everything that was done to a node, in order. */
export function deedsOf(trace: readonly TraceEvent[], node: string): Deed[] {
  const onNode = new Map<string, string>();
  let isCordoned = false;
  return trace.flatMap((event): Deed[] => {
    if (isPower(event, 'set')) return event.node === node ? [{ at: event.at, what: event.want ?? '?' }] : [];
    if (event.kind !== 'api' || event.status >= 300) return [];
    const isOurs = event.user === CONTROLLER_USER;
    switch (event.resource) {
      case 'nodes': {
        if (event.name !== node || event.object === undefined) return [];
        const was = isCordoned;
        const { metadata, spec } = event.object as Node;
        isCordoned = spec.unschedulable === true;
        const run = metadata.annotations?.[CORDON_BY_REMEDY];
        if (!isOurs || was === isCordoned) return [];
        return [{ at: event.at, what: isCordoned ? 'cordon' : 'uncordon', ...(isCordoned && run !== undefined && { run }) }];
      }
      case 'pods': {
        if (event.subresource === 'eviction') return isOurs && onNode.get(event.name ?? '') === node ? [{ at: event.at, what: 'evict' }] : [];
        const pod = event.object as Partial<Pod> | undefined;
        if (pod?.spec?.nodeName !== undefined && pod.metadata !== undefined) onNode.set(pod.metadata.name, pod.spec.nodeName);
        return isOurs && event.verb === 'delete' && onNode.get(event.name ?? '') === node ? [{ at: event.at, what: 'delete pod' }] : [];
      }
      case 'jobs.batch':
        return isOurs && event.verb === 'create' ? jobOf(event, node) : [];
      case 'nodefences.ha.k8s.io': {
        if (!isOurs || event.verb !== 'create' || event.name !== fenceName(node)) return [];
        const run = (event.object as NodeFence).spec.requestedBy?.uid;
        return [{ at: event.at, what: 'fence', ...(run !== undefined && { run }) }];
      }
      default:
        return [];
    }
  });
}

function jobOf(event: ApiEvent, node: string): Deed[] {
  const text = (event.object as KubeObject | undefined)?.metadata.annotations?.[REMEDY_INTENT_ANNOTATION];
  if (text === undefined) return [];
  const intent = JSON.parse(text) as RemedyIntent;
  return intent.node === node ? [{ at: event.at, what: intent.remedy, run: intent.run }] : [];
}

/** These and no others, in this order; how many evictions there are, and offs that are repeated, is no matter. */
export function orderProblems(trace: readonly TraceEvent[], node: string, wanted: readonly string[]): string[] {
  const done = deedsOf(trace, node).map(({ what }) => what);
  const shown = done.filter((what, index) => what !== done[index - 1] || !['evict', 'off', 'on'].includes(what));
  return shown.join(', ') === wanted.join(', ')
    ? []
    : [`${node}: done was ${shown.join(', ') || 'nothing'}, and not ${wanted.join(', ') || 'nothing'}`];
}

/** What begins a run was written down before, and no run begins twice. */
export function beginProblems(trace: readonly TraceEvent[], node: string): string[] {
  const begun = deedsOf(trace, node).flatMap(({ run, ...deed }) => (run === undefined ? [] : [{ ...deed, run }]));
  const writes = trace.filter(
    (event): event is ApiEvent => event.kind === 'api' && event.resource === 'nodefencereports.ha.k8s.io' && event.name === node,
  );
  const isWritten = (run: string, beforeMs: number): boolean =>
    writes.some(({ at, status, object }) => {
      if (at >= beforeMs || status >= 300) return false;
      return ((object as NodeFenceReport | undefined)?.status?.remedies?.positions ?? []).some((position) => position.run?.id === run);
    });
  return begun.flatMap(({ what, run, at }, index) => [
    ...(isWritten(run, at) ? [] : [`${node}: ${what} began before it was written down`]),
    ...(begun.findIndex((other) => other.run === run) === index ? [] : [`${node}: ${what} began twice`]),
  ]);
}

/** When the node's own monitors first said so, milliseconds since 1970. */
export function firstPosted(trace: readonly TraceEvent[], node: string, condition: string): number | undefined {
  return trace.find((event) => {
    if (event.kind !== 'api' || event.resource !== 'nodes' || event.name !== node || event.status >= 300) return false;
    return (event.object as Node | undefined)?.status.conditions?.some(({ type, status }) => type === condition && status === 'True') === true;
  })?.at;
}

/** How long after the period of a condition was over the node was cordoned. */
export function cordonedAfterMs(trace: readonly TraceEvent[], node: string, condition: string, periodSeconds: number): number | undefined {
  const posted = firstPosted(trace, node, condition);
  const cordon = deedsOf(trace, node).find(({ what }) => what === 'cordon');
  return posted === undefined || cordon === undefined ? undefined : Math.round(cordon.at - posted - 1_000 * periodSeconds);
}

/** Fault seen, period over: cordoned within two seconds, and not before. */
export function cordonProblems(afterMs: number | undefined): string[] {
  if (afterMs === undefined) return ['it was never cordoned'];
  if (afterMs < 0) return [`it was cordoned ${-afterMs} ms before the condition had stood for its period`];
  return afterMs <= CORDON_WITHIN_MS
    ? []
    : [`it was cordoned ${afterMs} ms after the condition had stood for its period, not within ${CORDON_WITHIN_MS} ms`];
}

const CORDON_WITHIN_MS = 2_000;

/** Where the pods of a remedy ran. */
export function hostsOf(trace: readonly TraceEvent[], remedy: string): string[] {
  const hosts = trace.flatMap((event) => {
    if (event.kind !== 'api' || event.resource !== 'pods' || event.status >= 300) return [];
    const pod = event.object as Partial<Pod> | undefined;
    const isOf = pod?.metadata?.labels?.['job-name']?.startsWith(`nr-${remedy}-`) === true;
    return isOf && pod.spec?.nodeName !== undefined ? [pod.spec.nodeName] : [];
  });
  return [...new Set(hosts)];
}
