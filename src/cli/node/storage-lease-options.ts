import { InvalidArgumentError } from 'commander';
import type { Option } from 'commander';
import { parseDuration } from '../../config/properties.ts';
import { CLUSTER, INTERVAL_MAX_MS, INTERVAL_MIN_MS, SLOTS_MAX } from '../../domain/node-daemon/storage-lease/layout.ts';
import type { NodeDaemonRun } from '../../node/shell/run.ts';

export interface StorageLeaseFlags {
  storageLease?: string;
  storageLeaseCluster?: string;
  storageLeaseSlot?: number;
  /** Milliseconds. */
  storageLeaseInterval: number;
  storageLeaseLostTimeout?: number;
}

const INTERVAL_MS = 5_000;

export function storageLeaseOptions(option: (flags: string, variable: string, description: string) => Option): Option[] {
  return [
    option(
      '--storage-lease <path>',
      'STORAGE_LEASE',
      'block device or file with slots (storage-lease init), in which this node renews its own',
    ).argParser(absolute),
    option('--storage-lease-cluster <name>', 'STORAGE_LEASE_CLUSTER', 'cluster that it was laid out for; anything else is not written to').argParser(
      clusterName,
    ),
    option('--storage-lease-slot <number>', 'STORAGE_LEASE_SLOT', 'its slot; default: found by its name').argParser(slotNumber),
    option('--storage-lease-interval <duration>', 'STORAGE_LEASE_INTERVAL', 'how often it is renewed').argParser(interval).default(INTERVAL_MS, '5s'),
    option(
      '--storage-lease-lost-timeout <duration>',
      'STORAGE_LEASE_LOST_TIMEOUT',
      'with --self-fence: take this node down when its slot could not be renewed for so long; default: never',
    ).argParser(lostFor),
  ];
}

/** Throws where a flag is missing that another one needs. */
export function storageLeaseOf(flags: StorageLeaseFlags): Pick<NodeDaemonRun, 'storageLease' | 'storageLeaseLostMs'> {
  const { storageLease: path, storageLeaseCluster: cluster, storageLeaseSlot: slot, storageLeaseInterval: intervalMs } = flags;
  const { storageLeaseLostTimeout: lostMs } = flags;
  if (path === undefined) {
    if (lostMs !== undefined || slot !== undefined || cluster !== undefined)
      throw new Error('--storage-lease is missing: the other flags are about it');
    return {};
  }
  if (cluster === undefined) throw new Error('--storage-lease needs --storage-lease-cluster: the name that it was laid out with');
  if (lostMs !== undefined && lostMs < 6 * intervalMs)
    throw new Error('--storage-lease-lost-timeout must be at least six times --storage-lease-interval');
  const storageLease = { path, cluster, intervalMs, ...(slot === undefined ? {} : { slot }) };
  return { storageLease, ...(lostMs === undefined ? {} : { storageLeaseLostMs: lostMs }) };
}

export function absolute(text: string): string {
  if (!text.startsWith('/')) throw new InvalidArgumentError('must be an absolute path.');
  return text;
}

export function clusterName(text: string): string {
  if (!CLUSTER.test(text)) throw new InvalidArgumentError('must be at most 63 letters, digits, dots and hyphens.');
  return text;
}

export function slotNumber(text: string): number {
  const slot = Number(text);
  if (!/^\d{1,4}$/u.test(text) || slot >= SLOTS_MAX) throw new InvalidArgumentError(`must be a whole number under ${SLOTS_MAX}.`);
  return slot;
}

function interval(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < INTERVAL_MIN_MS || ms > INTERVAL_MAX_MS) throw new InvalidArgumentError('must be a duration from 1s to 30s.');
  return ms;
}

/** As for other storage: less is an accident. */
function lostFor(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 60_000 || ms > 3_600_000) throw new InvalidArgumentError('must be a duration from 60s to 1h.');
  return ms;
}
