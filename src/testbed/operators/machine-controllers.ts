import { MACHINE_NODE_LABEL, MACHINES } from '../../ports/machines.ts';
import type { Machine } from '../../ports/machines.ts';
import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { WorldApi } from '../cluster/api.ts';
import type { WorldDependencies } from '../cluster/dependencies.ts';
import { WORLD_NODES } from '../cluster/kinds.ts';
import { Loop } from '../cluster/loop.ts';
import { Mirror } from '../cluster/mirror.ts';
import { FLEET_NAMESPACE } from './fleet.ts';
import { COUNTED_DEPLOYMENTS, COUNTED_SETS, DRIVER_FINALIZER } from './kinds.ts';
import type { CountedDeployment, CountedSet } from './kinds.ts';

/**
 * What is left of MCM where its preservation is somebody else's: a MachineDeployment hands its replicas to its set, both count, and the driver takes a
 * Machine's Node away with it. Who fails, who is kept and who goes is not decided here, and no Machine is made anew.
 */
export class MachineControllers {
  readonly #api: WorldApi;
  readonly #machines: Mirror<Machine>;
  readonly #sets: Mirror<CountedSet>;
  readonly #deployments: Mirror<CountedDeployment>;
  readonly #loop: Loop;
  /** What each status was last told: a field that the server does not keep is not told again and again. */
  readonly #told = new Map<string, string>();

  constructor(dependencies: WorldDependencies) {
    this.#api = new WorldApi(dependencies.transport);
    this.#loop = new Loop(dependencies.clock, dependencies.random, () => this.#run());
    const mirror = <T extends KubeObject>(resource: Resource<T>): Mirror<T> =>
      new Mirror<T>({
        ...dependencies,
        resource,
        namespace: FLEET_NAMESPACE,
        onChange: () => this.#loop.poke(),
        onSync: () => this.#loop.poke(),
      });
    this.#machines = mirror(MACHINES);
    this.#sets = mirror(COUNTED_SETS);
    this.#deployments = mirror(COUNTED_DEPLOYMENTS);
  }

  start(): void {
    for (const mirror of [this.#machines, this.#sets, this.#deployments]) mirror.start();
  }

  stop(): void {
    for (const mirror of [this.#machines, this.#sets, this.#deployments]) mirror.stop();
    this.#loop.stop();
  }

  async #run(): Promise<undefined> {
    if (![this.#machines, this.#sets, this.#deployments].every(({ isSynced }) => isSynced)) return;
    for (const machine of [...this.#machines.all()]) await this.#drive(machine);
    for (const set of [...this.#sets.all()]) await this.#scale(set);
    for (const set of [...this.#sets.all()]) await this.#count(COUNTED_SETS, set, this.#machinesOf(set));
    for (const deployment of [...this.#deployments.all()]) {
      const machines = [...this.#sets.all()].filter((set) => isOwner(deployment, set)).flatMap((set) => this.#machinesOf(set));
      await this.#count(COUNTED_DEPLOYMENTS, deployment, machines);
    }
  }

  #machinesOf(set: CountedSet): Machine[] {
    return [...this.#machines.all()].filter((machine) => isOwner(set, machine) && machine.metadata.deletionTimestamp === undefined);
  }

  /** A Machine that is deleted takes its Node with it. */
  async #drive({ metadata }: Machine): Promise<void> {
    const { name, namespace, deletionTimestamp, finalizers = [], labels } = metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(DRIVER_FINALIZER)) return;
    const node = labels?.[MACHINE_NODE_LABEL];
    if (node !== undefined) await this.#api.remove(WORLD_NODES, { metadata: { name: node } });
    const left = finalizers.filter((finalizer) => finalizer !== DRIVER_FINALIZER);
    await this.#api.patch(MACHINES, { namespace, name }, 'merge', { metadata: { finalizers: left } });
  }

  async #scale(set: CountedSet): Promise<void> {
    const wanted = [...this.#deployments.all()].find((deployment) => isOwner(deployment, set))?.spec?.replicas;
    if (wanted === undefined || set.spec?.replicas === wanted) return;
    const { namespace, name } = set.metadata;
    await this.#api.patch(COUNTED_SETS, { namespace, name }, 'merge', { spec: { replicas: wanted } });
  }

  async #count<T extends CountedSet | CountedDeployment>(resource: Resource<T>, object: T, machines: readonly Machine[]): Promise<void> {
    const available = machines.filter(({ status }) => status?.currentStatus?.phase === 'Running').length;
    const status = { replicas: machines.length, availableReplicas: available };
    const { namespace, name, uid = '' } = object.metadata;
    const [before, words] = [object.status, JSON.stringify(status)];
    const isKnown = (before?.replicas ?? 0) === status.replicas && (before?.availableReplicas ?? 0) === available;
    if (isKnown || this.#told.get(uid) === words) return;
    await this.#api.patch(resource, { namespace, name, subresource: 'status' }, 'merge', { status });
    this.#told.set(uid, words);
  }
}

function isOwner(owner: KubeObject, { metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);
}
