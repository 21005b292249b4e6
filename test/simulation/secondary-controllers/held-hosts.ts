import type { ApiEvent } from '../../../src/laws/trace.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { hostName } from '../../../src/testbed/operators/host-fleet.ts';
import type { Scenario } from '../scenario.ts';
import { isStormJudged, unhealthyAllowed } from '../storm-truth.ts';

const HOSTS = 'baremetalhosts.metal3.io';
/** One that does not obey keeps nobody else waiting for longer. */
const OBEYS_WITHIN_MS = 600_000;
/** Of both controllers that switch machines by their hosts. */
const HOLDS = /^reboot\.metal3\.io\/(machine-remediation|metal3-remediation-.+)$/u;

/**
 * What the storm policies promise of hosts that are switched off without a NodeFence, counted from what the API server holds: a node counts from the hold on its
 * host. A lower bound: of the holds of a process before this one it may not have read.
 */
export class HeldHosts {
  readonly #scenario: Scenario;
  readonly #isDown: (node: string, nowMs: number) => boolean;
  /** By node: the process that holds its host off, and since when. */
  readonly #holders = new Map<string, { process: string; sinceMs: number }>();

  constructor(scenario: Scenario, isDown: (node: string, nowMs: number) => boolean) {
    this.#scenario = scenario;
    this.#isDown = isDown;
  }

  /** What is broken by this request, in words. */
  heard({ resource, verb, status, name, object }: ApiEvent, process: string | undefined, nowMs: number): string | undefined {
    const { nodes } = this.#scenario;
    const node = nodes.find((each) => hostName(each) === name);
    if (resource !== HOSTS || node === undefined || status >= 300 || verb === 'get' || verb === 'list' || verb === 'watch') return undefined;
    const annotations = Object.keys((object as KubeObject | undefined)?.metadata.annotations ?? {});
    if (verb === 'delete' || !annotations.some((key) => HOLDS.test(key))) this.#holders.delete(node);
    else if (process !== undefined && !this.#holders.has(node)) return this.#begun(node, process, nowMs);
    return undefined;
  }

  #begun(node: string, process: string, nowMs: number): string | undefined {
    const { nodes } = this.#scenario;
    const isHeld = (other: string): boolean => {
      const holder = this.#holders.get(other);
      return holder?.process === process && nowMs - holder.sinceMs < OBEYS_WITHIN_MS;
    };
    const isUnhealthy = (other: string): boolean => isHeld(other) || this.#isDown(other, nowMs);
    const unhealthy = nodes.filter((other) => other !== node && isUnhealthy(other));
    this.#holders.set(node, { process, sinceMs: nowMs });
    if (!isStormJudged(this.#scenario)) return undefined;
    const isTooMany = unhealthy.length >= unhealthyAllowed(nodes.length);
    return isTooMany
      ? `P6: the host of ${node} was held off although ${unhealthy.join(', ')} of ${nodes.length} nodes are down, or held off`
      : undefined;
  }
}
