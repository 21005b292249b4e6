import type { FastDetectionSources } from '../../../src/controllers/node-daemons/fast/fast-detection.ts';
import { DEFAULT_TIMING, EMPTY_PLAN } from '../../../src/domain/plan.ts';
import type { Plan, PlanMethod } from '../../../src/domain/plan.ts';
import { microTimestamp } from '../../../src/ports/clock.ts';
import type { Lister } from '../../../src/ports/cluster.ts';
import type { Lease } from '../../../src/ports/objects.ts';
import type { Prober } from '../../../src/ports/probes.ts';
import { LEASES, NODE_LEASE_NAMESPACE } from '../../../src/ports/resources.ts';
import type { ControllerWorld } from './world.ts';

const BMC: PlanMethod = {
  ...{ name: 'off', agent: 'ipmi', kind: 'power', action: 'off', device: 'bmc', plug: '' },
  parameters: {},
  deviceMaxLatencyMs: 0,
};
export const FAST_PLAN: Plan = {
  ...EMPTY_PLAN,
  fastDetectionMs: 3_000,
  powerManagement: [{ level: 1, methods: [BMC] }],
  timing: DEFAULT_TIMING,
};
const RENEWAL_MS = 10_000;

/** What fast detection asks beside the daemons: kubelets that renew their Leases, and a BMC for each machine. */
export class Surroundings {
  readonly #world: ControllerWorld;
  /** Machines whose BMC reads off; the others read on. */
  readonly off = new Set<string>();
  readonly silentKubelets = new Set<string>();
  readonly woken: string[] = [];
  readonly events: string[] = [];
  readonly reads: string[] = [];
  /** What the BMC shows of whose machine it is. */
  identity: 'verified' | 'unverified' = 'verified';
  plan: Plan = FAST_PLAN;

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  /** Its kubelet renews its Lease for as long as it lives. */
  async kubelet(node: string): Promise<void> {
    const { operator, clock, machines } = this.#world;
    await operator.create(LEASES, {
      metadata: { name: node, namespace: NODE_LEASE_NAMESPACE },
      spec: { holderIdentity: node, renewTime: microTimestamp(clock) },
    });
    const renew = (): void => {
      clock.after(RENEWAL_MS, renew);
      if (machines.get(node)?.isDead === true || this.silentKubelets.has(node)) return;
      void operator.mergePatch(LEASES, node, { spec: { renewTime: microTimestamp(clock) } }, { namespace: NODE_LEASE_NAMESPACE });
    };
    renew();
  }

  /** As one replica is given it. */
  sources(leases: Lister<Lease>): FastDetectionSources & { prober: Prober } {
    const { clock } = this.#world;
    const lifeAtMs = new Map<string, number>();
    leases.onChange((_before, after) => {
      if (after !== undefined) lifeAtMs.set(after.metadata.name, clock.monotonicMs());
    });
    return {
      planner: { planFor: () => this.plan, parametersFor: () => Promise.resolve({}) },
      kubeletLeases: leases,
      lifeAtMs: (node) => lifeAtMs.get(node),
      recorder: { event: (about, type, reason, message) => void this.events.push(`${about.metadata.name} ${type} ${reason} ${message}`) },
      wake: (node) => void this.woken.push(node),
      prober: {
        probe: async ({ identity }) => {
          await clock.sleep(50);
          this.reads.push(identity.node);
          return { state: this.off.has(identity.node) ? 'off' : 'on', identity: this.identity, latencyMs: 50 };
        },
      },
    };
  }
}
