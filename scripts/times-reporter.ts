import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule } from 'vitest/node';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LINES_MAX = 25;
const TICKS_PER_SECOND = 100;

/** Set, it makes a run end with a table of what its files took. */
export const TIMES_VARIABLE = 'NODEFENCE_TEST_TIMES';

declare module 'vitest' {
  interface TaskMeta {
    /** What the file's process and the programs that it started and waited for took of a core. */
    cpuMs?: number;
  }
}

export interface FileTimes {
  file: string;
  wallMs: number;
  cpuMs: number;
}

/** User and system time of this process and of its ended children, so far. Without /proc the children are left out. */
export function cpuMsSoFar(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenMs();
}

function childrenMs(): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  // cutime and cstime: the fields 16 and 17, of which the name in brackets is the second.
  return ((Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND) * 1000;
}

/** The files that took longest, those that took most of a core, and what all of them took. */
export function timesTable(files: readonly FileTimes[]): string {
  const line = (wallMs: number, cpuMs: number, name: string): string =>
    `${(wallMs / 1000).toFixed(1).padStart(8)} ${(cpuMs / 1000).toFixed(1).padStart(8)}  ${name}\n`;
  const sum = (key: 'wallMs' | 'cpuMs'): number => files.reduce((total, file) => total + file[key], 0);
  const most = (key: 'wallMs' | 'cpuMs'): string[] =>
    files
      .toSorted((left, right) => right[key] - left[key])
      .slice(0, LINES_MAX)
      .map(({ wallMs, cpuMs, file }) => line(wallMs, cpuMs, file));
  return [
    `${'wall s'.padStart(8)} ${'CPU s'.padStart(8)}  file, by wall time\n`,
    ...most('wallMs'),
    `${'wall s'.padStart(8)} ${'CPU s'.padStart(8)}  file, by CPU time\n`,
    ...most('cpuMs'),
    line(sum('wallMs'), sum('cpuMs'), `${files.length} files together`),
  ].join('');
}

/** Prints the table when it is asked for. */
export class TimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (process.env[TIMES_VARIABLE] === undefined) return;
    const files = modules.map((module) => {
      const { duration, collectDuration, setupDuration, prepareDuration } = module.diagnostic();
      const wallMs = duration + collectDuration + setupDuration + prepareDuration;
      return { file: relative(ROOT, module.moduleId), wallMs, cpuMs: module.meta().cpuMs ?? 0 };
    });
    process.stdout.write(timesTable(files));
  }
}
