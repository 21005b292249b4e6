import { NODE_FENCE_REPORTS } from '../../../ports/resources.ts';
import type { RemediesStatus } from '../../../ports/remedies.ts';
import { Checking } from '../health-check/checking.ts';
import type { FaultStage } from '../script.ts';

/** What the faults of remedies do, and look at. */
export class Remedying {
  readonly checking: Checking;
  readonly #stage: FaultStage;

  constructor(stage: FaultStage) {
    this.#stage = stage;
    this.checking = new Checking(stage);
  }

  get problems(): readonly string[] {
    return this.checking.problems;
  }

  /** The node-problem-detector of a node finds a line in a log that matches its rule. */
  finds(condition: string, node = this.#stage.node): void {
    this.#tellMachine(node, { command: 'find', condition });
  }

  /** It is started anew and posts that all is well; or it dies, and what it has posted stays. */
  detector(what: 'restart' | 'die', node = this.#stage.node): void {
    this.#tellMachine(node, { command: 'detector', what });
    const words = { restart: 'is started anew: it posts that all is well', die: 'dies: nothing renews what it has posted' };
    this.#stage.tell(`the node-problem-detector of ${node} ${words[what]}`);
  }

  /** The disk of the victim. */
  fill(isFull: boolean): void {
    this.#tellMachine(this.#stage.node, { command: 'fill', isFull });
    this.#stage.tell(isFull ? `the disk of ${this.#stage.node} is full` : `the disk of ${this.#stage.node} has room again`);
  }

  async written(node = this.#stage.node): Promise<RemediesStatus | undefined> {
    return (await this.#stage.session.cluster.get(NODE_FENCE_REPORTS, node))?.status?.remedies;
  }

  /** `running drain`, of the threshold. */
  async position(threshold: string, node = this.#stage.node): Promise<string> {
    const found = (await this.written(node))?.positions?.find((each) => each.threshold === threshold);
    return found === undefined ? '' : [found.phase, found.run?.remedy].filter((part) => part !== undefined).join(' ');
  }

  async message(threshold: string, node = this.#stage.node): Promise<string> {
    return (await this.written(node))?.positions?.find((each) => each.threshold === threshold)?.message ?? '';
  }

  /** `drain succeeded`, in the order in which they ended. */
  async runs(node = this.#stage.node): Promise<string[]> {
    return ((await this.written(node))?.runs ?? []).map(({ remedy, result }) => `${remedy} ${result}`);
  }

  /** Resolves when this run has ended so, and the audience hears of it; rejects when it does not come. */
  async hasEnded(run: string, deadlineMs: number, node = this.#stage.node): Promise<void> {
    const hasCome = await this.checking.shows(`${node}: ${run}`, deadlineMs, async () => (await this.runs(node)).includes(run));
    if (!hasCome) throw new Error(`${run} did not come: ${await this.#whereabouts(node)}`);
  }

  /** The same of a phase of its remedies. */
  async isIn(position: string, threshold: string, deadlineMs: number): Promise<void> {
    const { node } = this.#stage;
    const words = `${node}: ${threshold} is ${position}`;
    const hasCome = await this.checking.shows(words, deadlineMs, async () => (await this.position(threshold)) === position);
    if (!hasCome) throw new Error(`${position} did not come: ${await this.#whereabouts(node)}`);
  }

  async #whereabouts(node: string): Promise<string> {
    const { positions = [], runs = [] } = (await this.written(node)) ?? {};
    const where = positions.map(({ threshold, phase, run, message = '' }) => `${threshold} ${phase} ${run?.remedy ?? ''} ${message}`);
    const ended = runs.map(({ remedy, result, message = '' }) => `${remedy} ${result} ${message}`);
    return [...where, ...ended].join('; ') || 'nothing of remedies is written';
  }

  #tellMachine(node: string, line: object): void {
    this.#stage.session.member(node).child.tell({ command: 'machine', line });
  }
}
