import {
  AgentError,
  type Agent,
  type AgentContext,
  type AgentDefinition,
  type FabricAgent,
  type HostEnvironment,
  type PowerAgent,
  type Target,
} from '../../../ports/agents.ts';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { SystemRandom } from '../../../runtime/system-random.ts';
import { MemoryMachine } from '../bmc/power-backend.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';

const HOST = '127.0.0.1';

/** The real clock, for a test that says that minutes have passed. */
export class JumpingClock extends SystemClock {
  aheadMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.aheadMs;
  }
}

/** An emulated cloud with machines `a` and `b`, at 10.9.0.1 and 10.9.0.2, for the tests of its agent. */
export interface CloudHarness {
  service: CloudService;
  machines: readonly MemoryMachine[];
  uuids: readonly string[];
  /** The providerID of machine `a`. */
  providerID: string;
  /** A call for the instance of machine `a`, on behalf of its node. */
  target(change?: Partial<Target>): Target;
}

export async function startCloudHarness(kind: CloudKind, change: Partial<CloudServiceOptions> = {}): Promise<CloudHarness> {
  const [clock, random] = [new SystemClock(), new SystemRandom()];
  const machines = [new MemoryMachine('on'), new MemoryMachine('on')];
  const uuids = machines.map(() => random.uuid());
  const described = machines.map((power, index) => ({
    node: index === 0 ? 'a' : 'b',
    uuid: uuids[index] ?? '',
    address: `10.9.0.${index + 1}`,
    power,
  }));
  const service = await kind.start({ host: HOST, machines: described, clock, random, ...change });
  const providerID = kind.providerID({ node: 'a', uuid: uuids[0] ?? '' }, 0);
  return {
    service,
    machines,
    uuids,
    providerID,
    target: (more) => ({
      plug: service.instances[0]?.id ?? '',
      device: 'cloud',
      parameters: {},
      identity: { node: 'a', providerID, systemUUID: uuids[0] ?? '', addresses: ['10.9.0.1'] },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
      ...more,
    }),
  };
}

/** An environment of these variables, and of files by their paths. */
export function environmentOf(variables: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}): HostEnvironment {
  return { variable: (name) => variables[name], readFile: (path) => Promise.resolve(files[path]) };
}

/** The power agent of this definition, in a process with this environment. */
export async function powerAgentIn(definition: Pick<AgentDefinition, 'create'>, host: HostEnvironment): Promise<PowerAgent> {
  const created = await agentIn(definition, host);
  if (created.kind !== 'power') throw new Error('not a power agent');
  return created;
}

/** The same of a fabric agent. */
export async function fabricAgentIn(definition: Pick<AgentDefinition, 'create'>, host: HostEnvironment): Promise<FabricAgent> {
  const created = await agentIn(definition, host);
  if (created.kind !== 'fabric') throw new Error('not a fabric agent');
  return created;
}

function agentIn(definition: Pick<AgentDefinition, 'create'>, host: HostEnvironment): Promise<Agent> {
  return definition.create({ clock: new SystemClock(), host } as unknown as AgentContext);
}

/** The error with which a call of an agent ends; throws where it ends otherwise. */
export async function failureOf(work: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AgentError) return error;
  throw new Error(`no error of an agent: ${String(error)}`);
}
