import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../ports/clock.ts';
import { HungChildren } from './hung-children.ts';
import { codeOf } from './reading.ts';

export type ChildResult =
  | { kind: 'ended'; code: number | null; output: string; errors: string }
  /** There is no such program here. */
  | { kind: 'absent' }
  | { kind: 'not-started'; why: string }
  /** Killed at its deadline. `isGone` false: not even SIGKILL ended it, so it was abandoned. */
  | { kind: 'late'; isGone: boolean; output: string }
  /** An earlier one for the same purpose has not ended; no other was started. `hasSpoken` false: it may not even have begun. */
  | { kind: 'still-there'; pid: number; forMs: number; hasSpoken: boolean }
  | { kind: 'too-many'; count: number };

export type Spawn = (program: string, parameters: readonly string[]) => ChildProcess;

export interface ChildrenOptions {
  clock: Clock;
  /** Where the children that run are noted: in /run. */
  stateFolder: string;
  spawn?: Spawn;
  procFolder?: string;
  /** Children that may be there at once, hung ones with them. */
  most?: number;
}

const OUTPUT_MAX = 262_144;
const MOST = 8;
/** Beside those that are named: what asks for paths and mounts. */
const OTHERS = 2;
/** What SIGKILL has not ended by then waits in the kernel. */
const KILL_MS = 500;

/** Runs programs that may hang in the kernel: each has a deadline, and none is waited for after it. At most one for each key. */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #hung: HungChildren;
  readonly #starting = new Set<string>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
    this.#hung = new HungChildren(options.stateFolder, options.procFolder);
  }

  /** `key`: what for, such as the path that is probed. */
  async run(key: string, program: string, parameters: readonly string[], deadlineMs: number): Promise<ChildResult> {
    const { clock, most = MOST } = this.#options;
    const standing = this.#hung.standing();
    const same = standing.find((child) => child.key === key);
    if (same !== undefined) {
      const { pid, startedAtMs, hasSpoken } = same;
      return { kind: 'still-there', pid, hasSpoken, forMs: Math.max(0, clock.bootMs() - startedAtMs) };
    }
    if (this.#starting.has(key)) return { kind: 'still-there', pid: 0, forMs: 0, hasSpoken: false };
    if (standing.length >= most) return { kind: 'too-many', count: standing.length };
    this.#starting.add(key);
    try {
      return await this.#finish(key, program, parameters, deadlineMs);
    } finally {
      this.#starting.delete(key);
    }
  }

  #finish(key: string, program: string, parameters: readonly string[], deadlineMs: number): Promise<ChildResult> {
    const { clock, spawn: start = plainSpawn } = this.#options;
    return new Promise((resolve) => {
      const child = start(program, parameters);
      const said = { output: '', errors: '' };
      let [isLate, isGone] = [false, false];
      let cancel = (): void => undefined;
      const conclude = (result: ChildResult): void => {
        cancel();
        // Neither the child nor its pipes may hold this process.
        child.unref();
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(result);
      };
      child.stdout?.on('data', (data: Buffer) => {
        if (said.output === '') this.#hung.spoke(key);
        said.output = (said.output + data.toString()).slice(0, OUTPUT_MAX);
      });
      child.stderr?.on('data', (data: Buffer) => (said.errors = (said.errors + data.toString()).slice(0, OUTPUT_MAX)));
      child.on('error', (error) =>
        conclude(codeOf(error) === 'ENOENT' ? { kind: 'absent' } : { kind: 'not-started', why: codeOf(error) ?? error.message }),
      );
      child.once('exit', () => {
        isGone = true;
        this.#hung.remove(key, child.pid);
      });
      child.once('close', (code) => conclude(isLate ? { kind: 'late', isGone, output: said.output } : { kind: 'ended', code, ...said }));
      if (child.pid === undefined) return;
      cancel = clock.after(deadlineMs, () => {
        isLate = true;
        child.kill('SIGKILL');
        cancel = clock.after(KILL_MS, () => conclude({ kind: 'late', isGone, output: said.output }));
      });
      this.#hung.add(key, child.pid, clock.bootMs());
    });
  }
}

/** For so many named targets: each is tried beside the others, also where all of them hang. */
export function roomFor(targets: number): number {
  return Math.max(MOST, targets + OTHERS);
}

/** Own pipes: a child that hangs must not hold those of whoever called this program. */
export const plainSpawn: Spawn = (program, parameters) =>
  spawn(program, [...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
  });

/** Why a program said nothing that could be judged, in words; undefined: it ended. */
export function whyNothing(program: string, result: ChildResult): string | undefined {
  switch (result.kind) {
    case 'ended':
      return undefined;
    case 'absent':
      return `${program} is not installed`;
    case 'not-started':
      return `${program} could not be started: ${result.why}`;
    case 'late':
      return `${program} did not end in time`;
    case 'still-there':
      return `an earlier ${program} still hangs (process ${result.pid})`;
    case 'too-many':
      return `${result.count} children hang already`;
  }
}
