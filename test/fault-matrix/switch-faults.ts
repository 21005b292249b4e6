import type { SwitchFaults } from '../../src/testbed/devices/ssh/switch-ports.ts';
import type { Behaviour } from './fault-profile.ts';

const CALL_MS = 4_000;

/** How a switch is made to behave. `wrong-credentials`, `wrong-certificate` and `unreachable` are of the account, the key and the port instead. */
export function switchFaultsOf(behaviour: Behaviour, plugs: readonly string[]): SwitchFaults {
  switch (behaviour) {
    case 'slow':
      return { answerMs: 2_000, actMs: 8_000 };
    case 'accepts-and-lies':
      return { ignores: plugs };
    case 'one-plug-stuck':
      return { ignores: plugs.slice(1) };
    case 'refuses':
      return { refuses: true };
    case 'hangs-mid-answer':
      return { wire: 'hangs' };
    case 'garbage':
      return { wire: 'garbage' };
    case 'truncated':
      return { wire: 'truncated' };
    case 'state-unknown':
      return { shows: 'unknown' };
    case 'state-null':
      return { shows: 'missing' };
    case 'state-pending':
      return { shows: 'pending' };
    case 'flips-back-on':
      return { reopensMs: 500 };
    case 'wrong-machine':
      return { describes: 'worker-9 uplink' };
    case 'session-limit':
      return { isFull: true };
    case 'rate-limited':
      return { turnsAway: 1 };
    case 'late-after-deadline':
      return { changeAnswerMs: CALL_MS + 1_000, actMs: CALL_MS + 1_500 };
    default:
      return {};
  }
}
