import { jsonIn } from '../json.ts';

/** One Lease on which every replica writes what it heard, each under an annotation of its own; nobody holds it. */
export const KDUMP_LEASE = 'nodefence-kdump';
const PREFIX = 'kdump.nodefence.ha.k8s.io/';
/** Of a Node: addresses from which its crash kernel may send, beside those of the Node itself. Commas or blanks between them. */
export const KDUMP_ADDRESSES = 'nodefence.ha.k8s.io/kdump-addresses';

/** More dumps at a time are counted and not recorded: whoever can send for so many nodes fills no more than this. */
export const DUMPS_MAX = 128;
export const REPLICAS_MAX = 8;
/** All replicas together stay below what an API server takes, 256 KiB. */
const ANNOTATION_MAX = 30_000;
const NAME_MAX = 253;

export type DumpState = 'STARTED' | 'DUMPING' | 'FINISHED';
const STATES: readonly string[] = ['STARTED', 'DUMPING', 'FINISHED'] satisfies readonly DumpState[];

/** What one replica heard of one node since its kubelet was last heard. Times are RFC 3339, by the clock of that replica. */
export interface DumpRecord {
  /** Where the last message came from. */
  source: string;
  first: string;
  last: string;
  /** From the first message to the last, by the clock that is never set; absent in what older versions wrote. */
  heardForMs?: number;
  count: number;
  state: DumpState;
  /** The host of the replica, for people; absent in what older versions wrote. */
  by?: string;
  /** `bootMark` of the boot that the Node showed then, which is the one that crashed; absent where it showed none, and in what older versions wrote. */
  boot?: string;
}

/** Enough of a boot ID to tell one boot of a node from another: all records together have to fit. */
const BOOT_MARK_LENGTH = 8;

export function bootMark(bootID: string | undefined): string | undefined {
  return bootID === undefined || bootID === '' ? undefined : bootID.slice(0, BOOT_MARK_LENGTH);
}

export function recordKey(replica: string): string {
  return PREFIX + replica;
}

export function isRecordKey(key: string): boolean {
  return key.startsWith(PREFIX);
}

/** As much as is read; `left`: of so many nodes there was no room. */
export function writeRecords(records: ReadonlyMap<string, DumpRecord>): { text: string; left: number } {
  const parts: string[] = [];
  let length = 2;
  for (const [node, record] of records) {
    const part = `${JSON.stringify(node)}:${JSON.stringify(record)}`;
    if (length + part.length + 1 > ANNOTATION_MAX) continue;
    length += part.length + 1;
    parts.push(part);
  }
  return { text: `{${parts.join(',')}}`, left: records.size - parts.length };
}

/** What the other replicas wrote, by replica and node; whatever is not whole is left out, and of too many the oldest. */
export function readRecords(annotations: Readonly<Record<string, string>> | undefined, own: string): Map<string, Map<string, DumpRecord>> {
  const all = Object.entries(annotations ?? {})
    .filter(([key]) => isRecordKey(key) && key !== own)
    .map(([key, text]) => ({ replica: key.slice(PREFIX.length), records: recordsIn(text) }));
  const newest = all.length <= REPLICAS_MAX ? all : all.toSorted((one, other) => lastIn(other.records) - lastIn(one.records)).slice(0, REPLICAS_MAX);
  return new Map(newest.map(({ replica, records }) => [replica, records]));
}

function lastIn(records: ReadonlyMap<string, DumpRecord>): number {
  return Math.max(0, ...[...records.values()].map(({ last }) => Date.parse(last)));
}

function recordsIn(text: string): Map<string, DumpRecord> {
  const records = new Map<string, DumpRecord>();
  const value = text.length > ANNOTATION_MAX ? undefined : jsonIn(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return records;
  for (const [node, part] of Object.entries(value).slice(0, DUMPS_MAX)) {
    const record = recordOf(part);
    if (record !== undefined && node.length <= NAME_MAX) records.set(node, record);
  }
  return records;
}

function recordOf(part: unknown): DumpRecord | undefined {
  if (typeof part !== 'object' || part === null) return undefined;
  const { source, first, last, heardForMs, count, state, by, boot } = part as Readonly<Record<string, unknown>>;
  if (typeof source !== 'string' || !/^[0-9a-f.:]{2,45}$/i.test(source)) return undefined;
  if (typeof first !== 'string' || typeof last !== 'string' || typeof state !== 'string' || !STATES.includes(state)) return undefined;
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) return undefined;
  if (Number.isNaN(Date.parse(first)) || Number.isNaN(Date.parse(last))) return undefined;
  const isLasting = typeof heardForMs === 'number' && Number.isFinite(heardForMs) && heardForMs >= 0;
  const isNamed = typeof by === 'string' && /^[\w.-]{1,253}$/.test(by);
  const isOfBoot = typeof boot === 'string' && boot !== '' && boot.length <= BOOT_MARK_LENGTH;
  return {
    source,
    first,
    last,
    ...(isLasting && { heardForMs }),
    count,
    state: state as DumpState,
    ...(isNamed && { by }),
    ...(isOfBoot && { boot }),
  };
}
