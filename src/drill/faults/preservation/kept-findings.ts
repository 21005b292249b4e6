import type { Machine } from '../../../ports/machines.ts';
import { machineName } from '../../../testbed/operators/fleet.ts';
import type { ApiEvent, TraceEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { isPower, setsOf } from '../device-findings.ts';

/** How a Machine is shown: as in the proposal, `Failed:Preserved`; `gone` when there is none. */
export function shownPhase(machine: Machine | undefined): string {
  if (machine === undefined) return 'gone';
  const { phase = '', preserveExpiryTime } = machine.status?.currentStatus ?? {};
  return preserveExpiryTime === undefined ? phase : `${phase}:Preserved`;
}

interface Seen {
  at: number;
  shown: string;
}

/** What a node's Machine was shown as, one entry for each change, as the API's audit has it. */
export function shownOver(trace: readonly TraceEvent[], node: string): Seen[] {
  const states: Seen[] = [];
  for (const event of trace) {
    const shown = isMachineWrite(event, node) ? shownAfter(event) : undefined;
    if (shown !== undefined && states.at(-1)?.shown !== shown) states.push({ at: event.at, shown });
  }
  return states;
}

function isMachineWrite(event: TraceEvent, node: string): event is ApiEvent {
  if (event.kind !== 'api' || event.resource !== 'machines.machine.sapcloud.io' || event.status >= 300) return false;
  return event.name === machineName(node) && event.verb !== 'get' && event.verb !== 'list' && event.verb !== 'watch';
}

/** A Machine is gone when its last finalizer is: with the write that takes it away. */
function shownAfter({ object, verb }: ApiEvent): string | undefined {
  const machine = object as Machine | undefined;
  if (machine?.metadata === undefined) return undefined;
  const isLeft = (machine.metadata.finalizers ?? []).length > 0;
  if (!isLeft && (verb === 'delete' || machine.metadata.deletionTimestamp !== undefined)) return 'gone';
  return shownPhase(machine);
}

/** It must have gone through all of `wanted`, in that order, and through none of `never`. */
export function courseProblems(trace: readonly TraceEvent[], node: string, wanted: readonly string[], never: readonly string[] = []): string[] {
  const course = shownOver(trace, node).map(({ shown }) => shown);
  const words = `the Machine of ${node} was ${course.join(', ') || 'never written'}`;
  let from = 0;
  for (const phase of wanted) {
    const at = course.indexOf(phase, from);
    if (at === -1) return [`${words}: no ${phase} where it should be`];
    from = at + 1;
  }
  return course.filter((phase) => never.includes(phase)).map((phase) => `${words}: it must never be ${phase}`);
}

/** A Machine may go only when an off of ours has been read back from its device, and the machine is truly off. */
export function endProblems(trace: readonly TraceEvent[], node: string): string[] {
  const removal = trace.find((event) => isMachineWrite(event, node) && event.verb === 'delete' && event.user === CONTROLLER_USER);
  if (removal === undefined) return [`nodefence has not deleted the Machine of ${node}`];
  const before = trace.filter((event) => event.at <= removal.at);
  const set = setsOf(before, node).at(-1);
  const power = before.findLast((event) => event.kind === 'power' && event.node === node);
  const reads = before.flatMap((event) => (isPower(event, 'read') && event.node === node && event.at > (set?.at ?? Infinity) ? [event] : []));
  const isTold = set?.want === 'off';
  const isShown = reads.length > 0 && reads.slice(-2).every(({ shown }) => shown === 'off');
  return [
    ...(isTold ? [] : [`the Machine of ${node} was deleted, and the last that its device was told is no off`]),
    ...(isShown ? [] : [`the Machine of ${node} was deleted before its device had been read off`]),
    ...(power?.kind === 'power' && power.state === 'off' ? [] : [`the Machine of ${node} was deleted while it was on`]),
  ];
}

/** Nothing was switched there between two moments. */
export function setProblems(trace: readonly TraceEvent[], node: string, fromMs: number, untilMs: number): string[] {
  const within = setsOf(trace, node).filter(({ at }) => at > fromMs && at < untilMs);
  return within.map(({ want }) => `${node} was told to switch ${want ?? '?'} while it was preserved`);
}

/** Its pods were asked to leave: evicted, and none deleted by us. */
export function drainProblems(trace: readonly TraceEvent[], node: string): string[] {
  const hosts = new Map<string, string>();
  const evicted: string[] = [];
  const deleted: string[] = [];
  for (const event of trace) {
    if (event.kind !== 'api' || event.resource !== 'pods' || event.status >= 300) continue;
    const { name = '?', object } = event;
    const host = (object as { spec?: { nodeName?: string } } | undefined)?.spec?.nodeName ?? hosts.get(name);
    if (host !== undefined) hosts.set(name, host);
    if (host !== node || event.user !== CONTROLLER_USER) continue;
    if (event.subresource === 'eviction') evicted.push(name);
    else if (event.verb === 'delete') deleted.push(name);
  }
  return [
    ...(evicted.length > 0 ? [] : [`no pod of ${node} was evicted`]),
    ...deleted.map((name) => `pod ${name} of ${node} was deleted and not evicted`),
  ];
}
