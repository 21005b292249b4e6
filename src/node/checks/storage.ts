import { readStoragePaths } from './storage-paths.ts';
import type { PathPorts, StoragePaths } from './storage-paths.ts';
import { probeTarget } from './storage-probe.ts';
import type { StorageTarget, TargetReading } from './storage-probe.ts';
import { counted, ok, problem, quoted, unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export interface StorageVerdict extends Verdict {
  reach: 'reachable' | 'lost' | 'unknown';
}

export interface StorageOptions {
  targets: readonly StorageTarget[];
  deadlineMs: number;
}

/** The storage does not answer for this node, or does not let it write. EBADE is a reservation that another node holds, EROFS what a file system makes of errors. */
const LOST = new Set(
  'EIO ENXIO ENODEV ENODATA EREMOTEIO ETIMEDOUT EHOSTDOWN EHOSTUNREACH ENETUNREACH ECONNREFUSED ENOTCONN ESHUTDOWN ESTALE EROFS EBADE ENOLINK EILSEQ ENOMEDIUM EUCLEAN'.split(
    ' ',
  ),
);
/** It answered: there is no room. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

export async function checkStorage(ports: PathPorts, { targets, deadlineMs }: StorageOptions): Promise<StorageVerdict> {
  const [paths, ...readings] = await Promise.all([
    readStoragePaths(ports, deadlineMs),
    ...targets.map(async (target) => probeTarget(ports, target, deadlineMs)),
  ]);
  return judgeStorage(readings, paths);
}

/**
 * What a probe says of its target for one that takes the node down: less than for a condition. Where nothing is mounted, nothing of the workload writes
 * through it.
 */
export function reachOf({ outcome }: TargetReading): StorageVerdict['reach'] {
  if (outcome.kind === 'not-mounted') return 'unknown';
  return judgeTarget({ kind: 'mount', path: '', outcome }).reach;
}

/** What is named decides. States of paths decide only where nothing is named: a map that nobody uses may have lost its paths for years. */
export function judgeStorage(readings: readonly TargetReading[], paths: StoragePaths): StorageVerdict {
  if (readings.length === 0) return judgePaths(paths);
  const judged = readings.map((reading) => judgeTarget(reading));
  const lost = judged.filter(({ reach }) => reach === 'lost');
  const worst = lost[0] ?? judged.find(({ reach }) => reach === 'unknown');
  if (worst === undefined) return reachable(`${counted(judged.length, 'storage target')} answered`, wordsOf(paths));
  const others = lost.length > 1 ? `; ${lost.length} of ${judged.length} are lost` : '';
  const sentence = `${worst.sentence}${others}`;
  return worst.reach === 'lost' ? { ...problem(withPaths(sentence, paths)), reach: 'lost' } : worst;
}

function judgeTarget({ path, outcome }: TargetReading): StorageVerdict {
  const name = quoted(path, 200);
  switch (outcome.kind) {
    case 'answered':
      return reachable(`${name} answered`, '');
    case 'silent':
      return { ...problem(`no answer for ${Math.round(outcome.forMs / 100) / 10} s: ${name}`), reach: 'lost' };
    case 'not-mounted':
      return { ...problem(`not mounted: ${name}`), reach: 'lost' };
    case 'not-probed':
      return { ...unknown(`${outcome.why} (${name})`), reach: 'unknown' };
    case 'refused': {
      const { code, step } = outcome;
      if (FULL.has(code)) return reachable(`${name} answered that it is full`, '');
      if (LOST.has(code)) return { ...problem(`${step} fails with ${code}: ${name}`), reach: 'lost' };
      return { ...unknown(`${step} fails with ${code} (${name})`), reach: 'unknown' };
    }
  }
}

function judgePaths(paths: StoragePaths): StorageVerdict {
  const { maps = [], multipathUnknown, fc, iscsi } = paths;
  const dead = maps.find(({ usable }) => usable === 0);
  if (dead !== undefined) return { ...problem(`no usable path of ${counted(dead.paths, 'path')}: ${quoted(dead.name)}`), reach: 'lost' };
  for (const [noun, ways] of [['FC port', fc] as const, ['iSCSI session', iscsi] as const])
    if (ways?.up === 0) return { ...problem(`no ${noun} of ${ways.total} is up`), reach: 'lost' };
  if (multipathUnknown !== undefined) return { ...unknown(multipathUnknown), reach: 'unknown' };
  const words = wordsOf(paths);
  if (words === '') return { ...unknown('no mount or device is named, and there is no multipath, FC or iSCSI'), reach: 'unknown' };
  return reachable(words, '');
}

function reachable(sentence: string, more: string): StorageVerdict {
  return { ...ok(more === '' ? sentence : `${sentence}; ${more}`), reach: 'reachable' };
}

function withPaths(sentence: string, paths: StoragePaths): string {
  const words = wordsOf(paths);
  return words === '' ? sentence : `${sentence}; ${words}`;
}

/** `3 of 4 paths up, 2 of 2 FC ports up`. */
function wordsOf({ maps = [], fc, iscsi }: StoragePaths): string {
  const sum = (count: (map: (typeof maps)[number]) => number): number => maps.reduce((total, map) => total + count(map), 0);
  const ways = [
    ['path', maps.length === 0 ? undefined : { total: sum(({ paths }) => paths), up: sum(({ usable }) => usable) }],
    ['FC port', fc],
    ['iSCSI session', iscsi],
  ] as const;
  return ways.flatMap(([noun, count]) => (count === undefined ? [] : [`${count.up} of ${counted(count.total, noun)} up`])).join(', ');
}
