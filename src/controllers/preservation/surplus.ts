import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { MACHINE_SETS, MACHINES } from '../../ports/machines.ts';
import type { Machine } from '../../ports/machines.ts';
import type { ObjectRef } from './actions.ts';
import { machineFacts } from './machine-facts.ts';
import { effectiveValue, readMarks } from './marks.ts';
import { selectSurplus } from './scale-down.ts';
import type { MachineFacts, NodeFacts } from './snapshot.ts';

interface SurplusSources {
  clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  cluster: Pick<Cluster, 'list'>;
  /** Of the Node of this name, as the watch has it; undefined: there is none. */
  nodeOf: (node: string) => Pick<NodeFacts, 'annotations' | 'uid'> | undefined;
}

/** Machines that go together are looked at together. */
const LOOK_MAX_AGE_MS = 1_000;

/**
 * Which Machines a MachineSet wants no more, by a consistent read. Its watch and that of its Machines are two: of a Machine that went together with a place of its
 * set the one may tell before the other, and another one would go for it.
 */
export class ConsistentSurplus {
  readonly #sources: SurplusSources;
  /** By namespace. */
  readonly #looks = new Map<string, { atMs: number; machines: Promise<readonly Machine[]> }>();

  constructor(sources: SurplusSources) {
    this.#sources = sources;
  }

  async has({ namespace = '', uid }: ObjectRef, setName: string): Promise<boolean> {
    const { clock, cluster } = this.#sources;
    // The set after its Machines: who scales it down meanwhile has not deleted any of them before.
    const machines = await this.#machinesIn(namespace);
    const [set] = await cluster.list(MACHINE_SETS, { namespace, fieldSelector: `metadata.name=${setName}` });
    const replicas = set?.spec?.replicas;
    if (replicas === undefined) return false;
    const members = machines.map(machineFacts).filter((each) => each.machineSet === setName && !each.isDeleting && each.phase !== 'Terminating');
    const ranked = members.map((member) => ({ ...member, value: this.#valueOf(member) }));
    return selectSurplus(ranked, ranked.length - replicas, clock.wallMs()).some((each) => each.uid === uid);
  }

  #valueOf({ annotations, nodeName }: MachineFacts): ReturnType<typeof effectiveValue> {
    const node = nodeName === undefined ? undefined : this.#sources.nodeOf(nodeName);
    return effectiveValue(readMarks(annotations, node?.annotations, node?.uid), node !== undefined);
  }

  async #machinesIn(namespace: string): Promise<readonly Machine[]> {
    const { clock, cluster } = this.#sources;
    const nowMs = clock.monotonicMs();
    for (const [other, { atMs }] of this.#looks) if (nowMs - atMs > LOOK_MAX_AGE_MS) this.#looks.delete(other);
    const machines = this.#looks.get(namespace)?.machines ?? cluster.list(MACHINES, { namespace });
    if (!this.#looks.has(namespace)) this.#looks.set(namespace, { atMs: nowMs, machines });
    return machines;
  }
}
