import { describe, expect, it } from 'vitest';

import { loginError } from './login-error.ts';
import { parseSettings } from '../parameters.ts';

const NO_SESSION = 'Error: Unable to establish IPMI v2 / RMCP+ session';

function settings(changes: Record<string, string> = {}) {
  const parsed = parseSettings({ ip: 'bmc', username: 'a', password: 'b', ...changes });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  return parsed;
}

describe('why there is no session', () => {
  it.each([
    [['Error in open session response message : invalid authentication algorithm', '', NO_SESSION], 'Misconfigured', 'set cipher=3'],
    [['Error in open session response message : insufficient resources for session', NO_SESSION], 'Unreachable', 'no session now'],
    [['Set Session Privilege Level to ADMINISTRATOR failed: Unknown (0x81)', NO_SESSION], 'Refused', 'privlvl=operator'],
    [['Set Session Privilege Level to ADMINISTRATOR failed', NO_SESSION], 'Unreachable', 'did not answer in it'],
    [['RAKP 2 message indicates an error : unauthorized name', NO_SESSION], 'Refused', 'does not know this user'],
    [['> Error: no response from RAKP 1 message', NO_SESSION], 'Unreachable', 'raise ipmitool_timeout (now 1)'],
    [['Authentication algorithm 0x01 is not what we requested 0x03', NO_SESSION], 'Misconfigured', 'does not take cipher suite 17: set cipher=3'],
    [['> Error: no response from RAKP 1 message', 'Set Session Privilege Level to ADMINISTRATOR failed'], 'Unreachable', 'BMC knows the user'],
    [['> Error: no response from RAKP 1 message', 'RAKP 4 message indicates an error : unauthorized name'], 'Unreachable', 'BMC knows the user'],
    [['Address lookup for bmc.example failed', NO_SESSION], 'Unreachable', 'does not resolve'],
    [['Failed to initialize the OEM info dictionary'], 'Misconfigured', 'enterprise-numbers.txt'],
    [['something else'], 'Unreachable', 'no session'],
    [[], 'Unreachable', 'no session'],
  ])('is told by %j', (lines, kind, words) => {
    const error = loginError(lines, settings(), 10);
    expect(error.kind).toBe(kind);
    expect(error.answered).toContain(words);
  });

  it('is a refusal when the answer came before the first repetition, and silence when it came later', () => {
    expect(loginError(['', NO_SESSION, ''], settings(), 40).kind).toBe('Refused');
    expect(loginError([NO_SESSION], settings(), 3_000).kind).toBe('Unreachable');
    expect(loginError([NO_SESSION], settings(), 950).kind).toBe('Unreachable');
    expect(loginError([NO_SESSION], settings({ ipmitool_timeout: '3' }), 950).kind).toBe('Refused');
    expect(loginError([NO_SESSION, 'and something else'], settings(), 40).kind).toBe('Unreachable');
  });

  it('advises the other common suite', () => {
    const lines = ['Error in open session response message : invalid integrity algorithm'];
    expect(loginError(lines, settings({ cipher: '3' }), 10).answered).toContain('set cipher=17');
  });
});
