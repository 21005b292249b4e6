import type { DeviceEvent, TraceEvent } from '../../laws/trace.ts';
import type { Seen } from './script.ts';

/** Asked of a device that switches a machine, and not its way to a storage. */
export function isPower(event: TraceEvent, action: DeviceEvent['action']): event is DeviceEvent {
  return event.kind === 'device' && event.action === action && event.storage === undefined;
}

/** What a node's devices were told, in order. */
export function setsOf(trace: readonly TraceEvent[], node: string): DeviceEvent[] {
  return trace.flatMap((event) => (isPower(event, 'set') && event.node === node ? [event] : []));
}

/** Devices whose last read says off, with their addresses. */
function offDevices(trace: readonly TraceEvent[]): string[] {
  const shown = new Map<string, DeviceEvent['shown']>();
  for (const event of trace) if (event.kind === 'device' && event.shown !== undefined) shown.set(event.device, event.shown);
  return [...shown].flatMap(([device, state]) => (state === 'off' ? [device] : []));
}

/** What was left off is told loudly: by its device, in the status and in the words for a person; nothing else is said to be. */
export function leftOffProblems({ trace, status }: Seen): string[] {
  const off = offDevices(trace);
  if (off.length === 0) return ['nothing is off, and so nothing was left off'];
  const edges = (status?.restore?.edges ?? []).map(({ device }) => device.replace(/^[a-z]+:\/\//, ''));
  const message = status?.message ?? '';
  return [
    ...off.filter((device) => !edges.some((edge) => edge.startsWith(device))).map((device) => `${device} is off, and status.restore does not say so`),
    ...edges.filter((edge) => !off.some((device) => edge.startsWith(device))).map((edge) => `${edge} is on, and status.restore says that it is off`),
    ...(message.includes('LeftOff') && off.every((device) => message.includes(device)) ? [] : [`no LeftOff for a person: ${message}`]),
  ];
}

/** The first level failed before anything was proven, and the proof is that of the second one. */
export function secondLevelProblems({ status }: Seen): string[] {
  const journal = status?.journal ?? [];
  const proofs = (status?.evidence ?? []).filter(({ kind }) => kind === 'power-off');
  const sources = proofs.map(({ source }) => journal.find(({ id }) => id === source));
  const isFailedFirst = journal.some(
    ({ level, action, result }) => level === 1 && action === 'off' && result !== undefined && result !== 'succeeded',
  );
  return [
    ...(isFailedFirst ? [] : ['the off of the first level did not fail']),
    ...(proofs.length > 0 ? [] : ['nothing was proven']),
    ...sources
      .filter((entry) => entry?.level !== 2)
      .map((entry) => `the proof came from ${entry?.method ?? 'somewhere else'}, not from the second level`),
  ];
}

/** Not one device was set, and a run or the fence says why. */
export function neverSet({ trace, status }: Seen, words: RegExp): string[] {
  const sets = trace.flatMap((event) => (event.kind === 'device' && event.action === 'set' ? [event] : []));
  const told = [status?.message, ...(status?.journal ?? []).map(({ message }) => message)].some((text) => text !== undefined && words.test(text));
  return [
    ...sets.map(({ device, want }) => `${device} was told to switch ${want ?? '?'}`),
    ...(told ? [] : [`nobody is told why: ${status?.message ?? 'there is no fence'}`]),
  ];
}

/** Nothing was switched on while an off could still strike, and none has struck the node that was. */
export function lateOnProblems(trace: readonly TraceEvent[], node: string, lateMs: number): string[] {
  const sets = setsOf(trace, node);
  const on = sets.find(({ want }) => want === 'on');
  if (on === undefined) return ['it was never switched on'];
  const off = sets.findLast(({ at, want }) => want === 'off' && at < on.at);
  const waitedMs = on.at - (off?.at ?? 0);
  const struck = trace.some((event) => event.kind === 'power' && event.node === node && event.state === 'off' && event.at > on.at);
  return [
    ...(waitedMs < lateMs ? [`it was switched on ${Math.round(waitedMs)} ms after an off that takes ${lateMs} ms`] : []),
    ...(struck ? ['a late off has struck the node after it was switched on'] : []),
  ];
}
