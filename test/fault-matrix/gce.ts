import { REFUSING_HOST } from './cloud-profile.ts';
import { gce } from '../../agents/gce/definition.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { MemoryMachine } from '../../src/testbed/devices/bmc/power-backend.ts';
import type { CloudFaults } from '../../src/testbed/devices/cloud/faults.ts';
import { startGce, gceCloud } from '../../src/testbed/devices/cloud/gce.ts';
import type { ComputeExtras } from '../../src/testbed/devices/cloud/gce-compute.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { testFaultProfile } from './harness.ts';

const clock = new SystemClock();
const authority = createAuthority('nodefence clouds');
const stranger = createAuthority('a stranger');
const IDS = ['7000000000000000001', '7000000000000000002'];

/** What is wrong with the cloud, for each behaviour that is more than a wrong parameter. */
const FAULTS: Readonly<Partial<Record<Behaviour, CloudFaults>>> = {
  slow: { answerMs: 2_000, stopMs: 8_000, startMs: 8_000 },
  'accepts-and-lies': { ignoresSet: true },
  refuses: {
    failures: ['POST stop', 'POST start'].map((request) => ({
      request,
      status: 403,
      code: 'forbidden',
      message: "Required 'compute.instances.stop'",
    })),
  },
  'hangs-mid-answer': { stalls: true },
  garbage: { noise: true },
  truncated: { truncates: true },
  'state-unknown': { shows: 'SUSPENDED' },
  'state-null': { shows: null },
  'flips-back-on': { restartsAfterMs: 500 },
  'wrong-machine': { isReplaced: true },
  'rate-limited': { requestsPerSecond: 3 },
  'one-plug-stuck': { ignoresSet: IDS.slice(1) },
  'late-after-deadline': { setAnswerMs: 6_000 },
};

interface Oddly {
  faults?: CloudFaults;
  extras?: ComputeExtras;
  /** It keeps its credentials where programs of this cloud find them. */
  isAmbient?: true;
}

async function spawn(behaviour: Behaviour, isOn: boolean, { faults = {}, extras = {}, isAmbient }: Oddly = {}): Promise<DeviceFixture> {
  const plugs = behaviour === 'one-plug-stuck' ? ['worker-1', 'worker-2'] : ['worker-1'];
  const powers = plugs.map(() => new MemoryMachine(isOn ? 'on' : 'off'));
  const signer = behaviour === 'wrong-certificate' ? stranger : authority;
  const { certificatePem, keyPem } = signer.issue({ commonName: 'compute', hosts: ['127.0.0.1'] });
  const cloud = await startGce({
    host: behaviour === 'unreachable' ? REFUSING_HOST : '127.0.0.1',
    machines: powers.map((power, at) => ({ node: plugs[at] ?? '', uuid: '', address: '192.0.2.11', power })),
    clock,
    random: new SystemRandom(),
    certificate: { certificatePem, keyPem },
    ...extras,
  });
  const pending: CloudFaults = behaviour === 'state-pending' ? { shows: isOn ? 'STOPPING' : 'STAGING' } : {};
  cloud.setFaults({ ...FAULTS[behaviour], ...pending, ...faults });
  if (behaviour === 'unreachable') await cloud.close();
  const key = JSON.parse(cloud.credentials.serviceAccount) as object;
  const serviceaccount = JSON.stringify(behaviour === 'wrong-credentials' ? { ...key, client_email: 'nobody@elsewhere' } : key);
  const place = { project: 'nodefence-emulated', zone: 'europe-west3-a', ca: authority.certificatePem };
  const host = { variable: (name: string) => cloud.variables[name], readFile: () => Promise.resolve(undefined) };
  return {
    parameters: isAmbient === true ? place : { ...place, endpoint: cloud.url, serviceaccount },
    plugs,
    identity: {
      node: 'a',
      addresses: ['192.0.2.11'],
      ...(plugs.length > 1 ? {} : { providerID: gceCloud.providerID({ node: 'worker-1', uuid: '' }, 0) }),
    },
    ...(isAmbient === true ? { context: { host } } : {}),
    flows: (plug) => powers[plugs.indexOf(plug)]?.state() === 'on',
    commands: () => cloud.instances.flatMap(({ machine, commands }) => commands.map(({ wanted }) => ({ plug: machine.node, wanted }))),
    leftOpen: () => ({ ...cloud.leftOpen(), processes: 0 }),
    close: () => cloud.close(),
  };
}

testFaultProfile({
  agent: gce,
  cannot: {
    'session-limit': 'the API of a cloud has no sessions',
    restarts: 'a control plane keeps the state of an instance through a restart of its own',
  },
  words: {
    'accepts-and-lies': /status=(?:RUNNING|TERMINATED)/u,
    refuses: /HTTP 403 forbidden: Required 'compute\.instances\.stop'/u,
    'wrong-credentials': /HTTP 400: invalid_grant: Invalid JWT/u,
    'wrong-certificate': /not trusted: .*(?:self-signed|unable to|certificate)/u,
    unreachable: /ECONNREFUSED/u,
    'hangs-mid-answer': /no complete answer within 4000 ms/u,
    garbage: /no token|no JSON/u,
    truncated: /aborted|ECONNRESET/u,
    'state-unknown': /status=SUSPENDED: its memory is kept/u,
    'state-null': /status=null/u,
    'state-pending': /status=(?:STOPPING|STAGING)/u,
    'flips-back-on': /status=RUNNING/u,
    'wrong-machine': /its addresses are 192\.0\.2\.250/u,
    'rate-limited': /rateLimitExceeded|status=/u,
    'one-plug-stuck': /status=(?:RUNNING|TERMINATED)/u,
    'late-after-deadline': /status=|no complete answer within 4000 ms/u,
  },
  oddities: [
    {
      name: 'says that the operation is done, with an error',
      like: 'accepts-and-lies',
      words: /our (?:stop|start) operation-\d+ ended with RESOURCE_NOT_READY/u,
      spawn: (isOn) => spawn('honest', isOn, { faults: { failsOperation: true } }),
    },
    {
      name: 'is stuck on its way to stop',
      like: 'state-pending',
      words: /status=(?:STOPPING|STAGING)/u,
      spawn: (isOn) => spawn('state-pending', isOn, { faults: isOn ? { sticksInStopping: true } : {} }),
    },
    {
      name: 'has a local SSD, whose data nobody keeps',
      like: 'honest',
      spawn: (isOn) => spawn('honest', isOn, { extras: { hasLocalSsd: true } }),
    },
    {
      name: 'gives its tokens by the metadata server',
      like: 'honest',
      spawn: (isOn) => spawn('honest', isOn, { isAmbient: true }),
    },
    {
      name: 'has a clock that is hours ahead of ours',
      like: 'honest',
      spawn: (isOn) => spawn('honest', isOn, { faults: { aheadMs: 7_200_000 } }),
    },
  ],
  spawn: (behaviour, isOn) => spawn(behaviour, isOn),
});
