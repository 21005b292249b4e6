import { LEADER_LEASE } from '../../src/manager/composition.ts';
import type { Agent, AgentRegistry, PowerAgent } from '../../src/ports/agents.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Lister } from '../../src/ports/cluster.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import type { ControllerWorld } from './controller-program.ts';
import type { CrashPoint } from '../../src/testbed/simulation/port.ts';
import { withUncheckedLease } from './mutants.ts';
import type { Mutant } from './mutants.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import type { Disturbance, Scenario } from './scenario.ts';

const LONG_MS = 25_000;

/** Two replicas, an honest device, and something that takes the Lease from the first of them. */
function handedOver(crash: Omit<CrashPoint, 'stopMs'>, disturbances: readonly Disturbance[] = []): Partial<Scenario> {
  return { fault: 'panic', device: 'honest', flaps: [], controllers: 2, crashes: [{ ...crash, stopMs: LONG_MS }], disturbances };
}

/** The fences as this process sees them. */
function seeing(inner: Lister<NodeFence>, see: (fence: NodeFence) => NodeFence): Lister<NodeFence> {
  return {
    get: (key) => {
      const fence = inner.get(key);
      return fence === undefined ? undefined : see(fence);
    },
    all: () => [...inner.all()].map(see),
    byIndex: (index, value) => inner.byIndex(index, value).map(see),
    onChange: (listener) => inner.onChange(listener),
    get synced() {
      return inner.synced;
    },
    get freshAtMs() {
      return inner.freshAtMs;
    },
  };
}

function withoutDeadlines(fence: NodeFence, epoch: number): NodeFence {
  const { status } = fence;
  if (status === undefined) return fence;
  const journal = status.journal.map((entry) => (entry.finishedAt === undefined && entry.epoch < epoch ? { ...entry, deadlineMs: 0 } : entry));
  return { ...fence, status: { ...status, journal } };
}

/** Agents that claim to have read what is most likely, until they have set something. */
function blind(registry: AgentRegistry): AgentRegistry {
  const blindfolded = (agent: Agent): Agent => {
    if (agent.kind !== 'power') return agent;
    let hasSet = false;
    const power: PowerAgent = {
      kind: 'power',
      read: (target) => (hasSet ? agent.read(target) : Promise.resolve({ state: 'on', detail: 'on, says the mutant', identity: 'verified' })),
      set: (target, state) => {
        hasSet = true;
        return agent.set(target, state);
      },
    };
    return power;
  };
  return {
    names: () => registry.names(),
    find: (name) => {
      const definition = registry.find(name);
      return definition === undefined ? undefined : { ...definition, create: async (context) => blindfolded(await definition.create(context)) };
    },
  };
}

/** The Lease reads as if its holder had given it back. */
function greedy(transport: ApiTransport): ApiTransport {
  return {
    watch: (request, sink) => transport.watch(request, sink),
    request: async (request) => {
      const response = await transport.request(request);
      const lease = response.body as { spec?: object } | undefined;
      const isLease = request.method === 'GET' && request.path.endsWith(`/${LEADER_LEASE}`) && response.status === 200;
      return isLease ? { ...response, body: { ...lease, spec: { ...lease?.spec, holderIdentity: '', leaseDurationSeconds: 1 } } } : response;
    },
  };
}

/** Defects of who may act and when, with two replicas. */
export const LEADERSHIP_MUTANTS: readonly Mutant[] = [
  {
    name: 'unchecked lease, two replicas',
    defect: 'a leader that stood still sets a device although another one leads',
    caughtBy: /P5/,
    scenario: () => handedOver({ tag: 'device-read', nth: 2, moment: 'stopped' }),
    mutate: withUncheckedLease,
  },
  {
    name: 'impatient successor',
    defect: "a successor does not wait out the deadlines of its predecessor's open intents",
    caughtBy: /P5: .* whose deadline is/,
    scenario: () => handedOver({ tag: 'device-set', nth: 1, moment: 'after-effect' }),
    mutate: (dependencies) => {
      const { listers, leadership } = dependencies;
      const fences = seeing(listers.fences, (fence) => withoutDeadlines(fence, leadership.epoch));
      return { ...dependencies, listers: { ...listers, fences } };
    },
  },
  {
    name: 'blind take-over',
    defect: 'a new leader sets a device before it has read it',
    caughtBy: /P5: .* before it had read it/,
    scenario: () => handedOver({ tag: 'nodefences-write', nth: 5, moment: 'before-effect' }),
    mutateWorld: (world: ControllerWorld) => ({ ...world, registry: blind(world.registry) }),
  },
  {
    name: 'sleep unnoticed',
    defect: 'the elector does not compare the boot-time clock: a leader whose machine slept believes in its lease',
    caughtBy: /P5/,
    scenario: () => handedOver({ tag: 'device-read', nth: 2, moment: 'suspended' }),
    mutateWorld: (world: ControllerWorld) => {
      const { clock } = world;
      const withoutBootClock = {
        monotonicMs: () => clock.monotonicMs(),
        bootMs: () => clock.monotonicMs(),
        wallMs: () => clock.wallMs(),
        after: (delayMs: number, callback: () => void) => clock.after(delayMs, callback),
        sleep: (delayMs: number, signal?: AbortSignal) => clock.sleep(delayMs, signal),
      };
      return { ...world, clock: withoutBootClock };
    },
  },
  {
    name: 'greedy elector',
    defect: 'a candidate takes a lease that has not expired',
    caughtBy: /P5: .* took the Lease/,
    scenario: () => ({ ...handedOver({ tag: 'device-read', nth: 2, moment: 'stopped' }), crashes: [] }),
    mutateWorld: (world: ControllerWorld) => ({ ...world, transport: greedy(world.transport) }),
  },
  {
    name: 'hasty hand-over',
    defect: 'the lease is given back while a pass still writes',
    caughtBy: /P5: .* after it had handed the Lease over/,
    // Slow enough that a write is overtaken by the two calls that give the Lease back.
    scenario: () => ({ ...handedOver({ tag: 'nodefences-write', nth: 3, moment: 'terminated' }), api: { ...CALM_API, slowShare: 0.3 } }),
    mutateStop: (controller, deadlineMs) => controller.elector.release(deadlineMs),
  },
];
