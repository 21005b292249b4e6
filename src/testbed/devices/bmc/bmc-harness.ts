import { createAuthority } from '../../certificates.ts';
import type { DeviceEvent } from '../../../laws/trace.ts';
import { AgentError, type PowerAgent, type Target } from '../../../ports/agents.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { ManualClock } from '../../../runtime/manual-clock.ts';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { SystemRandom } from '../../../runtime/system-random.ts';
import { startBmcServer, type BmcServer } from './bmc-server.ts';
import type { BmcFaults } from './faults.ts';
import { MemoryMachine } from './power-backend.ts';
import { outletMachines, POWER_EQUIPMENT, pduTree, type OutletOptions } from './rack-pdu.ts';
import { RedfishDevice, type DeviceResponse } from './redfish-device.ts';
import { resourceTree, type ResourceTree, type TreeOptions } from './tree.ts';

export const HARNESS_UUID = '38947555-7742-3448-3784-823347823834';
export const HARNESS_PASSWORD = 'correct horse battery';

export interface HarnessOptions {
  /** Where it listens; default: 127.0.0.1. */
  host?: string;
  faults?: BmcFaults;
  tree?: Partial<TreeOptions>;
  resources?: ResourceTree;
  /** Beside those, or instead of them. */
  extra?: ResourceTree;
  /** Its outlets: PDU → outlets. */
  pdus?: Readonly<Record<string, readonly OutletOptions[]>>;
  answers?: Readonly<Record<string, DeviceResponse>>;
  /** `foreign`: signed by somebody else; `plain`: no TLS. */
  certificate?: 'good' | 'foreign' | 'expired' | 'other-host' | 'plain';
  state?: 'on' | 'off';
}

/** A BMC on a loopback port with a machine that is a variable, everything it did recorded; for tests. */
export interface BmcHarness {
  server: BmcServer;
  device: RedfishDevice;
  machine: MemoryMachine;
  /** By path. */
  outlets: Readonly<Record<string, MemoryMachine>>;
  events: DeviceEvent[];
  fingerprint: string;
  certificatePem: string;
  /** What a method for this device says, complete. */
  parameters: Record<string, string>;
  close: () => Promise<void>;
}

const authority = createAuthority('nodefence harness');
const stranger = createAuthority('somebody else');

export async function startBmcHarness(options: HarnessOptions = {}): Promise<BmcHarness> {
  const certificate = options.certificate ?? 'good';
  const signer = certificate === 'foreign' ? stranger : authority;
  const issued = signer.issue({
    commonName: 'bmc',
    hosts: certificate === 'other-host' ? ['192.0.2.1', 'elsewhere.example'] : ['127.0.0.1', 'localhost'],
    ...(certificate === 'expired' ? { lifetimeMs: -60_000 } : {}),
  });
  const machine = new MemoryMachine(options.state);
  const events: DeviceEvent[] = [];
  const outlets = outletMachines(options.pdus ?? {}, options.state);
  const tree = {
    ...(options.resources ?? resourceTree({ uuid: HARNESS_UUID, ...options.tree })),
    ...(options.pdus === undefined ? {} : pduTree(options.pdus)),
    ...options.extra,
  };
  if (options.pdus !== undefined) tree['/redfish/v1'] = { ...tree['/redfish/v1'], PowerEquipment: { '@odata.id': POWER_EQUIPMENT } };
  const device = new RedfishDevice({
    clock: new SystemClock(),
    random: new SystemRandom(),
    node: 'a',
    users: { admin: HARNESS_PASSWORD },
    tree,
    backend: machine,
    outlets,
    ...(options.answers === undefined ? {} : { answers: options.answers }),
    faults: options.faults ?? {},
    trace: (event) => events.push(event),
  });
  const server = await startBmcServer(device, {
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(certificate === 'plain' ? {} : { certificate: issued }),
  });
  return {
    server,
    device,
    machine,
    outlets,
    events,
    fingerprint: issued.fingerprintSha256,
    certificatePem: issued.certificatePem,
    parameters: {
      ip: server.host,
      ipport: String(server.port),
      username: 'admin',
      password: HARNESS_PASSWORD,
      ...(certificate === 'plain' ? { ssl: 'no' } : { ca: authority.certificatePem }),
    },
    close: server.close,
  };
}

export interface AgentHarness<A extends PowerAgent> extends BmcHarness {
  agent: A;
  /** A complete target for the machine behind this BMC. */
  target: (overrides?: Partial<Target>) => Target;
}

/** A BMC with an agent before it; a parameter that is undefined is left out. `closeAll` ends whatever was started. */
export class AgentHarnesses<A extends PowerAgent> {
  readonly #create: (clock: Clock) => A;
  readonly #started: AgentHarness<A>[] = [];

  constructor(create: (clock: Clock) => A) {
    this.#create = create;
  }

  async start(options: HarnessOptions = {}, parameters: Readonly<Record<string, string | undefined>> = {}): Promise<AgentHarness<A>> {
    const bmc = await startBmcHarness(options);
    const given = Object.fromEntries(
      Object.entries({ ...bmc.parameters, ...parameters }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const target = (overrides: Partial<Target> = {}): Target => ({
      plug: '',
      device: `127.0.0.1:${bmc.server.port}`,
      parameters: given,
      identity: { node: 'a', systemUUID: HARNESS_UUID },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
      ...overrides,
    });
    const harness = { ...bmc, agent: this.#create(new SystemClock()), target };
    this.#started.push(harness);
    return harness;
  }

  async closeAll(): Promise<void> {
    for (const harness of this.#started.splice(0)) {
      await harness.agent.close?.();
      await harness.close();
    }
  }
}

/** What `work` asks of the device when its connection and session have been ended for want of use. */
export async function askedAfterRest(clock: ManualClock, { device, server }: BmcHarness, work: () => Promise<unknown>): Promise<string[]> {
  await clock.advance(45_001);
  while (server.open() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const before = device.requests.length;
  await work();
  return device.requests.slice(before);
}

/** The typed failure that a call must end in. */
export async function agentFailure(call: Promise<unknown>): Promise<AgentError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}
