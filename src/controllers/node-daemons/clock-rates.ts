import { ClockRate, isLasting, rateWords } from '../../domain/node-daemon/clock-rate.ts';
import type { WrongRate } from '../../domain/node-daemon/clock-rate.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { Recorder } from '../../ports/recorder.ts';

const REMEDY = 'write maxslewrate 10000 into its chrony.conf';
/** Fewer nodes cannot show that it is rather our clock. */
const MEASURED_MIN = 3;

/** What the report of a node says of it. */
export const CLOCK_WORDS: Readonly<Record<WrongRate, string>> = {
  slow: `Its clock runs slow by more than 2 % of ours, and its silence is no evidence (watchdog) while that lasts: ${REMEDY}.`,
  fast: `Its clock runs fast by more than 2 % of ours, and it may take itself down too early: ${REMEDY}.`,
};

/** The clocks of all nodes that are heard, by ours. */
export class ClockRates {
  readonly #rates = new Map<string, ClockRate>();
  readonly #told = new Map<string, WrongRate>();
  #ours: WrongRate | undefined;

  hear(node: string, { bootID, counter, atMs }: { bootID: string; counter: number; atMs: number }): void {
    const rate = this.#rates.get(node) ?? new ClockRate();
    this.#rates.set(node, rate);
    rate.hear(bootID, counter, atMs);
  }

  /** This process stood still. */
  restart(): void {
    for (const rate of this.#rates.values()) rate.restart();
  }

  /**
   * Why the times of this boot may take longer than is reckoned with. A slow clock does: what the node counts until it feeds its watchdog no more takes longer than we
   * wait for it. A fast one only takes the node down earlier. Which of both clocks is wrong is all the same: where ours is fast, all nodes are slow by it, and we wait
   * too short. A leader that has measured nothing yet knows of no doubt.
   */
  doubt(node: string, bootID: string): string | undefined {
    const measured = this.#rates.get(node)?.measured(bootID);
    return measured?.wrong === 'slow'
      ? `${rateWords(measured)} when it was last heard, more than the 2 % by which two sound clocks may differ`
      : undefined;
  }

  /** As it was measured last, in this boot. */
  wrong(node: string, bootID: string): WrongRate | undefined {
    return this.#rates.get(node)?.measured(bootID)?.wrong;
  }

  /** Most nodes run wrong in the same way by our clock: it is rather that one. */
  see(bootIDs: ReadonlyMap<string, string>): void {
    const counts = { measured: 0, slow: 0, fast: 0 };
    for (const [node, bootID] of bootIDs) {
      const measured = this.#rates.get(node)?.measured(bootID);
      if (measured === undefined) continue;
      counts.measured += 1;
      if (measured.wrong !== undefined && isLasting(measured)) counts[measured.wrong] += 1;
    }
    const isMost = (wrong: WrongRate): boolean => counts.measured >= MEASURED_MIN && counts[wrong] > counts.measured / 2;
    this.#ours = (['slow', 'fast'] as const).find(isMost);
  }

  /** For `nodefence status`. */
  get problem(): string | undefined {
    if (this.#ours === undefined) return undefined;
    const proves = this.#ours === 'slow' ? ', and their silence is no evidence (watchdog) while that lasts' : '';
    return `the clocks of most nodes run ${this.#ours} by more than 2 % of ours: it is rather the clock of this controller’s host that is slewed${proves}: ${REMEDY}`;
  }

  /**
   * What is told of a node that runs wrong for as long as that lasts; nothing where it is rather our own clock. `standing`: what its report says; what a predecessor found
   * to last need not be measured for as long again.
   */
  lasting(node: string, bootID: string, standing = ''): WrongRate | undefined {
    const measured = this.#rates.get(node)?.measured(bootID);
    if (measured?.wrong === undefined || measured.wrong === this.#ours) return undefined;
    return isLasting(measured) || standing.includes(CLOCK_WORDS[measured.wrong]) ? measured.wrong : undefined;
  }

  /** An Event on the Node, once for as long as it lasts. */
  tell(node: string, bootID: string, { clusterNodes, recorder, standing = '' }: TellParts): void {
    const wrong = this.lasting(node, bootID, standing);
    const told = this.#told.get(node);
    if (wrong === undefined) this.#told.delete(node);
    if (wrong === undefined || wrong === told) return;
    const about = clusterNodes.get(node);
    const measured = this.#rates.get(node)?.measured(bootID);
    if (about === undefined || measured === undefined) return;
    this.#told.set(node, wrong);
    if (told === undefined && standing.includes(CLOCK_WORDS[wrong])) return;
    const message = `${CLOCK_WORDS[wrong]} Measured by its heartbeats: ${rateWords(measured)}.`;
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: about.metadata }, 'Warning', 'ClockDrifts', message);
  }

  retain(isKnown: (node: string) => boolean): void {
    for (const node of [...this.#rates.keys()]) {
      if (isKnown(node)) continue;
      this.#rates.delete(node);
      this.#told.delete(node);
    }
  }
}

export interface TellParts {
  clusterNodes: Pick<Lister<Node>, 'get'>;
  recorder: Recorder;
  /** As for `lasting`. */
  standing?: string | undefined;
}
