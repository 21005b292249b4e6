import { VERIFIABLE_CONDITIONS } from '../../domain/node-daemon/found-well.ts';
import type { CheckFound } from '../../ports/node-checks.ts';
import { checkInChild } from './child-check.ts';
import type { Children } from './children.ts';
import type { MountsAsked } from './mount-verdict.ts';
import { judgeStorage } from './storage.ts';
import { probeFile, triedOut } from './storage-probe.ts';
import type { TargetReading } from './storage-probe.ts';
import { unknown } from './verdict.ts';

export interface FileSystemsOptions extends MountsAsked {
  /** Ends the name of the file that is written. */
  prober: string;
  /** Of each write, and of the look at the mounts that follows. */
  deadlineMs: number;
}

/**
 * Whether file systems of the node take writes: a block is written to each folder and synced, and then no file system that process 1 of the node has mounted from
 * a disk may be read-only. In this order: a write is what makes the kernel notice.
 */
export async function checkFileSystems(
  { root, children }: { root: string; children: Pick<Children, 'run'> },
  { folders, byDesign, prober, deadlineMs }: FileSystemsOptions,
): Promise<CheckFound> {
  const readings = await Promise.all(
    folders.map(async (path): Promise<TargetReading> => {
      const folder = { kind: 'mount' as const, path };
      return { ...folder, outcome: await triedOut(children, folder, probeFile(path, prober), deadlineMs) };
    }),
  );
  // What is full answers, and shows nothing of whether it takes writes.
  const silent = readings.find(({ outcome }) => outcome.kind !== 'answered');
  if (silent !== undefined) {
    const { health, sentence } = judgeStorage(readings, {});
    return health === 'ok' ? unknown(`nothing can be written to ${silent.path}, which is full`) : { health, sentence };
  }
  const found = await checkInChild(children, ['file-systems', root, JSON.stringify({ folders, byDesign } satisfies MountsAsked)], deadlineMs);
  return found.health === 'ok' ? { ...found, well: VERIFIABLE_CONDITIONS } : found;
}
