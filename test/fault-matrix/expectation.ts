import type { Action, Behaviour } from './fault-profile.ts';

/** What an action on a device of this behaviour must come to. `either`: success, when it is true, or a failure in the device's words. */
export type Expectation = 'succeeds' | 'fails' | 'either';

/** Behaviours after which no state can be believed: nothing may be switched, whatever was asked. */
export const UNREADABLE: ReadonlySet<Behaviour> = new Set([
  'wrong-credentials',
  'wrong-certificate',
  'unreachable',
  'hangs-mid-answer',
  'garbage',
  'truncated',
  'state-unknown',
  'state-null',
  'wrong-machine',
]);

/** Behaviours whose device may see one request twice: a transport that repeats a lost datagram, never a second decision. */
export const MAY_REPEAT: ReadonlySet<Behaviour> = new Set(['slow', 'late-after-deadline']);

export function expectedOf(behaviour: Behaviour, action: Action): Expectation {
  if (UNREADABLE.has(behaviour)) return 'fails';
  switch (behaviour) {
    case 'session-limit':
    case 'rate-limited':
      return 'either';
    case 'late-after-deadline':
      return action === 'status' ? 'succeeds' : 'either';
    case 'flips-back-on':
    case 'restarts':
      return action === 'off' || action === 'reboot' ? 'fails' : 'succeeds';
    case 'accepts-and-lies':
    case 'refuses':
    case 'one-plug-stuck':
    case 'state-pending':
      return action === 'status' ? 'succeeds' : 'fails';
    default:
      return 'succeeds';
  }
}
