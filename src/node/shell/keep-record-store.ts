import { parsePeers, PEERS } from '../../domain/node-daemon/attestation.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { KeepRecord, KeepRecordStore, KnownOthers } from '../../ports/node-daemon.ts';
import { SELF_FENCE_CAUSES } from '../../domain/node-daemon/self-fence.ts';
import type { SelfFenceCause } from '../../domain/node-daemon/self-fence.ts';
import { BootRecordFile } from './boot-record-file.ts';
import type { RecordFields } from './boot-record-file.ts';

/** What keeps the node up, and what a daemon that is started anew must not forget. */
export class KeepRecordFile implements KeepRecordStore {
  readonly #file: BootRecordFile<KeepRecord>;

  constructor(path: string, bootID: string) {
    const problem = 'is no record of a node that was kept up; nothing may be assumed of this boot';
    this.#file = new BootRecordFile(path, bootID, { parse: recordOf, problem });
  }

  async read(): Promise<KeepRecord | undefined> {
    return this.#file.read();
  }

  write(record: KeepRecord): void {
    this.#file.write(record);
  }
}

function recordOf(fields: RecordFields): KeepRecord | undefined {
  const { bootID, keptUntilMs, stoppingSinceMs, stoppingCause, isArmed, device, asleepMs, fencesItself, times, known } = fields;
  if (typeof bootID !== 'string' || typeof isArmed !== 'boolean') return undefined;
  if (fencesItself !== undefined && typeof fencesItself !== 'boolean') return undefined;
  if (device !== undefined && (typeof device !== 'string' || !/^\/dev\/watchdog\d*$/.test(device))) return undefined;
  if (!isTime(keptUntilMs) || !isTime(stoppingSinceMs) || !isTime(asleepMs) || !isCause(stoppingCause) || !areTimes(times) || !isKnown(known))
    return undefined;
  return {
    bootID,
    isArmed,
    ...(device === undefined ? {} : { device }),
    ...(asleepMs === undefined ? {} : { asleepMs }),
    ...(fencesItself === undefined ? {} : { fencesItself }),
    ...(keptUntilMs === undefined ? {} : { keptUntilMs }),
    ...(stoppingSinceMs === undefined ? {} : { stoppingSinceMs }),
    ...(times === undefined ? {} : { times }),
    ...(stoppingCause === undefined ? {} : { stoppingCause }),
    ...(known === undefined ? {} : { known }),
  };
}

/** What this program wrote; its peers are parsed as those of the API server are. */
function isKnown(value: unknown): value is KnownOthers | undefined {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  const { controllerKeys, controllerAddresses, told, accepted, times, counted } = value as Readonly<Record<string, unknown>>;
  if (!areTimes(times) || !areCounted(counted)) return false;
  const lists = [controllerKeys, controllerAddresses, accepted];
  if (!lists.every((list) => Array.isArray(list) && list.every((item) => typeof item === 'string'))) return false;
  return parsePeers({ metadata: { annotations: { [PEERS]: JSON.stringify(told ?? null) } } }) !== undefined;
}

function areCounted(value: unknown): value is KnownOthers['counted'] {
  return value === undefined || (Array.isArray(value) && value.every(isCounted));
}

function isCounted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { domain, peers } = value as Readonly<Record<string, unknown>>;
  return isDomain(domain) && Array.isArray(peers) && peers.every(isPeer);
}

function isPeer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { node, domain } = value as Readonly<Record<string, unknown>>;
  return typeof node === 'string' && isDomain(domain);
}

function isDomain(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function areTimes(value: unknown): value is WrittenTimes | undefined {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.values(value).every((ms) => typeof ms === 'number' && Number.isInteger(ms) && ms > 0);
}

function isCause(value: unknown): value is SelfFenceCause | undefined {
  return value === undefined || SELF_FENCE_CAUSES.some((cause) => cause === value);
}

function isTime(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isFinite(value));
}
