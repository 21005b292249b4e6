import type { Clock } from '../../../ports/clock.ts';
import { CLUSTER_API_GROUP } from '../../../ports/cluster-api.ts';
import type { ClusterCondition, ClusterMachine } from '../../../ports/cluster-api.ts';
import type { Lease, Node } from '../../../ports/objects.ts';
import { NODE_FENCE_REMEDIATION } from '../../../ports/remediation.ts';
import { LEASES, NODES } from '../../../ports/resources.ts';
import { WorldApi } from '../../cluster/api.ts';
import type { WorldDependencies } from '../../cluster/dependencies.ts';
import { NAMESPACES } from '../../cluster/kinds.ts';
import { Loop } from '../../cluster/loop.ts';
import { Mirror } from '../../cluster/mirror.ts';
import { HOST_MACHINES, HOSTS_CLUSTER, HOSTS_NAMESPACE } from '../host-fleet.ts';
import { microStamp, stamp } from './stamp.ts';
import { UnhealthyNodes } from './unhealthy-nodes.ts';
import type { UnhealthyWhen } from './unhealthy-nodes.ts';

const { requests: REQUESTS, templates: TEMPLATES } = NODE_FENCE_REMEDIATION;
const NAMESPACE = 'capi-system';
/** By which the controller of Cluster API elects its leader. */
const LEASE = 'controller-leader-election-capi';
const RENEW_MS = 2_000;
const RESYNC_MS = 500;

/**
 * The MachineHealthCheck controller of Cluster API, as far as an external remediator can tell: it elects itself, says on each Machine whether its check
 * succeeded, makes a request of the template for each that is unhealthy, reads nothing of it, and deletes it when the Machine is healthy.
 */
export class ClusterApiCheck {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #template: string;
  readonly #health: UnhealthyNodes;
  readonly #nodes: Mirror<Node>;
  readonly #machines: Mirror<ClusterMachine>;
  readonly #loop: Loop;
  readonly #renewal: Loop;

  /** `template`: name of a template of ours, beside the Machines. */
  constructor(dependencies: WorldDependencies, { template, when }: { template: string; when: readonly UnhealthyWhen[] }) {
    const { clock, random, transport } = dependencies;
    this.#api = new WorldApi(transport);
    this.#clock = clock;
    this.#template = template;
    this.#health = new UnhealthyNodes(clock, when);
    this.#loop = new Loop(clock, random, () => this.#run());
    this.#renewal = new Loop(clock, random, () => this.#renew());
    const poke = (): void => this.#loop.poke();
    this.#nodes = new Mirror<Node>({ ...dependencies, resource: NODES, onChange: poke, onSync: poke });
    this.#machines = new Mirror<ClusterMachine>({
      ...dependencies,
      resource: HOST_MACHINES,
      namespace: HOSTS_NAMESPACE,
      onChange: poke,
      onSync: poke,
    });
  }

  async start(): Promise<void> {
    await this.#api.ensure(NAMESPACES, { metadata: { name: NAMESPACE } });
    const now = microStamp(this.#clock.wallMs());
    const spec = { holderIdentity: 'capi-controller-manager-0', leaseDurationSeconds: 15, acquireTime: now, renewTime: now, leaseTransitions: 0 };
    const lease: Lease = { metadata: { name: LEASE, namespace: NAMESPACE }, spec };
    await this.#api.ensure(LEASES, lease);
    this.#renewal.poke();
    this.#nodes.start();
    this.#machines.start();
  }

  stop(): void {
    this.#nodes.stop();
    this.#machines.stop();
    this.#loop.stop();
    this.#renewal.stop();
  }

  async #renew(): Promise<number> {
    const place = { name: LEASE, namespace: NAMESPACE };
    await this.#api.patch(LEASES, place, 'merge', { spec: { renewTime: microStamp(this.#clock.wallMs()) } });
    return RENEW_MS;
  }

  async #run(): Promise<number | undefined> {
    if (!this.#nodes.isSynced || !this.#machines.isSynced) return undefined;
    for (const machine of [...this.#machines.all()]) {
      const node = this.#nodes.get(machine.status?.nodeRef?.name ?? '');
      const health = node === undefined ? { isHealthy: false } : this.#health.of(node);
      if ('dueMs' in health) continue;
      if (health.isHealthy) await this.#healthy(machine);
      else await this.#unhealthy(machine);
    }
    return RESYNC_MS;
  }

  async #healthy(machine: ClusterMachine): Promise<void> {
    const request = await this.#api.get(REQUESTS, { name: machine.metadata.name, namespace: HOSTS_NAMESPACE });
    if (request !== undefined && request.metadata.deletionTimestamp === undefined) await this.#api.remove(REQUESTS, request);
    await this.#say(machine, { type: 'HealthCheckSucceeded', status: 'True', reason: 'HealthCheckSucceeded' });
  }

  async #unhealthy(machine: ClusterMachine): Promise<void> {
    const { name, uid = '' } = machine.metadata;
    await this.#say(machine, { type: 'HealthCheckSucceeded', status: 'False', reason: 'UnhealthyNode' });
    if ((await this.#api.get(REQUESTS, { name, namespace: HOSTS_NAMESPACE })) !== undefined) return;
    const template = await this.#api.get(TEMPLATES, { name: this.#template, namespace: HOSTS_NAMESPACE });
    if (template === undefined) return;
    await this.#api.ensure(REQUESTS, {
      ...template.spec.template,
      metadata: {
        name,
        namespace: HOSTS_NAMESPACE,
        labels: { [`${CLUSTER_API_GROUP}/cluster-name`]: HOSTS_CLUSTER },
        annotations: {
          [`${CLUSTER_API_GROUP}/cloned-from-name`]: this.#template,
          [`${CLUSTER_API_GROUP}/cloned-from-groupkind`]: `${TEMPLATES.kind}.${TEMPLATES.group}`,
        },
        ownerReferences: [{ apiVersion: `${CLUSTER_API_GROUP}/${HOST_MACHINES.version}`, kind: 'Machine', name, uid }],
      },
    });
    await this.#say(machine, { type: 'ExternallyRemediated', status: 'False', reason: 'WaitingForRemediation' });
  }

  /** In the list of v1beta2, as it stands now; what it says already is not said again. */
  async #say(
    { metadata: { name, namespace } }: ClusterMachine,
    { type, status, reason }: Pick<ClusterCondition, 'type' | 'status' | 'reason'>,
  ): Promise<void> {
    const found = await this.#api.get(HOST_MACHINES, { name, namespace });
    const standing = found?.status?.conditions ?? [];
    if (found === undefined || standing.some((each) => each.type === type && each.status === status)) return;
    const said = { type, status, ...(reason !== undefined && { reason }), message: '', lastTransitionTime: stamp(this.#clock.wallMs()) };
    const conditions = [...standing.filter((each) => each.type !== type), said];
    const { resourceVersion = '' } = found.metadata;
    const patch = { metadata: { resourceVersion }, status: { conditions } };
    await this.#api.patch(HOST_MACHINES, { name, namespace, subresource: 'status' }, 'merge', patch);
  }
}
