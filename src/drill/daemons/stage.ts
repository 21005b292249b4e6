import { daemonTiming } from '../../domain/node-daemon/times.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { pause } from '../run/pause.ts';
import type { DaemonCluster } from './cluster.ts';
import type { DaemonNode } from './node.ts';
import { TIMES } from './times.ts';

const LOOK_MS = 100;

/** What a fault of daemons is played on. */
export class DaemonStage {
  readonly #cluster: DaemonCluster;
  readonly victim: string;
  readonly tell: (line: string) => void;

  constructor(cluster: DaemonCluster, victim: string, tell: (line: string) => void) {
    this.#cluster = cluster;
    this.victim = victim;
    this.tell = tell;
  }

  get nodes(): readonly DaemonNode[] {
    return this.#cluster.nodes;
  }

  get controllers(): readonly string[] {
    return this.#cluster.controllers;
  }

  /** Two nodes of one failure domain. */
  get rack(): readonly string[] {
    return this.#cluster.rack;
  }

  /** All that are in the network. */
  get names(): readonly string[] {
    return this.#cluster.names;
  }

  get watchdogMs(): number {
    return TIMES.watchdogMs;
  }

  /** From the last grant or vouch to the reset, at most. */
  get untilDownMs(): number {
    const { grantMs, isolationTimeoutMs, podStopMaxMs, watchdogMs } = daemonTiming(TIMES);
    return grantMs + isolationTimeoutMs + podStopMaxMs + watchdogMs;
  }

  node(name: string): DaemonNode {
    const node = this.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  cut(one: string, others: readonly string[]): void {
    for (const other of others) this.#cluster.network.cut(one, other);
    this.tell(`${one} is cut off from ${others.join(', ')}`);
  }

  heal(one: string, others: readonly string[]): void {
    for (const other of others) this.#cluster.network.heal(one, other);
    this.tell(`${one} reaches ${others.join(', ')} again`);
  }

  endControlPlane(): void {
    this.#cluster.endControlPlane();
    this.tell('the API server and the controllers are gone');
  }

  /** What is missing after `deadlineMs`, in words; empty: it came. */
  async until(what: string, deadlineMs: number, isSo: () => boolean): Promise<string[]> {
    const endsAtMs = performance.now() + deadlineMs;
    while (!isSo()) {
      if (performance.now() > endsAtMs) return [`${what}: not within ${String(deadlineMs / 1_000)} s. ${this.node(this.victim).lastWords}`];
      await pause(LOOK_MS);
    }
    return [];
  }

  async expectPhase(name: string, phase: string): Promise<string[]> {
    const status = await this.node(name).status();
    return status?.phase === phase ? [] : [`${name} is ${status?.phase ?? 'silent'}, and must be ${phase}: ${status?.problems.join('; ') ?? ''}`];
  }

  /** Its daemon is kept up and its watchdog armed. */
  async untilArmed(node: DaemonNode, deadlineMs: number): Promise<string[]> {
    const endsAtMs = performance.now() + deadlineMs;
    for (;;) {
      const status = await node.status();
      if (status?.phase === 'kept' && status.watchdog.state === 'armed' && node.isWatchdogActive) return [];
      if (performance.now() > endsAtMs)
        return [
          `${node.name} is ${status?.phase ?? 'silent'}, its watchdog ${status?.watchdog.state ?? 'unknown'}, and must be kept and armed: ${node.lastWords}`,
        ];
      await pause(LOOK_MS);
    }
  }

  fenceState(): string | undefined {
    return this.#fence?.state;
  }

  isReleased(): boolean {
    return this.#fence?.released !== undefined;
  }

  /** Of the victim; the moment of it. */
  cutPower(): number {
    this.#cluster.cutPower(this.victim);
    this.tell(`the power of ${this.victim} is off`);
    return this.#cluster.now();
  }

  releasedAtMs(): number | undefined {
    return this.#cluster.releasedAtMs(this.victim);
  }

  /** On the clock of the drill, as the API server's audit saw the first write that has it. */
  evidenceAtMs(): number | undefined {
    return this.#cluster.evidenceAtMs(this.victim);
  }

  get #fence(): NodeFenceStatus | undefined {
    return this.#cluster.fence(this.victim);
  }
}
