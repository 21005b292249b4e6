import { internalAddresses } from '../../../domain/addresses.ts';
import { switchesOff } from '../../../domain/plan.ts';
import type { Plan, PlanMethod } from '../../../domain/plan.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Node } from '../../../ports/objects.ts';
import type { Planner } from '../../../ports/planner.ts';
import type { Prober } from '../../../ports/probes.ts';

export interface OffReadsParts {
  clock: Pick<Clock, 'monotonicMs'>;
  planner: Pick<Planner, 'parametersFor'>;
  prober: Prober;
  signal: AbortSignal;
}

interface Reads {
  /** The silence that they are of: when the last heartbeat came. */
  ofMs: number;
  /** How often all of them read off in a row. */
  offs: number;
  readAtMs: number;
  isUnderWay: boolean;
}

/** A BMC that answers later than this answers nobody in time. */
const DEADLINE_MS = 4_000;
/** Between two reads. */
const AGAIN_MS = 500;
/** A read of more devices than that at once is a storm, and waits. */
const UNDER_WAY_MAX = 16;
const OFFS_NEEDED = 2;
const NONE: readonly PlanMethod[] = [];

/** Reads what feeds the machine of a silent node. Nothing is ever set, and every fence has precedence. */
export class OffReads {
  readonly #parts: OffReadsParts;
  readonly #reads = new Map<string, Reads>();

  constructor(parts: OffReadsParts) {
    this.#parts = parts;
  }

  /** `lastMs`: when the node was last heard. */
  readsOff(node: string, lastMs: number): boolean {
    const reads = this.#reads.get(node);
    return reads !== undefined && reads.ofMs === lastMs && reads.offs >= OFFS_NEEDED;
  }

  /** Begins the next read where it is due. */
  read(node: Node, plan: Plan, lastMs: number): void {
    const { name } = node.metadata;
    const known = this.#reads.get(name);
    const reads = known?.ofMs === lastMs ? known : { ofMs: lastMs, offs: 0, readAtMs: Number.NEGATIVE_INFINITY, isUnderWay: false };
    this.#reads.set(name, reads);
    const methods = feedersOf(plan);
    const underWay = [...this.#reads.values()].filter(({ isUnderWay }) => isUnderWay).length;
    const isDue = !reads.isUnderWay && this.#parts.clock.monotonicMs() - reads.readAtMs >= AGAIN_MS;
    if (methods.length === 0 || !isDue || underWay >= UNDER_WAY_MAX) return;
    reads.isUnderWay = true;
    void this.#areOff(node, methods).then((areOff) => {
      reads.isUnderWay = false;
      reads.readAtMs = this.#parts.clock.monotonicMs();
      reads.offs = areOff ? reads.offs + 1 : 0;
    });
  }

  keepOnly(silent: ReadonlySet<string>): void {
    for (const node of [...this.#reads.keys()]) if (!silent.has(node)) this.#reads.delete(node);
  }

  /** Never rejects: a device that cannot be read does not read off. */
  async #areOff(node: Node, methods: readonly PlanMethod[]): Promise<boolean> {
    const { planner, prober, signal } = this.#parts;
    const { name } = node.metadata;
    const { nodeInfo, addresses } = node.status;
    const identity = { node: name, systemUUID: nodeInfo?.systemUUID, providerID: node.spec.providerID, addresses: internalAddresses(addresses) };
    const answers = await Promise.all(
      methods.map((method) =>
        prober
          .probe({ method, identity, deadlineMs: DEADLINE_MS, signal, parametersOf: (wanted) => planner.parametersFor(name, wanted) })
          .catch(() => undefined),
      ),
    );
    return answers.every((answer) => answer?.state === 'off' && answer.identity === 'verified');
  }
}

/** What the first level of power-management switches off. */
function feedersOf({ powerManagement }: Plan): readonly PlanMethod[] {
  return powerManagement[0]?.methods.filter((method) => method.kind === 'power' && switchesOff(method)) ?? NONE;
}
