import { openstack } from '../../agents/openstack/definition.ts';
import { PROJECT, USER } from '../../src/testbed/devices/cloud/keystone.ts';
import { openstackCloud, openstackOf, type OpenStackOddities } from '../../src/testbed/devices/cloud/openstack.ts';
import type { CloudKind } from '../../src/testbed/devices/cloud/cloud-service.ts';
import { cloudProfile } from './cloud-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /status=(?:ACTIVE|SHUTOFF)/u;
/** The first read of a server that is off takes four answers: 6.4 s of the 8 s that a slow device has. */
const SLOW = { answerMs: 1_600, stopMs: 8_000, startMs: 8_000 };
const UUID = '0f0e0d0c-1111-4222-8333-444444444444';

/** The cloud with something odd about it from the beginning. */
function oddly(oddities: OpenStackOddities): CloudKind {
  return {
    ...openstackCloud,
    start: async (options) => {
      const service = await openstackCloud.start(options);
      Object.assign(openstackOf(service).oddities, oddities);
      return service;
    },
  };
}

const profile = (kind: CloudKind): Parameters<typeof cloudProfile>[0] => ({
  agent: openstack,
  kind,
  parameters: (service) => ({
    auth_url: `${service.url}/identity`,
    username: USER,
    password: openstackOf(service).keystone.password,
    project_name: PROJECT,
  }),
  refusal: { requests: ['POST os-stop', 'POST os-start'], status: 403, code: 'forbidden', message: "Policy doesn't allow it to be performed." },
  pending: { stopping: 'REBOOT', starting: 'BUILD' },
  cannot: { slow: 'the first read of a server that is off takes four answers, so that none may take 2 s: an oddity of 1.6 s stands for it' },
  words: {
    'accepts-and-lies': SAID,
    refuses: /HTTP 403: forbidden: Policy doesn't allow it/u,
    'wrong-credentials': /Keystone refuses the credentials of parameters: HTTP 401: Unauthorized/u,
    garbage: /an answer that is no token|no Keystone|what came is no server/u,
    'state-unknown': /status=peculiar/u,
    'state-null': /status=\(none\)/u,
    'state-pending': /status=(?:REBOOT|BUILD)/u,
    'flips-back-on': SAID,
    'one-plug-stuck': SAID,
    'rate-limited': /overLimit|status=/u,
    'late-after-deadline': /status=|no complete answer within/u,
  },
});

const spawnOddly = (oddities: OpenStackOddities, isOn: boolean): ReturnType<ReturnType<typeof cloudProfile>['spawn']> =>
  cloudProfile(profile(oddly(oddities))).spawn('honest', isOn);

testFaultProfile(
  cloudProfile({
    ...profile(openstackCloud),
    oddities: (spawn) => [
      { name: 'takes 1.6 s to answer and 8 s to act', like: 'slow', spawn: (isOn) => spawn(isOn, SLOW) },
      {
        name: 'has another server behind the plug than the machine of the node',
        like: 'wrong-machine',
        words: /is another machine: its UUID is/u,
        spawn: (isOn) => spawn(isOn, {}, { identity: { node: 'a', systemUUID: UUID } }),
      },
      { name: 'is ahead of our clock by an hour', like: 'honest', spawn: (isOn) => spawn(isOn, { aheadMs: 3_600_000 }) },
      { name: 'has hypervisors that answer, and shows it', like: 'honest', spawn: (isOn) => spawnOddly({ hostStatus: 'UP' }, isOn) },
      {
        name: 'remembers a server whose hypervisor is silent',
        like: 'state-unknown',
        words: /host_status=UNKNOWN.*its state is a memory/u,
        spawn: (isOn) => spawnOddly({ hostStatus: 'UNKNOWN' }, isOn),
      },
      {
        name: 'fails what it accepted',
        like: 'accepts-and-lies',
        words: /our os-st(?:op|art) was accepted and ended with Error/u,
        spawn: (isOn) => spawn(isOn, { failsOperation: true }),
      },
    ],
  }),
);
