import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Clock ticks of /proc; 100 on every Linux that Node runs on (sysconf(_SC_CLK_TCK)). */
const TICKS_PER_SECOND = 100;
const PEER_MAX_MS = 60_000;

/** A program that does the same work, and how it is told: nothing secret is on its command line but where the program knows no other way. */
export interface Peer {
  command: string;
  args: readonly string[];
  input?: string;
  /** Exit code that means that it did what it was told. */
  code?: number;
}

/** Runs it to its end and resolves with the milliseconds that took; rejects when it did not do its work, for then its time is worth nothing. */
export async function runPeer({ command, args, input = '', code = 0 }: Peer): Promise<number> {
  const began = performance.now();
  const said: string[] = [];
  const ended = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'pipe'], timeout: PEER_MAX_MS });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    child.once('error', reject);
    child.once('close', resolve);
    // A program that ends without reading is no error here.
    child.stdin.on('error', () => undefined).end(input);
  });
  if (ended !== code) throw new Error(`${command} ended with ${ended ?? 'a signal'}: ${said.join('').slice(-500)}`);
  return performance.now() - began;
}

/** CPU milliseconds of this process, and of every child that has ended; those of children come in ticks. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const ticks = fields.slice(13, 15).reduce((sum, field) => sum + Number(field), 0);
  return (user + system) / 1_000 + (ticks * 1_000) / TICKS_PER_SECOND;
}

/** `work` for each item, so many at a time; resolves with wall and CPU milliseconds. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<{ wallMs: number; cpuMs: number }> {
  const [began, cpuBefore] = [performance.now(), cpuMs()];
  const waiting = [...items];
  const one = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, one));
  return { wallMs: performance.now() - began, cpuMs: cpuMs() - cpuBefore };
}

/** Milliseconds of each of `times` runs, one after the other. */
export async function samplesOf(times: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const began = performance.now();
    await work(index);
    samples.push(performance.now() - began);
  }
  return samples;
}
