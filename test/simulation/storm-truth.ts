import { fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { DeviceEvent } from '../../src/laws/trace.ts';
import type { FenceWatch } from './fence-watch.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import { rackOf } from './racks.ts';
import type { Scenario } from './scenario.ts';

/** So old may be what a leader knows that was stopped for a moment: longer, and it has lost its Lease. */
const KNOWN_MS = 20_000;
/** What keeps a leader from hearing of the cluster in time. */
const DEAFENING: ReadonlySet<string> = new Set(['break', 'burst', 'throttle', 'restart', 'expire', 'clock', 'edit']);

/**
 * P6 from outside: what the storm policies promise, counted anew from what the API server holds, at every off that a device accepts. Only where the
 * leader can know: in calm water. Both counts are lower bounds of the policies' own, so that no right decision is blamed.
 */
export class StormTruth {
  readonly #scenario: Scenario;
  readonly #fence: FenceWatch;
  readonly #isJudged: boolean;
  /** Since when a node is not Ready. */
  readonly #unreadySinceMs = new Map<string, number>();
  readonly #gone = new Set<string>();
  /** Nodes whose device accepted an off, by the attempt in which it did: a failed one gives its slot away, and the next waits for its turn. */
  readonly #switched = new Map<string, string>();

  constructor(scenario: Scenario, fence: FenceWatch) {
    this.#scenario = scenario;
    this.#fence = fence;
    this.#isJudged = isStormJudged(scenario);
  }

  /** It has not been Ready for so long that every leader knows it. */
  isDown(node: string, nowMs: number): boolean {
    return !this.#gone.has(node) && nowMs - (this.#unreadySinceMs.get(node) ?? nowMs) > KNOWN_MS;
  }

  saw(node: string, isReady: boolean, nowMs: number): void {
    this.#gone.delete(node);
    if (isReady) this.#unreadySinceMs.delete(node);
    else if (!this.#unreadySinceMs.has(node)) this.#unreadySinceMs.set(node, nowMs);
  }

  /** Its Node was deleted: it counts as nothing until it comes back. */
  removed(node: string): void {
    this.#unreadySinceMs.delete(node);
    this.#gone.add(node);
  }

  /** What is broken by this request of a device, in words. */
  asked(event: DeviceEvent, nowMs: number): string | undefined {
    const isOff = event.action === 'set' && event.want === 'off' && event.answer === '204';
    if (!isOff || !this.#isJudged) return undefined;
    this.#switched.set(event.node, attemptOf(this.#fence.of(fenceName(event.node))));
    const violation = this.#tooManyUnhealthy(nowMs) ?? this.#tooManyAtOnce(event.node);
    return violation === undefined ? undefined : `P6: ${event.device} was set off although ${violation}`;
  }

  #tooManyUnhealthy(nowMs: number): string | undefined {
    const nodes = this.#scenario.nodes.filter((node) => !this.#gone.has(node));
    const unhealthy = nodes.filter((node) => this.isDown(node, nowMs));
    const allowed = unhealthyAllowed(nodes.length);
    return unhealthy.length > allowed ? `${unhealthy.join(', ')} of ${nodes.length} nodes have not been Ready for ${KNOWN_MS / 1000} s` : undefined;
  }

  #tooManyAtOnce(node: string): string | undefined {
    const { nodes, configuration } = this.#scenario;
    const others = nodes.filter((other) => other !== node && this.#holdsSlot(other));
    const neighbours = others.filter((other) => rackOf(nodes.indexOf(other)) === rackOf(nodes.indexOf(node)));
    const max = configuration.policies === 'one-at-a-time' ? 1 : 3;
    if (others.length >= max) return `${others.join(', ')} were being fenced, and ${max} may be at once`;
    return neighbours.length > 0 ? `${neighbours.join(', ')} of the same zone was being fenced` : undefined;
  }

  /** It was switched off, and nothing of it is released yet, nor given up; one whose machine is preserved, for days maybe, has given its slot away. */
  #holdsSlot(node: string): boolean {
    const status = this.#fence.of(fenceName(node));
    return (
      status?.state === 'running' && status.released === undefined && status.slotGivenAway !== true && this.#switched.get(node) === attemptOf(status)
    );
  }
}

/** Of the default policy. */
export function unhealthyAllowed(nodes: number): number {
  return nodes <= 3 ? 1 : Math.floor(nodes * 0.4);
}

/** The leader can know of the whole cluster in time. */
export function isStormJudged({ api, disturbances, configuration }: Scenario): boolean {
  return api === CALM_API && !disturbances.some(({ what }) => DEAFENING.has(what)) && configuration.policies !== 'off';
}

function attemptOf(status: NodeFenceStatus | undefined): string {
  return `${status?.incident ?? 0}/${status?.restarts ?? 0}`;
}
