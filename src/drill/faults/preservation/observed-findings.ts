import { PRESERVE, REQUEST_MARK } from '../../../controllers/preservation/names.ts';
import type { Node } from '../../../ports/objects.ts';
import type { ApiEvent, TraceEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { shownOver } from './kept-findings.ts';

/** Beside an MCM: the request stood before the machine was Failed, its Node was never deleted, and of Machines nothing was written by nodefence. */
export function observedProblems(trace: readonly TraceEvent[], node: string): string[] {
  const done = trace.filter((event): event is ApiEvent => event.kind === 'api' && event.status < 300);
  const failedMs = shownOver(trace, node).find(({ shown }) => shown.startsWith('Failed'))?.at;
  const askedMs = done.find((event) => event.user === CONTROLLER_USER && asks(event, node))?.at;
  const written = done.filter(({ user, resource, verb }) => user === CONTROLLER_USER && resource.endsWith('.machine.sapcloud.io') && isWrite(verb));
  const isDeleted = done.some(({ resource, verb, name }) => resource === 'nodes' && verb === 'delete' && name === node);
  return [
    ...(askedMs === undefined ? [`nodefence never asked for ${node} to be kept`] : []),
    ...(failedMs === undefined ? [`the Machine of ${node} was never Failed: nothing was shown`] : []),
    ...(askedMs !== undefined && failedMs !== undefined && askedMs > failedMs ? [`${node} was asked for only when it was Failed already`] : []),
    ...(isDeleted ? [`the VM of ${node} was deleted under its fence`] : []),
    ...[...new Set(written.map(({ verb, resource }) => `${verb} ${resource}`))].map((write) => `nodefence is not to write beside an MCM: ${write}`),
  ];
}

function asks({ resource, name, verb, object }: ApiEvent, node: string): boolean {
  if (resource !== 'nodes' || name !== node || verb !== 'patch') return false;
  const annotations = (object as Node | undefined)?.metadata.annotations;
  return annotations?.[PRESERVE] === 'when-failed' && annotations[REQUEST_MARK] !== undefined;
}

function isWrite(verb: string): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch';
}
