import { beforeEach, describe, expect, it } from 'vitest';
import { sendShipped } from '../../testbed/shipped/send.ts';
import type { PreservationDependencies } from '../../controllers/preservation/dependencies.ts';
import { ApiServer } from '../../testbed/apiserver/server.ts';
import { inProcessTransport } from '../../testbed/apiserver/transport.ts';
import { ApiClient } from '../../kube/client.ts';
import { TransportError } from '../../ports/api-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Resource } from '../../ports/cluster.ts';
import { NO_METRICS } from '../../ports/metrics.ts';
import type { KubeObject, Node } from '../../ports/objects.ts';
import type { NodeGuard } from '../../ports/preservation.ts';
import { LEASES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { listed, QUIET } from '../../cli/commands/listed-cluster.ts';
import { watchMachines } from './machine-side.ts';
import { GatedPreservation } from './gated-preservation.ts';
import type { ModeController, GatedPreservationParts } from './gated-preservation.ts';

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const NODE: Node = { metadata: { name: 'n1' }, spec: {}, status: {} };
const HELD: NodeGuard = { node: 'n1', guard: 'isolate-and-hold', cause: 'user' };

/** Stands for the controller: says what it was told. */
class FakeController implements ModeController {
  readonly said: string[] = [];
  readonly dependencies: PreservationDependencies;
  guard: NodeGuard | undefined;

  constructor(dependencies: PreservationDependencies) {
    this.dependencies = dependencies;
    this.#say('begun', dependencies.options);
  }

  #say(what: string, { mode, enforce }: PreservationDependencies['options']): void {
    this.said.push(`${what} ${mode}${enforce ? '' : ', writes nothing'}${this.dependencies.machines === undefined ? ', Nodes only' : ''}`);
  }

  configure(options: PreservationDependencies['options']): void {
    this.#say('told', options);
  }

  close(): Promise<void> {
    this.said.push('closed');
    return Promise.resolve();
  }

  start(): void {
    this.said.push('started');
  }

  wake(): void {
    this.said.push('woken');
  }

  problems(): string[] {
    return [];
  }

  guardOf(): NodeGuard | undefined {
    return this.guard;
  }

  isPreserved(): boolean {
    return this.guard !== undefined;
  }

  onChange(): () => void {
    return () => undefined;
  }
}

class Scene {
  readonly clock = new ManualClock({ wallMs: Date.UTC(2026, 2, 29) });
  readonly server: ApiServer;
  /** As the administrator. */
  readonly served: ApiTransport;
  readonly cluster: ApiClient;
  readonly controllers: FakeController[] = [];
  readonly events: string[] = [];
  isAnswering = true;
  readonly leadership = { isLeading: true, mayBegin: () => true };
  readonly preservation: GatedPreservation;

  constructor(choice: GatedPreservationParts['choice'] = 'auto') {
    const random = new SystemRandom();
    this.server = new ApiServer({ clock: this.clock, random, users: [{ name: 'root', groups: ['system:masters'] }], authorization: 'rbac' });
    const served = inProcessTransport(this.server, 'root');
    this.served = served;
    this.cluster = new ApiClient({ transport: served });
    const transport: ApiTransport = {
      request: (request) => (this.isAnswering ? served.request(request) : Promise.reject(new TransportError('unreachable', 'no route'))),
      watch: (request, sink) => served.watch(request, sink),
    };
    const recorder = { event: (_about: KubeObject, _type: string, reason: string): void => void this.events.push(reason) };
    const machines = { transport, cluster: this.cluster, recorder, namespace: undefined };
    const listers = { nodes: listed([NODE]), fences: listed<never>([]), leases: listed<never>([]), pods: listed<never>([]) };
    this.preservation = new GatedPreservation({
      choice,
      detection: {},
      enforce: true,
      machines,
      base: {
        clock: this.clock,
        nodes: { cluster: this.cluster, recorder, listers },
        pools: () => ({ pools: new Map([['workers', { autoPreserveMax: 2 } as never]]), problems: ['one is misspelt'] }),
        leadership: this.leadership,
        proofReader: { readAnew: () => Promise.reject(new Error('nobody asked for a proof')) },
        tellProblems: () => undefined,
        log: QUIET,
        metrics: NO_METRICS.preservation,
      },
      watchMachines: () => watchMachines(machines, { clock: this.clock, random, logger: QUIET, metrics: NO_METRICS.watch }, undefined),
      controllerOf: (dependencies) => {
        const controller = new FakeController(dependencies);
        this.controllers.push(controller);
        return controller;
      },
      about: () => ({ metadata: { name: 'lease' } }),
    });
  }

  async defineMachines(): Promise<void> {
    await sendShipped(this.served, ['machine-crd']);
  }

  async lease(): Promise<void> {
    await this.cluster.create(NAMESPACES, { metadata: { name: 'shoot' } });
    const renewTime = new Date(this.clock.wallMs()).toISOString().replace('Z', '000Z');
    await this.cluster.create(LEASES, { metadata: { name: 'machine-controller', namespace: 'shoot' }, spec: { holderIdentity: 'mcm', renewTime } });
  }

