import { hostname } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChildResult, Children } from './children.ts';
import { mountsAt } from './mount-table.ts';

export interface StorageTarget {
  kind: 'mount' | 'device';
  path: string;
}

export type TargetOutcome =
  | { kind: 'answered' }
  | { kind: 'refused'; code: string; step: string }
  /** No answer within the deadline; `forMs` where an earlier probe still waits. */
  | { kind: 'silent'; forMs: number }
  /** A mount point on which nothing is mounted. */
  | { kind: 'not-mounted' }
  | { kind: 'not-probed'; why: string };

export interface TargetReading extends StorageTarget {
  outcome: TargetOutcome;
}

export interface ProbePorts {
  root: string;
  children: Pick<Children, 'run'>;
  /** Ends the name of the file that is written; two who probe one mount must not write to one file. */
  prober?: string;
}

const BEGINS = 'begins\n';
/** A machine that is too busy to start a process says nothing of its storage. */
const NOT_BEGUN: TargetOutcome = { kind: 'not-probed', why: 'the probe did not get to run' };
/** Compiled, it has the other extension. */
const CHILD = fileURLToPath(new URL(`./storage-child${extname(import.meta.url)}`, import.meta.url));
/** Several nodes may write to one mount: each has a file of its own. */
const PROBE_FILE = '.nodefence-probe-';

export async function probeTarget(ports: ProbePorts, target: StorageTarget, deadlineMs: number): Promise<TargetReading> {
  const { root, children, prober = '' } = ports;
  const path = join(root, target.path);
  if (target.kind === 'mount') {
    const table = await mountsAt(root, 'proc/self/mountinfo');
    if ('why' in table) return { ...target, outcome: { kind: 'not-probed', why: table.why } };
    const mounted = new Set(table.mounts.map(({ point }) => point));
    // A write would go to the disk below, which answers.
    if (!mounted.has(withoutEnd(target.path)) && !mounted.has(withoutEnd(path))) return { ...target, outcome: { kind: 'not-mounted' } };
  }
  const probed = target.kind === 'mount' ? probeFile(path, prober) : path;
  return { ...target, outcome: await triedOut(children, target, probed, deadlineMs) };
}

/** Two who try one folder must not write to one file. */
export function probeFile(folder: string, prober: string): string {
  return join(folder, `${PROBE_FILE}${hostname()}${prober}`);
}

/** A block is written to that file, synced and read back; of a device the first one is read. In a process that can be killed. */
export async function triedOut(
  children: ProbePorts['children'],
  { kind, path }: StorageTarget,
  probed: string,
  deadlineMs: number,
): Promise<TargetOutcome> {
  return outcomeOf(await children.run(`storage ${kind} ${path}`, process.execPath, [CHILD, kind, probed], deadlineMs), deadlineMs);
}

export function outcomeOf(result: ChildResult, deadlineMs: number): TargetOutcome {
  switch (result.kind) {
    case 'late':
      // It may have answered in time, and this process was not there to hear it.
      return saidIn(result.output) ?? (result.output === BEGINS ? { kind: 'silent', forMs: deadlineMs } : NOT_BEGUN);
    case 'still-there':
      return result.hasSpoken ? { kind: 'silent', forMs: result.forMs } : NOT_BEGUN;
    case 'too-many':
      return { kind: 'not-probed', why: `${result.count} probes hang already` };
    case 'absent':
      return { kind: 'not-probed', why: 'the probe cannot be started' };
    case 'not-started':
      return { kind: 'not-probed', why: `the probe cannot be started: ${result.why}` };
    case 'ended':
      return saidIn(result.output) ?? { kind: 'not-probed', why: 'the probe ended without a word' };
  }
}

/** Undefined: it said no whole answer. */
function saidIn(output: string): TargetOutcome | undefined {
  const [, code, step] = /^begins\nrefused (E[A-Z0-9]{1,20}) (open|write|sync|read)\n$/u.exec(output) ?? [];
  if (output === `${BEGINS}answered\n`) return { kind: 'answered' };
  return code === undefined || step === undefined ? undefined : { kind: 'refused', code, step };
}

function withoutEnd(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/u, '') : path;
}
