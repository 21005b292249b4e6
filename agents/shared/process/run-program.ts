import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { Clock } from '../../../src/ports/clock.ts';
import { BoundedText } from './bounded-text.ts';
import { ProcessTree } from './process-tree.ts';

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const OUTPUT_MAX_BYTES = 65_536;
/** From SIGTERM to SIGKILL; less where the deadline is shorter. */
const GRACE_MS = 500;
/** A process that left its pipes to another, or that even SIGKILL cannot end, is not waited for any longer. */
const LINGER_MS = 500;

export interface ProgramRun {
  /** The program, then its parameters: never a shell, never a secret. A name without slash is looked for in `path`. */
  argv: readonly string[];
  /** Written at once, then closed. Secrets belong here. */
  stdin?: string;
  /** Folders as in the environment variable; absent: this process' own. */
  path?: string;
  clock: Clock;
  signal: AbortSignal;
  /** Everything that was started is killed by then: SIGTERM half a second earlier, SIGKILL at the end. */
  deadlineMs: number;
  /** Bytes kept of each of stdout and stderr; absent: 64 KiB. What comes after them is read and thrown away. */
  outputMaxBytes?: number;
  /** Called in the turn in which the program is started; when it throws nothing is started. For a program that changes a device: `target.beforeSend`. */
  beforeStart?(): void;
}

export interface ProgramResult {
  /** `exited`: by itself. `deadline`, `aborted`: killed. */
  ended: 'exited' | 'deadline' | 'aborted';
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** One of the outputs was longer than is kept. */
  isCut: boolean;
}

/** The program is not there, or may not be run. Nothing was started. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
}

/** The file that a program's name stands for, or undefined where there is none that may be run. */
export function findProgram(name: string, path = searchPath()): string | undefined {
  if (name.includes('/')) return isExecutable(name) ? name : undefined;
  if (name === '') return undefined;
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file));
}

export function searchPath(): string {
  return process.env['PATH'] ?? DEFAULT_PATH;
}

/** All that a child sees of our environment: where programs are, and that it shall speak plainly. */
export function childEnvironment(path: string): Readonly<Record<string, string>> {
  return { PATH: path, LANG: 'C', LC_ALL: 'C' };
}

/** A file that this process may run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

/**
 * Runs one program in a process group of its own until it ends, the deadline passes or the signal aborts; afterwards nothing of it is left, also of
 * what it started itself. Rejects with `NotStarted`, or with what `beforeStart` threw. How it ended is for the caller to judge: an exit code proves
 * nothing.
 */
export async function runProgram(run: ProgramRun): Promise<ProgramResult> {
  const [name, ...parameters] = run.argv;
  if (name === undefined || name === '') throw new NotStarted('no program is named');
  const path = run.path ?? searchPath();
  const file = findProgram(name, path);
  if (file === undefined) throw new NotStarted(`there is no program ${name} that may be run`);
  if (run.signal.aborted) return { ended: 'aborted', code: null, signal: null, stdout: '', stderr: '', isCut: false };
  run.beforeStart?.();
  const child = spawn(file, parameters, { detached: true, cwd: '/', env: childEnvironment(path), stdio: ['pipe', 'pipe', 'pipe'] });
  // A program that ends without reading closes the pipe; that is no failure of its own.
  child.stdin.on('error', () => undefined);
  child.stdin.end(run.stdin ?? '');
  const stdout = new BoundedText(child.stdout, run.outputMaxBytes ?? OUTPUT_MAX_BYTES);
  const stderr = new BoundedText(child.stderr, run.outputMaxBytes ?? OUTPUT_MAX_BYTES);
  const end = await endOf(child, run);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  return { ...end, stdout: stdout.text, stderr: stderr.text, isCut: stdout.isCut || stderr.isCut };
}

type End = Pick<ProgramResult, 'ended' | 'code' | 'signal'>;

function endOf(child: ReturnType<typeof spawn>, { clock, signal, deadlineMs }: ProgramRun): Promise<End> {
  return new Promise((resolve, reject) => {
    const undo: (() => void)[] = [];
    const tree = new ProcessTree(child.pid);
    let ended: End['ended'] = 'exited';
    let exit: Pick<End, 'code' | 'signal'> = { code: null, signal: null };
    const settle = (conclude: () => void): void => {
      for (const step of undo.splice(0)) step();
      conclude();
    };
    const finish = (): void => settle(() => resolve({ ended, ...exit }));
    let isGone = false;
    const later = (delayMs: number, callback: () => void): void => void undo.push(clock.after(delayMs, callback));
    const graceMs = Math.min(GRACE_MS, deadlineMs / 4);
    const kill = (): void => {
      // Once it has been waited for, its id may be somebody else's.
      if (!isGone) tree.kill('SIGKILL');
      later(LINGER_MS, finish);
    };
    const stop = (why: 'deadline' | 'aborted'): void => {
      if (isGone || ended !== 'exited') return;
      ended = why;
      tree.kill('SIGTERM');
      later(graceMs, kill);
    };
    const onAbort = (): void => stop('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    undo.push(() => signal.removeEventListener('abort', onAbort));
    later(deadlineMs - graceMs, () => stop('deadline'));
    child.once('error', (error) => settle(() => reject(new NotStarted(`${child.spawnfile}: ${error.message}`))));
    child.once('exit', (code, by) => {
      exit = { code, signal: by };
      isGone = true;
      tree.kill('SIGKILL');
      later(LINGER_MS, finish);
    });
    child.once('close', finish);
  });
}
