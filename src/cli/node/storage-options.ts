import { InvalidArgumentError } from 'commander';
import type { Option } from 'commander';
import { parseDuration } from '../../config/properties.ts';
import type { NodeDaemonRun } from '../../node/shell/run.ts';

export interface StorageFlags {
  storageMount: string[];
  storageDevice: string[];
  /** Milliseconds. */
  storageLostTimeout?: number;
}

/** Of each kind: each is a process of its own every half minute. */
const STORAGE_MAX = 6;

export function storageOptions(option: (flags: string, variable: string, description: string) => Option): Option[] {
  return [
    option('--storage-mount <paths>', 'STORAGE_MOUNT', 'mount points of shared storage, which are probed')
      .argParser(absolutePaths(STORAGE_MAX))
      .default([], 'none'),
    option('--storage-device <paths>', 'STORAGE_DEVICE', 'block devices of shared storage, which are probed')
      .argParser(absolutePaths(STORAGE_MAX))
      .default([], 'none'),
    option(
      '--storage-lost-timeout <duration>',
      'STORAGE_LOST_TIMEOUT',
      'with --self-fence: take this node down when one of them did not answer for so long; default: never',
    ).argParser(lostFor),
  ];
}

export function storageOf({ storageMount, storageDevice, storageLostTimeout }: StorageFlags): Pick<NodeDaemonRun, 'storage' | 'storageLostMs'> {
  const storage = [
    ...storageMount.map((path) => ({ kind: 'mount' as const, path })),
    ...storageDevice.map((path) => ({ kind: 'device' as const, path })),
  ];
  return { storage, ...(storageLostTimeout === undefined ? {} : { storageLostMs: storageLostTimeout }) };
}

/** Given several times, or several with commas between them. */
export function absolutePaths(most: number): (text: string, before?: readonly string[]) => string[] {
  return (text, before = []) => {
    const given = text.split(',').filter((path) => path !== '');
    if (given.some((path) => !path.startsWith('/'))) throw new InvalidArgumentError('must be absolute paths.');
    if (before.length + given.length > most) throw new InvalidArgumentError(`must be at most ${most} paths.`);
    return [...before, ...given];
  };
}

/** Fewer than three probes are an accident, and there is one each half minute. */
function lostFor(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 60_000 || ms > 3_600_000) throw new InvalidArgumentError('must be a duration from 60s to 1h.');
  return ms;
}
