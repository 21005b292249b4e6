import { afterAll } from 'vitest';

import { ExecDevices } from './exec-device.ts';
import { testFaultProfile } from './harness.ts';

const devices = new ExecDevices();
afterAll(() => devices.dispose());

/** What is read to the end, where nothing else is said. */
const AS_READ = /Status: O(?:N|FF)/u;

testFaultProfile({
  agent: devices.agent,
  cannot: {
    restarts: 'a program that is run anew for each call knows nothing of boots',
    'wrong-machine': 'a fence agent of ClusterLabs never shows whose machine it switches: every reading is unverified',
    'state-pending': 'the contract of ClusterLabs knows on, off and failure; a pending state is a failure of status, as is an unknown one',
  },
  words: {
    slow: AS_READ,
    'accepts-and-lies': AS_READ,
    refuses: /does not have the correct privileges/u,
    'wrong-credentials': /Unable to connect\/login to fencing device/u,
    'wrong-certificate': /SSL certificate problem/u,
    unreachable: /Connection refused/u,
    'hangs-mid-answer': /Stat \(killed at the deadline\)/u,
    garbage: /%-\(state\) \(exit code 0\)/u,
    truncated: /Status: O \(exit code 2\)/u,
    'state-unknown': /Unable to obtain correct plug status/u,
    'state-null': /Status: \(exit code 2\)/u,
    'flips-back-on': AS_READ,
    'session-limit': /maximum number of user sessions/u,
    'rate-limited': /429 Too Many Requests/u,
    'one-plug-stuck': AS_READ,
    'late-after-deadline': AS_READ,
  },
  spawn: (behaviour, isOn) => Promise.resolve(devices.spawn(behaviour, isOn)),
});
