import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../ports/clock.ts';
import { HungChildren } from './hung-children.ts';
import { codeOf } from './reading.ts';
import type { TargetOutcome } from './storage-probe.ts';

export type DiskAnswer =
  | { kind: 'done'; bytes: Uint8Array; /** Past the page cache. */ isDirect: boolean }
  | Exclude<TargetOutcome, { kind: 'answered' | 'not-mounted' }>;

/** Sectors of one device or file. Never rejects. */
export interface Disk {
  /** Shorter where the device ends. At most 64 KiB. */
  read(offset: number, length: number, deadlineMs: number): Promise<DiskAnswer>;
  write(offset: number, bytes: Uint8Array, deadlineMs: number): Promise<DiskAnswer>;
}

export type SpawnLines = (program: string, parameters: readonly string[]) => ChildProcess;

export interface LeaseDiskOptions {
  clock: Clock;
  path: string;
  /** Where the child that runs is noted: in /run. */
  stateFolder: string;
  spawn?: SpawnLines;
}

interface Call {
  hasBegun: boolean;
  startedAtMs: number;
  end: (answer: DiskAnswer) => void;
}

export const READ_MAX = 65_536;
/** Compiled, it has the other extension. */
const CHILD = fileURLToPath(new URL(`./lease-child${extname(import.meta.url)}`, import.meta.url));
/** A whole answer in base64, and room. */
const LINE_MAX = 2 * READ_MAX;

/** One child that reads and writes, for as long as it answers in time. One that hangs is killed, and no other is started before it is gone: never do two write. */
export class LeaseDisk implements Disk {
  readonly #options: LeaseDiskOptions;
  readonly #hung: HungChildren;
  readonly #key: string;
  #child: ChildProcess | undefined;
  #call: Call | undefined;
  #text = '';
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Since when a child waits for the storage that not even SIGKILL ends. */
  #silentSinceMs: number | undefined;

  constructor(options: LeaseDiskOptions) {
    this.#options = options;
    this.#hung = new HungChildren(options.stateFolder);
    this.#key = `lease ${options.path}`;
  }

  read(offset: number, length: number, deadlineMs: number): Promise<DiskAnswer> {
    return this.#ask(`read ${offset} ${length}`, deadlineMs);
  }

  write(offset: number, bytes: Uint8Array, deadlineMs: number): Promise<DiskAnswer> {
    return this.#ask(`write ${offset} ${Buffer.from(bytes).toString('base64')}`, deadlineMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  /** One after the other; each has the whole of its deadline. */
  #ask(line: string, deadlineMs: number): Promise<DiskAnswer> {
    const answer = this.#turn.then(async () => this.#answer(line, deadlineMs)).catch((error: unknown) => this.#broken(error));
    this.#turn = answer;
    return answer;
  }

  #answer(line: string, deadlineMs: number): Promise<DiskAnswer> {
    const { clock } = this.#options;
    const refused = this.#isClosed ? ({ kind: 'not-probed', why: 'the daemon stops' } as const) : this.#start();
    if (refused !== undefined) return Promise.resolve(refused);
    return new Promise((resolve) => {
      const startedAtMs = clock.monotonicMs();
      const cancel = clock.after(deadlineMs, () => this.#late(deadlineMs));
      this.#call = {
        hasBegun: false,
        startedAtMs,
        end: (answer) => {
          cancel();
          this.#call = undefined;
          resolve(answer);
        },
      };
      // A child that has just ended is told by its exit.
      this.#child?.stdin?.write(`${line}\n`);
    });
  }

  /** Undefined: a child is there. */
  #start(): DiskAnswer | undefined {
    if (this.#child !== undefined) return undefined;
    const { clock, path, spawn: start = plainSpawn } = this.#options;
    const standing = this.#hung.standing().find(({ key }) => key === this.#key);
    if (standing !== undefined) {
      if (!standing.hasSpoken) return { kind: 'not-probed', why: 'the probe did not get to run' };
      return { kind: 'silent', forMs: clock.monotonicMs() - (this.#silentSinceMs ??= clock.monotonicMs()) };
    }
    this.#silentSinceMs = undefined;
    this.#text = '';
    const child = start(process.execPath, [CHILD, path]);
    this.#child = child;
    child.stdout?.on('data', (data: Buffer) => this.#hear(child, data.toString()));
    // What a child that has ended is told is lost.
    child.stdin?.on('error', () => undefined);
    child.once('error', (error) => this.#gone(child, `the probe cannot be started: ${codeOf(error) ?? error.message}`));
    child.once('exit', () => {
      this.#hung.remove(this.#key, child.pid);
      this.#gone(child, 'the probe ended without a word');
    });
    child.unref();
    if (child.pid !== undefined) this.#hung.add(this.#key, child.pid, clock.bootMs());
    return undefined;
  }

  /** A child that cannot be noted does not stay: if it hung, nobody would know, and start another one. */
  #broken(error: unknown): DiskAnswer {
    this.#drop();
    return { kind: 'not-probed', why: `what runs cannot be noted: ${codeOf(error) ?? String(error)}` };
  }

  #hear(child: ChildProcess, text: string): void {
    if (child !== this.#child) return;
    this.#text += text;
    for (let end = this.#text.indexOf('\n'); end !== -1; end = this.#text.indexOf('\n')) {
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 1);
      this.#line(line);
    }
    if (this.#text.length > LINE_MAX) this.#drop();
  }

  #line(line: string): void {
    const call = this.#call;
    if (call === undefined) return;
    const [what, first = '', second = ''] = line.split(' ');
    if (what === 'begins') {
      call.hasBegun = true;
      this.#hung.spoke(this.#key);
    } else if (what === 'done') call.end({ kind: 'done', isDirect: first === 'direct', bytes: Buffer.from(second, 'base64') });
    else if (/^E[A-Z0-9]{1,20}$/u.test(first)) call.end({ kind: 'refused', code: first, step: second });
  }

  #late(deadlineMs: number): void {
    const call = this.#call;
    this.#silentSinceMs ??= call?.startedAtMs;
    this.#drop();
    call?.end(call.hasBegun ? { kind: 'silent', forMs: deadlineMs } : { kind: 'not-probed', why: 'the probe did not get to run' });
  }

  /** It may not end of it; then it stays noted, and no other is started. */
  #drop(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGKILL');
    child?.stdin?.destroy();
    child?.stdout?.destroy();
  }

  #gone(child: ChildProcess, why: string): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    this.#call?.end({ kind: 'not-probed', why });
  }
}

/** Own pipes, and nothing of what this process knows. */
const plainSpawn: SpawnLines = (program, parameters) =>
  spawn(program, [...process.execArgv.filter((argument) => argument === '--lite-mode'), ...parameters], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
  });