  async pass(ms: number): Promise<void> {
    for (let rest = ms; rest >= 0; rest -= 1_000) {
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      if (rest > 0) await this.clock.advance(Math.min(1_000, rest));
    }
  }
}

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  return async () => {
    await scene.preservation.close();
  };
});

describe('preservation in a cluster', () => {
  it('is off where no Machines are served, and guards nobody', async () => {
    scene.preservation.start();
    await scene.pass(0);
    expect(scene.controllers.map(({ said }) => said)).toEqual([['begun observe, writes nothing, Nodes only', 'started', 'closed']]);
    expect(scene.preservation.guardOf('n1')).toBeUndefined();
  });

  it('is ours where the Machines are, which it watches', async () => {
    await scene.defineMachines();
    scene.preservation.start();
    await scene.pass(1_000);
    expect(scene.controllers.at(-1)?.said).toEqual(['begun own', 'started']);
    expect(scene.preservation.reflectors.map(({ lister }) => lister.synced)).toEqual([true, true, true]);
  });

  it('has no pools before it is known whose MachineDeployments they are: none would have any', async () => {
    await scene.defineMachines();
    scene.preservation.start();
    const poolsOf = (): unknown[] =>
      scene.controllers.map(({ dependencies }) => [[...dependencies.pools().pools.keys()], dependencies.pools().problems]);
    expect(poolsOf()).toEqual([[[], ['one is misspelt']]]);
    await scene.pass(1_000);
    expect(poolsOf().at(-1)).toEqual([['workers'], ['one is misspelt']]);
  });

  it('turns to observe over the same watches when an MCM appears, and says so in an Event', async () => {
    await scene.defineMachines();
    scene.preservation.start();
    await scene.pass(1_000);
    await scene.lease();
    await scene.pass(11_000);
    expect(scene.controllers.at(-1)?.said).toEqual(['begun own', 'started', 'told observe']);
    expect(scene.events).toEqual(['PreservationHandedOver']);
  });

  it('begins when Machines come to be served later', async () => {
    scene.preservation.start();
    await scene.pass(1_000);
    await scene.defineMachines();
    await scene.pass(31_000);
    expect(scene.controllers.at(-1)?.said).toEqual(['begun own', 'started']);
  });

  it('does not know for a minute, unless the Node says itself, while nobody answers; then what the Nodes show counts', async () => {
    scene.isAnswering = false;
    scene.preservation.start();
    await scene.pass(59_000);
    expect(scene.preservation.guardOf('n1')).toBe('unknown');
    const [untold] = scene.controllers;
    if (untold !== undefined) untold.guard = HELD;
    expect(scene.preservation.guardOf('n1')).toEqual(HELD);
    if (untold !== undefined) untold.guard = undefined;
    await scene.pass(2_000);
    expect(scene.preservation.guardOf('n1')).toBeUndefined();
  });

  it('tells all nodes when it waits no longer: no event of a failed node would', async () => {
    scene.isAnswering = false;
    const told: string[] = [];
    scene.preservation.onChange((nodes) => told.push(...nodes));
    scene.preservation.start();
    await scene.pass(59_000);
    expect(told).toEqual([]);
    await scene.pass(1_000);
    expect(told).toEqual(['n1']);
  });

  it('does not know for a minute from when it leads: nobody has waited for a standby that nobody answered', async () => {
    scene.isAnswering = false;
    scene.leadership.isLeading = false;
    scene.preservation.start();
    await scene.pass(300_000);
    scene.preservation.wake();
    expect(scene.preservation.guardOf('n1')).toBeUndefined();
    scene.leadership.isLeading = true;
    scene.preservation.wake();
    expect(scene.preservation.guardOf('n1')).toBe('unknown');
    await scene.pass(30_000);
    scene.preservation.wake();
    await scene.pass(29_000);
    expect(scene.preservation.guardOf('n1')).toBe('unknown');
    await scene.pass(2_000);
    expect(scene.preservation.guardOf('n1')).toBeUndefined();
  });

  it('does not wait once more where it led at the start', async () => {
    scene.isAnswering = false;
    scene.preservation.start();
    await scene.pass(61_000);
    scene.preservation.wake();
    expect(scene.preservation.guardOf('n1')).toBeUndefined();
  });

  it('tells all nodes anew when the mode changes, and is woken by whoever leads', async () => {
    const told: string[] = [];
    scene.preservation.onChange((nodes) => told.push(...nodes));
    await scene.defineMachines();
    scene.preservation.start();
    await scene.pass(1_000);
    scene.preservation.wake();
    expect(told).toEqual(['n1']);
    expect(scene.controllers.at(-1)?.said.at(-1)).toBe('woken');
  });

  it('has no watch and no controller left when it is closed', async () => {
    await scene.defineMachines();
    scene.preservation.start();
    await scene.pass(1_000);
    await scene.preservation.close();
    expect(scene.controllers.at(-1)?.said.at(-1)).toBe('closed');
    expect(scene.preservation.reflectors).toEqual([]);
    const { pending } = scene.clock;
    await scene.pass(60_000);
    expect(scene.clock.pending).toBeLessThanOrEqual(pending);
  });
});
