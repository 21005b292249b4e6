import { hostname } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChildResult, Children } from './children.ts';
import { textOf } from './reading.ts';

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
/** A node with hundreds of pods has a table of hundreds of kilobytes. */
const TABLE_MAX_BYTES = 4_194_304;

export async function probeTarget(ports: ProbePorts, target: StorageTarget, deadlineMs: number): Promise<TargetReading> {
  const { root, children, prober = '' } = ports;
  const path = join(root, target.path);
  if (target.kind === 'mount') {
    const table = await textOf(root, 'proc/self/mountinfo', TABLE_MAX_BYTES);
    if (table === undefined) return { ...target, outcome: { kind: 'not-probed', why: '/proc/self/mountinfo is not there' } };
    if (Buffer.byteLength(table) >= TABLE_MAX_BYTES) return { ...target, outcome: { kind: 'not-probed', why: 'the table of mounts is too long' } };
    const mounted = mountPointsIn(table);
    // A write would go to the disk below, which answers.
    if (!mounted.has(withoutEnd(target.path)) && !mounted.has(withoutEnd(path))) return { ...target, outcome: { kind: 'not-mounted' } };
  }
  const probed = target.kind === 'mount' ? join(path, `${PROBE_FILE}${hostname()}${prober}`) : path;
  const result = await children.run(`storage ${target.kind} ${target.path}`, process.execPath, [CHILD, target.kind, probed], deadlineMs);
  return { ...target, outcome: outcomeOf(result, deadlineMs) };
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

/** Mount points of /proc/self/mountinfo: its fifth field, with blanks and the like as `\040`. */
export function mountPointsIn(table: string): Set<string> {
  const points = new Set<string>();
  for (const line of table.split('\n')) {
    const point = line.split(' ')[4];
    if (point !== undefined)
      points.add(point.replaceAll(/\\([0-7]{3})/gu, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))));
  }
  return points;
}

function withoutEnd(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/u, '') : path;
}
