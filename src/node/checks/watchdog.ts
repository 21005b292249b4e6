import { join } from 'node:path';
import { namesIn, numberIn, textOf } from './reading.ts';
import { ok, problem, quoted, unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';

const FOLDER = 'sys/class/watchdog';

export interface WatchdogReading {
  name: string;
  /** `active`, `inactive`. */
  state?: string;
  identity?: string;
  timeoutSeconds?: number;
  bootStatus?: number;
}

export interface WatchdogWish {
  /** `watchdog0`. Undefined: any. */
  device?: string;
  /** It must reset the node within so many seconds. */
  timeoutSeconds?: number;
  /** softdog will not do. */
  isHardware: boolean;
}

export async function checkWatchdog(root: string, wish: WatchdogWish): Promise<Verdict> {
  return judgeWatchdog(await readWatchdogs(root), wish);
}

/** Undefined: this kernel has none. */
export async function readWatchdogs(root: string): Promise<WatchdogReading[] | undefined> {
  const names = (await namesIn(root, FOLDER))?.filter((name) => /^watchdog\d{1,3}$/u.test(name));
  if (names === undefined) return undefined;
  return Promise.all(names.map(async (name) => readWatchdog(root, name)));
}

async function readWatchdog(root: string, name: string): Promise<WatchdogReading> {
  const [state, identity, timeout, boot] = await Promise.all(
    ['state', 'identity', 'timeout', 'bootstatus'].map(async (attribute) => textOf(root, join(FOLDER, name, attribute))),
  );
  const [timeoutSeconds, bootStatus] = [numberIn(timeout), numberIn(boot)];
  return {
    name,
    ...(state === undefined ? {} : { state: state.trim() }),
    ...(identity === undefined ? {} : { identity: identity.trim() }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(bootStatus === undefined ? {} : { bootStatus }),
  };
}

export function judgeWatchdog(readings: readonly WatchdogReading[] | undefined, { device, timeoutSeconds, isHardware }: WatchdogWish): Verdict {
  const named = readings?.filter(({ name }) => device === undefined || name === device);
  if (named === undefined || (named.length === 0 && device === undefined)) return unknown('this node has no watchdog');
  if (named.length === 0) return problem(`not armed: there is no ${quoted(device ?? '')}`);
  if (named.every(({ state }) => state === undefined)) return unknown('this kernel tells no state of the watchdog');
  const active = named.filter(({ state }) => state === 'active');
  const armed = active.find(({ identity }) => !isHardware || identity !== 'Software Watchdog') ?? active[0];
  if (armed === undefined) return problem(`not armed: ${named.map(({ name, identity = '?' }) => `${name} (${quoted(identity, 30)})`).join(', ')}`);
  const { name, identity = '?', timeoutSeconds: real } = armed;
  if (isHardware && identity === 'Software Watchdog') return problem(`only a software watchdog is armed: ${name}`);
  if (timeoutSeconds !== undefined && real !== undefined && real > timeoutSeconds)
    return problem(`${name} resets after ${real} s, later than ${timeoutSeconds} s`);
  return ok(`armed: ${name} (${quoted(identity, 30)})${real === undefined ? '' : `, ${real} s`}`);
}
