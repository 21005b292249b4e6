import { ovirt } from '../../agents/ovirt/definition.ts';
import { engineOf, ovirtCloud, USER } from '../../src/testbed/devices/cloud/ovirt.ts';
import type { CloudKind } from '../../src/testbed/devices/cloud/cloud-service.ts';
import type { CloudFaults } from '../../src/testbed/devices/cloud/faults.ts';
import { cloudProfile, type CloudProfile } from './cloud-profile.ts';
import type { Oddity } from './fault-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /status=(?:up|down|powering_down|wait_for_launch)/u;

const PROFILE: CloudProfile = {
  agent: ovirt,
  kind: ovirtCloud,
  parameters: (service) => ({ ip: service.url, username: USER, password: engineOf(service).password }),
  refusal: { requests: ['POST stop', 'POST start'], status: 403, code: '', message: 'User is not authorized to perform this action.' },
  pending: { stopping: 'powering_down', starting: 'wait_for_launch' },
  cannot: {
    'session-limit': 'the engine limits no sessions (its UserSessionHardLimit is gone since 4.2)',
    'wrong-machine': 'the engine shows no addresses beside a machine: an oddity with another UUID stands for it',
  },
  words: {
    'accepts-and-lies': SAID,
    refuses: /User is not authorized to perform this action\.\] \(fence@internal lacks a permission\)/u,
    'wrong-credentials': /access_denied: Cannot authenticate user/u,
    garbage: /the login was answered without a token/u,
    'state-unknown': /status=peculiar/u,
    'state-null': /status=\(none\)/u,
    'state-pending': SAID,
    'flips-back-on': SAID,
    'one-plug-stuck': SAID,
    'rate-limited': /HTTP 503|status=/u,
    'late-after-deadline': /status=|no complete answer within/u,
  },
};

/** Machines with a lease on a storage domain, whose host is in this state. */
function leased(hostStatus: string): CloudKind {
  return {
    ...ovirtCloud,
    start: async (options) => {
      const service = await ovirtCloud.start(options);
      engineOf(service).oddities = { hasLease: true, hostStatus };
      return service;
    },
  };
}

function leasedOddities(hostStatus: string, oddity: Omit<Oddity, 'spawn'>, faults: CloudFaults): readonly Oddity[] {
  return (
    cloudProfile({ ...PROFILE, kind: leased(hostStatus), oddities: (spawn) => [{ ...oddity, spawn: (isOn) => spawn(isOn, faults) }] }).oddities ?? []
  );
}

testFaultProfile(
  cloudProfile({
    ...PROFILE,
    oddities: (spawn) => [
      {
        name: 'has another machine of the same name',
        like: 'wrong-machine',
        words: /is another machine: its UUID is/u,
        spawn: (isOn) => spawn(isOn, {}, { identity: { node: 'a', systemUUID: '0f0e0d0c-1111-4222-8333-444444444444' } }),
      },
      {
        name: 'does not find the machine, as another engine has it',
        like: 'wrong-machine',
        words: /what is not found is not off/u,
        spawn: (isOn) => spawn(isOn, { isReplaced: true }),
      },
      {
        name: 'lost the host, and says that the machine is not running',
        like: 'state-unknown',
        words: /its host is lost, and may run it still/u,
        spawn: (isOn) => spawn(isOn, { shows: 'unknown', ignoresSet: true }),
      },
      { name: 'keeps its memory', like: 'state-unknown', words: /resumed, it would write on/u, spawn: (isOn) => spawn(isOn, { shows: 'suspended' }) },
      {
        name: 'fails on its way to stop',
        like: 'accepts-and-lies',
        words: /Network error during communication with the Host/u,
        spawn: (isOn) => spawn(isOn, { failsOperation: true }),
      },
      {
        name: 'never ends its stop',
        like: 'accepts-and-lies',
        words: SAID,
        spawn: (isOn) => spawn(isOn, { sticksInStopping: true, ...(isOn ? {} : { ignoresSet: true }) }),
      },
      ...leasedOddities(
        'non_responsive',
        {
          name: 'calls a machine with a lease down while its host is lost',
          like: 'state-unknown',
          words: /it has a lease, and may run on still where the engine hears nothing: host host-1 status=non_responsive/u,
        },
        { shows: 'down' },
      ),
      ...leasedOddities('up', { name: 'has machines with a lease', like: 'honest' }, {}),
      { name: 'is ahead of our clock by a day', like: 'honest', spawn: (isOn) => spawn(isOn, { aheadMs: 86_400_000 }) },
    ],
  }),
);
