import { listAt, member, textAt } from '../shared/web/web-client.ts';
import { utc } from './keystone.ts';

/** What nova records of an operation on a server ("Servers - list instance actions"), newest first. */
export interface RecordedAction {
  action: string;
  requestId: string;
  /** Milliseconds since 1970, by the cloud's clock; undefined where it does not say. */
  startedAtMs: number | undefined;
}

export interface RecordedEvent {
  event: string;
  result: string | undefined;
  isFinished: boolean;
  hostId: string | undefined;
}

/** Undefined where it is no list of actions. */
export function actionsIn(body: unknown): readonly RecordedAction[] | undefined {
  if (!Array.isArray(member(body, 'instanceActions'))) return undefined;
  return listAt(body, 'instanceActions').map((one) => {
    const startedAtMs = Date.parse(utc(textAt(one, 'start_time')) ?? '');
    return {
      action: textAt(one, 'action') ?? '',
      requestId: textAt(one, 'request_id') ?? '',
      startedAtMs: Number.isNaN(startedAtMs) ? undefined : startedAtMs,
    };
  });
}

/**
 * Undefined where no events are shown: before microversion 2.51 they are for admins. `project`: of the server; who acts for another one, as an admin may, has
 * the hypervisor hashed for that one, which cannot be compared.
 */
export function eventsIn(body: unknown, project: string | undefined): readonly RecordedEvent[] | undefined {
  const action = member(body, 'instanceAction');
  if (!Array.isArray(member(action, 'events'))) return undefined;
  const actor = textAt(action, 'project_id');
  const isForeign = actor !== undefined && actor !== project;
  return listAt(action, 'events').map((one) => ({
    event: textAt(one, 'event') ?? '',
    result: textAt(one, 'result'),
    isFinished: textAt(one, 'finish_time') !== undefined,
    hostId: isForeign ? undefined : textAt(one, 'hostId'),
  }));
}

/**
 * Whoever evacuates a server starts it elsewhere from its disks; that what ran before is dead is the evacuator's word. A fence begins minutes after a hypervisor is
 * lost, but may be held for hours, and is about the boot of before.
 */
const EVACUATED_MS = 86_400_000;

/** An evacuation that may have left the old machine running; undefined where there is none. */
export function freshEvacuation(actions: readonly RecordedAction[], nowMs: number): RecordedAction | undefined {
  return actions.find(({ action, startedAtMs }) => action === 'evacuate' && (startedAtMs === undefined || nowMs - startedAtMs < EVACUATED_MS));
}

/** They neither start nor stop anything (nova/compute/instance_actions.py). */
const NEUTRAL = new Set(['lock', 'unlock', 'attach_volume', 'detach_volume', 'attach_interface', 'detach_interface', 'createImage', 'extend_volume']);

/** The last thing that was done to it, where that is a stop; else what it was. */
export function lastStop(actions: readonly RecordedAction[]): RecordedAction | { instead: string } {
  const last = actions.find(({ action }) => !NEUTRAL.has(action));
  if (last?.action === 'stop' && last.requestId !== '') return last;
  return { instead: last?.action ?? 'nothing' };
}

export type StopEnd = 'carried out' | 'under way' | { failed: string };

/** What the hypervisor made of a stop. `hostId`: of the server now; the stop must be its own. */
export function endOfStop(events: readonly RecordedEvent[], hostId: string | undefined): StopEnd {
  const stops = events.filter(({ event }) => event === 'compute_stop_instance');
  if (stops.length === 0 || stops.some(({ isFinished }) => !isFinished)) return 'under way';
  const failure = stops.find(({ result }) => result !== 'Success');
  if (failure !== undefined) return { failed: `ended with ${failure.result ?? 'no result'}` };
  const isElsewhere = hostId !== undefined && stops.some((stop) => stop.hostId !== undefined && stop.hostId !== hostId);
  return isElsewhere ? { failed: 'was carried out by another hypervisor than the one that has the server now' } : 'carried out';
}
