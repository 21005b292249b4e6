import { HOLD } from '../../../controllers/machine-remediation/names.ts';
import type { BareMetalHost } from '../../../ports/metal3.ts';
import { hostName } from '../../../testbed/operators/host-fleet.ts';
import { withForeignSets } from '../../../laws/foreign-sets.ts';
import type { ApiEvent, TraceEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { setsOf } from '../device-findings.ts';

const HOSTS = 'baremetalhosts.metal3.io';

/** The node was switched off and on by the operator of its host alone, so many times, and not before our hold stood on it: an annotation whose key is one. */
export function cycledProblems(trace: readonly TraceEvent[], node: string, cycles: number, isHold = isOurs): string[] {
  const sets = setsOf(withForeignSets(trace), node);
  const told = sets.map(({ want }) => want ?? '?').join(', ');
  const wanted = Array.from({ length: cycles }, () => 'off, on').join(', ');
  const held = writesOf(trace, HOSTS).find(({ name, object }) => name === hostName(node) && isHeld(object, isHold));
  return [
    ...(told === wanted ? [] : [`${node} was told ${told || 'nothing'}, and not ${wanted}`]),
    ...sets
      .filter(({ isForeign }) => isForeign !== true)
      .map(({ want }) => `${node} was told ${want ?? '?'} by us, though an operator serves its host`),
    ...(held !== undefined && sets.some(({ at }) => at < held.at) ? [`${node} was switched before its host was held`] : []),
    ...(held === undefined && sets.length > 0 ? [`${node} was switched, and its host was never held`] : []),
  ];
}

/** How often it was switched off. */
export function offsOf(trace: readonly TraceEvent[], node: string): number {
  return setsOf(trace, node).filter(({ want }) => want === 'off').length;
}

/** Its Node was deleted by us once, and between off and on. */
export function deletedProblems(trace: readonly TraceEvent[], node: string): string[] {
  const deleted = writesOf(trace, 'nodes').filter(({ name, verb }) => name === node && verb === 'delete');
  const [first] = deleted;
  const sets = setsOf(trace, node);
  const [off, on] = [sets.find(({ want }) => want === 'off'), sets.find(({ want }) => want === 'on')];
  const isBetween = first !== undefined && off !== undefined && off.at < first.at && (on === undefined || first.at < on.at);
  return [
    ...(deleted.length === 1 ? [] : [`Node ${node} was deleted ${deleted.length} times`]),
    ...(first === undefined || isBetween ? [] : [`Node ${node} was not deleted between its off and its on`]),
  ];
}

/** Writes of ours that were accepted. */
export function writesOf(trace: readonly TraceEvent[], resource: string): ApiEvent[] {
  const reads: readonly string[] = ['get', 'list', 'watch'];
  return trace.filter(
    (event): event is ApiEvent =>
      event.kind === 'api' && event.user === CONTROLLER_USER && event.resource === resource && event.status < 300 && !reads.includes(event.verb),
  );
}

function isHeld(object: unknown, isHold: (key: string) => boolean): boolean {
  return Object.keys((object as BareMetalHost | undefined)?.metadata.annotations ?? {}).some(isHold);
}

function isOurs(key: string): boolean {
  return key === HOLD;
}
