import type { Resource } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import { withForeignSets } from '../../../laws/foreign-sets.ts';
import type { ApiEvent, TraceEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { setsOf } from '../device-findings.ts';

const REQUESTS = 'nodefenceremediations.ha.k8s.io';
const TIMED_OUT = 'remediation.medik8s.io/nhc-timed-out';
/** What was on its way when the request was given up may still arrive. */
const STOP_MS = 2_000;

/** Its device was told nothing before the request for it stood, was switched off and on once, and the request outlived that. */
export function requestedProblems(trace: readonly TraceEvent[], node: string, request: string): string[] {
  const made = writesOf(trace, request).find(({ verb }) => verb === 'create');
  const deleted = writesOf(trace, request).find(({ verb }) => verb === 'delete');
  const sets = setsOf(trace, node);
  const told = sets.map(({ want }) => want ?? '?').join(', ');
  const on = sets.at(-1);
  return [
    ...(made === undefined ? [`no request ${request} was made`] : []),
    ...(made !== undefined && sets.some(({ at }) => at < made.at) ? [`${node} was switched before anybody had asked for it`] : []),
    ...(told === 'off, on' ? [] : [`${node} was told ${told || 'nothing'}, and not off and on, once each`]),
    ...(deleted === undefined ? [`the request ${request} was never deleted`] : []),
    ...(deleted !== undefined && on !== undefined && deleted.at < on.at ? [`the request ${request} was deleted before ${node} was switched on`] : []),
  ];
}

/** Before a moment, no request was made and nobody was switched. */
export function heldProblems(trace: readonly TraceEvent[], nodes: readonly string[], untilMs: number): string[] {
  const made = trace.filter((event) => event.kind === 'api' && event.resource === REQUESTS && event.verb === 'create' && event.at < untilMs);
  const sets = nodes.flatMap((node) => setsOf(trace, node)).filter(({ at }) => at < untilMs);
  return [
    ...(made.length > 0 ? ['a request was made although too many were unhealthy'] : []),
    ...sets.map(({ node, want }) => `${node} was told to switch ${want ?? '?'} although too many were unhealthy`),
  ];
}

/** When the health check gave up; undefined: it has not. */
export function timedOutMs(request: Pick<KubeObject, 'metadata'> | undefined): number | undefined {
  const text = request?.metadata.annotations?.[TIMED_OUT];
  return text === undefined ? undefined : Date.parse(text);
}

/** Nothing was switched off from when the request was given up, and none of our writes came to the request of somebody else. */
export function escalatedProblems(trace: readonly TraceEvent[], node: string, request: string): string[] {
  const given = writesOf(trace, request).find(({ object }) => timedOutMs(object as KubeObject | undefined) !== undefined);
  if (given === undefined) return [`the request ${request} was never given up`];
  const late = setsOf(trace, node).filter(({ at, want }) => want === 'off' && at > given.at + STOP_MS);
  return late.map(({ at }) => `${node} was told off ${Math.round(at - given.at)} ms after the request had been given up`);
}

/** A remediator that is not ours: its request was made and deleted by us, and nothing of ours was sent to the node's device. */
export function foreignProblems(trace: readonly TraceEvent[], node: string, { group, plural }: Resource, request: string): string[] {
  const ours = trace.filter(
    (event): event is ApiEvent =>
      event.kind === 'api' && event.resource === `${plural}.${group}` && event.user === CONTROLLER_USER && event.status < 300,
  );
  const sets = setsOf(withForeignSets(trace), node).filter(({ isForeign }) => isForeign !== true);
  const without = (['create', 'delete'] as const).filter((wanted) => !ours.some((event) => event.verb === wanted && nameOf(event) === request));
  return [
    ...without.map((verb) => `nodefence did not ${verb} the request ${request}`),
    ...sets.map(({ want }) => `${node} was told to switch ${want ?? '?'} by us, though somebody else remediates it`),
  ];
}

/** Writes of a request of ours that were accepted. */
function writesOf(trace: readonly TraceEvent[], name: string): ApiEvent[] {
  return trace.filter(
    (event): event is ApiEvent =>
      event.kind === 'api' && event.resource === REQUESTS && isWrite(event) && event.status < 300 && nameOf(event) === name,
  );
}

function isWrite({ verb }: ApiEvent): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch';
}

function nameOf({ name, object }: ApiEvent): string | undefined {
  return name ?? (object as KubeObject | undefined)?.metadata.name;
}
