import { proxmox } from '../../agents/proxmox/definition.ts';
import { proxmoxCloud, pveOf, TOKEN_ID, type ProxmoxOddities } from '../../src/testbed/devices/cloud/proxmox.ts';
import type { CloudKind } from '../../src/testbed/devices/cloud/cloud-service.ts';
import { cloudProfile, type CloudProfile } from './cloud-profile.ts';
import type { Oddity } from './fault-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /status=(?:running|stopped) qmpstatus=/u;

const PROFILE: CloudProfile = {
  agent: proxmox,
  kind: proxmoxCloud,
  parameters: (service) => ({ endpoint: service.url, token_id: TOKEN_ID, token_secret: pveOf(service).tokenSecret }),
  refusal: { requests: ['POST stop', 'POST start'], status: 403, code: '', message: 'Permission check failed (/vms/100, VM.PowerMgmt)' },
  pending: { stopping: 'running shutdown', starting: 'running prelaunch' },
  cannot: { 'wrong-machine': 'no addresses are shown beside a machine: an oddity with another UUID stands for it' },
  words: {
    'accepts-and-lies': SAID,
    refuses: /Permission check failed \(\/vms\/100, VM\.PowerMgmt\)/u,
    'wrong-credentials': /HTTP 401: invalid token value!/u,
    garbage: /an answer that is none of Proxmox VE/u,
    'state-unknown': /status=peculiar/u,
    'state-null': /status=\(none\) qmpstatus=\(none\)/u,
    'state-pending': /qmpstatus=(?:shutdown|prelaunch)/u,
    'flips-back-on': SAID,
    'one-plug-stuck': SAID,
    'rate-limited': /HTTP 429|status=/u,
    'late-after-deadline': /status=|no complete answer within/u,
  },
};

/** An emulated cluster that is odd from its start. */
function odd(oddities: (isOn: boolean) => ProxmoxOddities): CloudKind {
  return {
    ...proxmoxCloud,
    start: async (options) => {
      const service = await proxmoxCloud.start(options);
      pveOf(service).oddities = oddities(options.machines[0]?.power.state() === 'on');
      return service;
    },
  };
}

function oddity(oddities: (isOn: boolean) => ProxmoxOddities, like: Omit<Oddity, 'spawn'>): readonly Oddity[] {
  return cloudProfile({ ...PROFILE, kind: odd(oddities), oddities: (spawn) => [{ ...like, spawn: (isOn) => spawn(isOn, {}) }] }).oddities ?? [];
}

testFaultProfile(
  cloudProfile({
    ...PROFILE,
    oddities: (spawn) => [
      {
        name: 'has another machine of the same number',
        like: 'wrong-machine',
        words: /is another machine: its UUID is/u,
        spawn: (isOn) => spawn(isOn, {}, { identity: { node: 'a', systemUUID: '0f0e0d0c-1111-4222-8333-444444444444' } }),
      },
      {
        name: 'accepts each task, which then ends in an error',
        like: 'accepts-and-lies',
        words: /ended in an error: got timeout/u,
        spawn: (isOn) => spawn(isOn, { failsOperation: true }),
      },
      {
        name: 'never ends its stop',
        like: 'accepts-and-lies',
        words: SAID,
        spawn: (isOn) => spawn(isOn, { sticksInStopping: true, ...(isOn ? {} : { ignoresSet: true }) }),
      },
      { name: 'is ahead of our clock by an hour', like: 'honest', spawn: (isOn) => spawn(isOn, { aheadMs: 3_600_000 }) },
      ...oddity(
        (isOn) => ({
          ha: isOn ? { state: 'started', requested: 'started', roundMs: 200 } : { state: 'stopped', requested: 'stopped', roundMs: 200 },
        }),
        { name: 'has the machine in the hands of HA', like: 'honest' },
      ),
      ...oddity(() => ({ ha: { state: 'error' } }), {
        name: 'has HA in state error, which stops and starts nothing',
        like: 'accepts-and-lies',
        words: /HA: error/u,
      }),
      ...oddity(() => ({ offline: ['pve1'] }), { name: 'lost the host', like: 'state-unknown', words: /host pve1 is offline/u }),
      ...oddity(() => ({ hasNoQuorum: true }), { name: 'has no quorum', like: 'state-unknown', words: /has no quorum/u }),
      ...oddity(() => ({ proxyStatus: 596 }), { name: 'does not reach the host', like: 'unreachable', words: /HTTP 596: Connection timed out/u }),
      ...oddity(() => ({ hasNoOverrule: true }), { name: 'is older than 8.2', like: 'honest' }),
      ...oddity(() => ({ isAlone: true }), { name: 'is a host on its own', like: 'honest' }),
    ],
  }),
);
