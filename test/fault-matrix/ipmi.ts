import { ipmi } from '../../agents/ipmi/definition.ts';
import { IPMI_CANNOT, spawnIpmiBmc } from './ipmi-bmc.ts';
import { testFaultProfile } from './harness.ts';

testFaultProfile({
  agent: ipmi,
  cannot: IPMI_CANNOT,
  words: {
    'accepts-and-lies': /Chassis Power is o(?:n|ff)/u,
    refuses: /Set Chassis Power Control to (?:Down\/Off|Up\/On) failed: Insufficient privilege level \(0xd4\)/u,
    'wrong-credentials': /the password is wrong/u,
    unreachable: /no answer from the BMC \(ECONNREFUSED\)/u,
    'hangs-mid-answer': /the BMC did not answer|no (?:complete )?answer within/u,
    garbage: /no answer from the BMC \(\d datagrams came that are none\)/u,
    truncated: /the BMC did not answer \(\d datagrams came that are none\)|no (?:complete )?answer within/u,
    'state-unknown': /Get Chassis Power Status failed: Unspecified error \(0xff\)/u,
    'state-null': /Get Chassis Status answered with 0 bytes of 3/u,
    'flips-back-on': /Chassis Power is on/u,
    restarts: /the session was lost/u,
    'wrong-machine': /the BMC shows GUID [0-9a-f-]{36}, but node a has system UUID 4c4c4544/u,
    'session-limit': /the BMC opens no session now; .*insufficient resources to create a session \(0x01\)/u,
    'rate-limited': /Node busy \(0xc0\)/u,
    'late-after-deadline': /Chassis Power is o(?:n|ff)|did not answer/u,
  },
  oddities: [
    {
      name: 'answers RAKP 1 late, and a repeated one anew, which voids the first',
      like: 'honest',
      spawn: (isOn) => spawnIpmiBmc('honest', isOn, { transport: 'native' }, { faults: { voidsRepeats: true }, rakp2DelayMs: 1_200 }),
    },
    {
      name: 'opens sessions of suite 3 only',
      like: 'wrong-credentials',
      words: /does not take cipher suite 17: set cipher=3/u,
      spawn: (isOn) => spawnIpmiBmc('honest', isOn, { transport: 'native' }, { faults: { opensSuite3: true } }),
    },
    {
      name: 'says nothing to a user whom it does not know',
      like: 'wrong-credentials',
      words: /check that the BMC knows the user/u,
      spawn: (isOn) => spawnIpmiBmc('honest', isOn, { transport: 'native', username: 'nobody' }, { faults: { ignoresStrangers: true } }),
    },
  ],
  spawn: (behaviour, isOn) => spawnIpmiBmc(behaviour, isOn, { transport: 'native' }),
});
