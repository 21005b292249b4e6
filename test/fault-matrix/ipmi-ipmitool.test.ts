import { describe } from 'vitest';

import { ipmi } from '../../agents/ipmi/definition.ts';
import { areProgramsThere } from '../../agents/ipmi/testing/ipmi-simulator.ts';
import { IPMI_CANNOT, spawnIpmiBmc } from './ipmi-bmc.ts';
import { testFaultProfile } from './harness.ts';

const NO_SESSION = /Unable to establish IPMI v2 \/ RMCP\+ session|no (?:complete )?answer within/u;
const NO_ANSWER = /Unable to send RAW command|no (?:complete )?answer within/u;

/** The same BMCs, spoken to by ipmitool at a terminal. */
describe.skipIf(!areProgramsThere)('by ipmitool', () => {
  testFaultProfile({
    agent: ipmi,
    cannot: IPMI_CANNOT,
    words: {
      'accepts-and-lies': /Chassis Power is o(?:n|ff)/u,
      refuses: /Set Chassis Power Control to (?:Down\/Off|Up\/On) failed: Insufficient privilege level/u,
      'wrong-credentials': NO_SESSION,
      unreachable: NO_SESSION,
      'hangs-mid-answer': NO_ANSWER,
      garbage: NO_SESSION,
      truncated: NO_ANSWER,
      'state-unknown': /Get Chassis Power Status failed: Unspecified error \(0xff\)/u,
      'state-null': /Get Chassis Status answered with 0 bytes of 3/u,
      'flips-back-on': /Chassis Power is on/u,
      restarts: /the session was lost/u,
      'wrong-machine': /the BMC shows GUID [0-9a-f-]{36}, but node a has system UUID 4c4c4544/u,
      'session-limit': /insufficient resources/u,
      'rate-limited': /Get Chassis Power Status failed: Node busy \(0xc0\)/u,
      'late-after-deadline': /Chassis Power is o(?:n|ff)|no (?:complete )?answer within/u,
    },
    oddities: [
      {
        name: 'opens sessions of suite 3 only',
        like: 'wrong-credentials',
        words: /does not take cipher suite 17: set cipher=3/u,
        spawn: (isOn) => spawnIpmiBmc('honest', isOn, { transport: 'ipmitool' }, { faults: { opensSuite3: true } }),
      },
    ],
    spawn: (behaviour, isOn) => spawnIpmiBmc(behaviour, isOn, { transport: 'ipmitool', ...(behaviour === 'slow' ? { ipmitool_timeout: '3' } : {}) }),
  });
});
