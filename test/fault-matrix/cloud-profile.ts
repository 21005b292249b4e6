import type { AgentDefinition, Parameters } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { MemoryMachine } from '../../src/testbed/devices/bmc/power-backend.ts';
import type { CloudKind, CloudService } from '../../src/testbed/devices/cloud/cloud-service.ts';
import type { CloudFaults } from '../../src/testbed/devices/cloud/faults.ts';
import type { Behaviour, DeviceFixture, FaultProfile, Oddity } from './fault-profile.ts';

const HOST = '127.0.0.1';
/** Where nobody else listens: a port of `HOST` that is free again is soon that of another test's server. */
export const REFUSING_HOST = '127.0.0.86';
const clock = new SystemClock();
const random = new SystemRandom();

/** What a cloud adds to the profile that all of them share. */
export interface CloudProfile {
  agent: AgentDefinition;
  kind: CloudKind;
  /** With everything that a method needs to reach this emulated cloud, its credentials among it. */
  parameters: (service: CloudService, instance: string) => Parameters;
  /** Name of the requests that change an instance, as the emulator counts them, and how this cloud refuses one. */
  refusal: { requests: readonly string[]; status: number; code: string; message: string };
  /** Words for a state on its way to off, and for the way to on. */
  pending: { stopping: string; starting: string };
  words: FaultProfile['words'];
  /** Makes the cloud what a device that is on, or off, is before anything is asked of it. */
  prepare?: (service: CloudService, isOn: boolean) => void;
  /** What flows through a plug; absent: its machine runs. */
  flows?: (service: CloudService, plug: string) => boolean;
  cannot?: FaultProfile['cannot'];
  /** Of behaviours that need others than those of an instance. */
  faults?: Readonly<Partial<Record<Behaviour, CloudFaults>>>;
  oddities?(spawn: (isOn: boolean, faults: CloudFaults, change?: Partial<DeviceFixture>) => Promise<DeviceFixture>): readonly Oddity[];
}

/** Every behaviour of the fault matrix, played by an emulated cloud. */
export function cloudProfile(profile: CloudProfile): FaultProfile {
  return {
    agent: profile.agent,
    cannot: { restarts: 'the control plane of a cloud keeps what it took', 'session-limit': 'this cloud has no sessions', ...profile.cannot },
    words: {
      'wrong-certificate': /not trusted: /u,
      unreachable: /ECONNREFUSED/u,
      'hangs-mid-answer': /no complete answer within/u,
      truncated: /aborted|ECONNRESET|hang up|no complete answer within/u,
      'wrong-machine': /is another machine: its addresses are 10\.9\.0\.1/u,
      ...profile.words,
    },
    oddities: profile.oddities?.((isOn, faults, change) => spawnCloud(profile, 'honest', isOn, faults, change)) ?? [],
    spawn: (behaviour, isOn) => spawnCloud(profile, behaviour, isOn, faultsOf(profile, behaviour, isOn)),
  };
}

function faultsOf({ refusal, pending, faults: own = {} }: CloudProfile, behaviour: Behaviour, isOn: boolean): CloudFaults {
  const { requests, status, code, message } = refusal;
  const faults: Readonly<Partial<Record<Behaviour, CloudFaults>>> = {
    slow: { answerMs: 2_000, stopMs: 8_000, startMs: 8_000 },
    'accepts-and-lies': { ignoresSet: true },
    refuses: { failures: requests.map((request) => ({ request, status, code, message })) },
    'wrong-credentials': { refusesLogin: true },
    'hangs-mid-answer': { stalls: true },
    garbage: { noise: true },
    truncated: { truncates: true },
    'state-unknown': { shows: 'peculiar' },
    'state-null': { shows: null },
    'state-pending': { shows: isOn ? pending.stopping : pending.starting },
    'flips-back-on': { restartsAfterMs: 500 },
    'rate-limited': { requestsPerSecond: 3 },
    'late-after-deadline': { setAnswerMs: 6_000 },
  };
  return own[behaviour] ?? faults[behaviour] ?? {};
}

async function spawnCloud(
  { kind, parameters, flows, prepare }: CloudProfile,
  behaviour: Behaviour,
  isOn: boolean,
  faults: CloudFaults,
  change: Partial<DeviceFixture> = {},
): Promise<DeviceFixture> {
  const machines = ['a', 'b'].map((node, index) => ({
    node,
    uuid: random.uuid(),
    address: `10.9.0.${index + 1}`,
    power: new MemoryMachine(isOn ? 'on' : 'off'),
  }));
  const isForeign = behaviour === 'wrong-certificate';
  const certificate = isForeign ? { certificate: createAuthority('nobody').issue({ commonName: 'cloud', hosts: [HOST] }) } : {};
  const host = behaviour === 'unreachable' ? REFUSING_HOST : HOST;
  const service = await kind.start({ host, machines, clock, random, ...certificate });
  prepare?.(service, isOn);
  const used = service.instances.slice(0, behaviour === 'one-plug-stuck' ? 2 : 1);
  const stuck = behaviour === 'one-plug-stuck' ? { ignoresSet: used.slice(1).map(({ id }) => id) } : {};
  service.setFaults({ ...faults, ...stuck });
  const given = parameters(service, used[0]?.id ?? '');
  if (behaviour === 'unreachable') await service.close();
  const find = (plug: string): (typeof used)[number] | undefined => service.instances.find(({ id }) => id === plug);
  return {
    parameters: given,
    plugs: used.map(({ id }) => id),
    identity: { node: 'a', addresses: behaviour === 'wrong-machine' ? ['10.1.1.1'] : machines.map(({ address }) => address) },
    flows: (plug) => flows?.(service, plug) ?? find(plug)?.machine.power.state() === 'on',
    commands: () => used.flatMap(({ id, commands }) => commands.map(({ wanted }) => ({ plug: id, wanted }))),
    leftOpen: () => ({ processes: 0, ...service.leftOpen() }),
    close: () => (behaviour === 'unreachable' ? Promise.resolve() : service.close()),
    ...change,
  };
}
