import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parsePeers, PEERS } from '../../domain/node-daemon/attestation.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { KeepRecord, KeepRecordStore, KnownOthers } from '../../ports/node-daemon.ts';
import { SELF_FENCE_CAUSES } from '../../domain/node-daemon/self-fence.ts';
import type { SelfFenceCause } from '../../domain/node-daemon/self-fence.ts';
import { codeOf } from './file-errors.ts';

/**
 * A file in /run, which is memory: it outlives the process and ends with the boot, so nothing is synced and no disk can hold it up. Written beside the old one
 * and renamed: a reader sees one of the two.
 */
export class KeepRecordFile implements KeepRecordStore {
  readonly #path: string;
  readonly #bootID: string;

  constructor(path: string, bootID: string) {
    this.#path = path;
    this.#bootID = bootID;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }

  async read(): Promise<KeepRecord | undefined> {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    const record = recordOf(text);
    if (record === undefined) throw new Error(`${this.#path} is no record of a node that was kept up; nothing may be assumed of this boot`);
    return record.bootID === this.#bootID ? record : undefined;
  }

  write(record: KeepRecord): void {
    const temporary = `${this.#path}.new`;
    writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
    renameSync(temporary, this.#path);
  }
}

function recordOf(text: string): KeepRecord | undefined {
  const { bootID, keptUntilMs, stoppingSinceMs, stoppingCause, isArmed, times, known } = fieldsOf(text);
  if (typeof bootID !== 'string' || bootID === '' || typeof isArmed !== 'boolean') return undefined;
  if (!isTime(keptUntilMs) || !isTime(stoppingSinceMs) || !isCause(stoppingCause) || !areTimes(times) || !isKnown(known)) return undefined;
  return {
    bootID,
    isArmed,
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
  const { controllerKeys, controllerAddresses, told, accepted, times } = value as Readonly<Record<string, unknown>>;
  if (!areTimes(times)) return false;
  const lists = [controllerKeys, controllerAddresses, accepted];
  if (!lists.every((list) => Array.isArray(list) && list.every((item) => typeof item === 'string'))) return false;
  return parsePeers({ metadata: { annotations: { [PEERS]: JSON.stringify(told ?? null) } } }) !== undefined;
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

/** Empty for whatever is no JSON object. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
