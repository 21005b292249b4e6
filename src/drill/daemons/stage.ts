import { daemonTiming } from '../../domain/node-daemon/times.ts';
import { evidenceAtMs, releasedAtMs } from './fence-trace.ts';
import type { PlayedCluster, PlayedNode } from './played.ts';
import { rackOfFirst, TIMES } from './times.ts';

const LOOK_MS = 100;

/** What a fault of daemons is played on. */
export class DaemonStage {
  readonly #cluster: PlayedCluster;
  readonly victim: string;
  readonly tell: (line: string) => void;

  constructor(cluster: PlayedCluster, victim: string, tell: (line: string) => void) {
    this.#cluster = cluster;
    this.victim = victim;
    this.tell = tell;
  }

  get nodes(): readonly PlayedNode[] {
    return this.#cluster.nodes;
  }

  get controllers(): readonly string[] {
    return this.#cluster.controllers;
  }

  /** Two nodes of one failure domain. */
  get rack(): readonly string[] {
    return rackOfFirst(this.#cluster.nodeNames);
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

  node(name: string): PlayedNode {
    const node = this.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  cut(one: string, others: readonly string[]): void {
    for (const other of others) this.#cluster.cut(one, other);
    this.tell(`${one} is cut off from ${others.join(', ')}`);
  }

  heal(one: string, others: readonly string[]): void {
    for (const other of others) this.#cluster.heal(one, other);
    this.tell(`${one} reaches ${others.join(', ')} again`);
  }

  pause(ms: number): Promise<void> {
    return this.#cluster.pause(ms);
  }

  endControlPlane(): void {
    this.#cluster.endControlPlane();
    this.tell('the API server and the controllers are gone');
  }

  /** What is missing after `deadlineMs`, in words; empty: it came. */
  async until(what: string, deadlineMs: number, isSo: () => boolean): Promise<string[]> {
    const endsAtMs = this.#cluster.now() + deadlineMs;
    while (!isSo()) {
      if (this.#cluster.now() > endsAtMs) return [`${what}: not within ${String(deadlineMs / 1_000)} s. ${this.node(this.victim).lastWords}`];
      await this.pause(LOOK_MS);
    }
    return [];
  }

  async expectPhase(name: string, phase: string): Promise<string[]> {
    const status = await this.node(name).status();
    return status?.phase === phase ? [] : [`${name} is ${status?.phase ?? 'silent'}, and must be ${phase}: ${status?.problems.join('; ') ?? ''}`];
  }

  /** Its daemon is kept up and its watchdog armed. */
  async untilArmed(node: PlayedNode, deadlineMs: number): Promise<string[]> {
    const endsAtMs = this.#cluster.now() + deadlineMs;
    for (;;) {
      const status = await node.status();
      if (status?.phase === 'kept' && status.watchdog.state === 'armed' && node.isWatchdogActive) return [];
      if (this.#cluster.now() > endsAtMs)
        return [
          `${node.name} is ${status?.phase ?? 'silent'}, its watchdog ${status?.watchdog.state ?? 'unknown'}, and must be kept and armed: ${node.lastWords}`,
        ];
      await this.pause(LOOK_MS);
    }
  }

  fenceState(node = this.victim): string | undefined {
    return this.#cluster.fence(node)?.state;
  }

  isReleased(node = this.victim): boolean {
    return this.#cluster.fence(node)?.released !== undefined;
  }

  /** Of the victim; the moment of it. */
  cutPower(): number {
    this.#cluster.cutPower(this.victim);
    this.tell(`the power of ${this.victim} is off`);
    return this.#cluster.now();
  }

  releasedAtMs(): number | undefined {
    return releasedAtMs(this.#cluster.audit(), this.victim);
  }

  /** On the clock of the drill, as the API server's audit saw the first write that has it. */
  evidenceAtMs(node = this.victim): number | undefined {
    return evidenceAtMs(this.#cluster.audit(), node);
  }
}
