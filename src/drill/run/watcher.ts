import { Reflector } from '../../kube/reflector.ts';
import type { Lister } from '../../ports/cluster.ts';
import { NO_METRICS } from '../../ports/metrics.ts';
import type { KubeObject, Lease, Node, Pod, VolumeAttachment } from '../../ports/objects.ts';
import { MACHINES } from '../../ports/machines.ts';
import type { Machine } from '../../ports/machines.ts';
import type { Logger } from '../../ports/recorder.ts';
import { LEASES, NODE_FENCES, NODES, PODS, VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { FLEET_NAMESPACE } from '../../testbed/operators/fleet.ts';
import type { ClusterSession } from './cluster-session.ts';
import { FENCE_NAMESPACE } from './scene-configuration.ts';

const SYNC_DEADLINE_MS = 10_000;
const nothing = (): void => undefined;
const whole = <T>(object: T): T => Object.freeze(object);
const QUIET: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** What the operator's own kubectl would show, kept fresh by watches. */
export class Watcher {
  readonly nodes: Lister<Node>;
  readonly pods: Lister<Pod>;
  readonly fences: Lister<NodeFence>;
  readonly attachments: Lister<VolumeAttachment>;
  readonly leases: Lister<Lease>;
  /** Where Machines stand for the nodes. */
  readonly machines: Lister<Machine> | undefined;
  readonly #reflectors: Reflector<KubeObject>[] = [];

  constructor(session: Pick<ClusterSession, 'transport' | 'fleet'>) {
    const base = { transport: session.transport, clock: new SystemClock(), random: new SystemRandom(), logger: QUIET, metrics: NO_METRICS.watch };
    const nodes = new Reflector({ ...base, resource: NODES });
    const pods = new Reflector({ ...base, resource: PODS });
    const fences = new Reflector({ ...base, resource: NODE_FENCES });
    const attachments = new Reflector({ ...base, resource: VOLUME_ATTACHMENTS });
    const leases = new Reflector({ ...base, resource: LEASES, namespace: FENCE_NAMESPACE, prune: whole });
    this.nodes = nodes.lister;
    this.pods = pods.lister;
    this.fences = fences.lister;
    this.attachments = attachments.lister;
    this.leases = leases.lister;
    const machines =
      session.fleet.length === 0 ? undefined : new Reflector({ ...base, resource: MACHINES, namespace: FLEET_NAMESPACE, prune: whole });
    this.machines = machines?.lister;
    if (machines !== undefined) this.#reflectors.push(machines);
    for (const reflector of [nodes, pods, fences, attachments, leases]) this.#reflectors.push(reflector as unknown as Reflector<KubeObject>);
  }

  /** The controllers' own Lease. */
  get leaderLease(): Lease | undefined {
    return this.leases.get(`${FENCE_NAMESPACE}/${LEADER_LEASE}`);
  }

  async start(): Promise<void> {
    for (const reflector of this.#reflectors) reflector.start();
    await Promise.all(this.#reflectors.map((reflector) => reflector.untilSynced(SYNC_DEADLINE_MS)));
  }

  onChange(listener: () => void): void {
    for (const lister of this.#listers) lister.onChange(listener);
  }

  close(): void {
    for (const reflector of this.#reflectors) reflector.close();
  }

  get #listers(): readonly Lister<KubeObject>[] {
    return [this.nodes, this.pods, this.fences, this.attachments, this.leases, ...(this.machines === undefined ? [] : [this.machines])];
  }

  /** Resolves when `condition` holds; looks at every change. Rejects with what is missing after `deadlineMs`. */
  until(what: string, deadlineMs: number, condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let unsubscribe: (() => void)[] = [];
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        clearInterval(poll);
        for (const leave of unsubscribe) leave();
        settle();
      };
      const look = (): void => {
        if (condition()) end(resolve);
      };
      const timer = setTimeout(() => end(() => reject(new Error(`after ${deadlineMs / 1000} s still waiting for ${what}`))), deadlineMs);
      const poll = setInterval(look, 250);
      unsubscribe = this.#listers.map((lister) => lister.onChange(look));
      look();
    });
  }
}
