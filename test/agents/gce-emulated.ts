import type { HostEnvironment, Parameters, Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { MemoryMachine } from '../../src/testbed/devices/bmc/power-backend.ts';
import { startGce, type GceService } from '../../src/testbed/devices/cloud/gce.ts';
import type { CloudFaults } from '../../src/testbed/devices/cloud/faults.ts';
import type { ComputeExtras } from '../../src/testbed/devices/cloud/gce-compute.ts';
import { InstanceAgent } from '../../agents/shared/cloud/instance-agent.ts';
import { Gce } from '../../agents/gce/gce.ts';
import type { GceSettings } from '../../agents/gce/settings.ts';

export const NODE = 'worker-1';
export const ADDRESS = '192.0.2.11';
export const PROVIDER_ID = `gce://nodefence-emulated/europe-west3-a/${NODE}`;

/** What a process has of credentials. */
export function hostOf(variables: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}): HostEnvironment {
  return { variable: (name) => variables[name], readFile: (path) => Promise.resolve(files[path]) };
}

export interface Emulated {
  cloud: GceService;
  machine: MemoryMachine;
  agent: InstanceAgent<GceSettings>;
  /** By which the agent finds the cloud: the key of the service account. */
  parameters: Parameters;
  target: (change?: Partial<Target>) => Target;
  close(): Promise<void>;
}

/** One instance, and an agent with the key of its account; `host`: the agent has no key, and looks there. */
export async function emulated(extras: ComputeExtras = {}, host?: (cloud: GceService) => HostEnvironment): Promise<Emulated> {
  const clock = new SystemClock();
  const machine = new MemoryMachine();
  const machines = [{ node: NODE, uuid: '4c4c4544-0030-5210-8047-c6c04f5a4333', address: ADDRESS, power: machine }];
  const cloud = await startGce({ host: '127.0.0.1', machines, clock, random: new SystemRandom(), ...extras });
  const agent = new InstanceAgent(new Gce(), { clock, ...(host === undefined ? {} : { host: host(cloud) }) });
  const place = { project: 'nodefence-emulated', zone: 'europe-west3-a' };
  const parameters = host === undefined ? { ...place, endpoint: cloud.url, serviceaccount: cloud.credentials.serviceAccount } : place;
  return {
    cloud,
    machine,
    agent,
    parameters,
    target: (change = {}) => ({
      plug: NODE,
      device: 'gce nodefence-emulated/europe-west3-a',
      parameters,
      identity: { node: NODE, providerID: PROVIDER_ID, addresses: [ADDRESS] },
      signal: new AbortController().signal,
      deadlineMs: 4_000,
      beforeSend: () => undefined,
      ...change,
    }),
    close: async () => {
      await agent.close();
      await cloud.close();
    },
  };
}

/** An emulated cloud with these faults, closed with all of `open`. */
export async function startedIn(open: Emulated[], extras?: ComputeExtras, faults: CloudFaults = {}): Promise<Emulated> {
  const one = await emulated(extras);
  open.push(one);
  one.cloud.setFaults(faults);
  return one;
}
