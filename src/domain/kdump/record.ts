/** One Lease on which every replica writes what it heard, each under an annotation of its own; nobody holds it. */
export const KDUMP_LEASE = 'nodefence-kdump';
const PREFIX = 'kdump.nodefence.ha.k8s.io/';
/** Of a Node: addresses from which its crash kernel may send, beside those of the Node itself. Commas or blanks between them. */
export const KDUMP_ADDRESSES = 'nodefence.ha.k8s.io/kdump-addresses';

/** More dumps at a time are counted and not recorded: whoever can send for so many nodes fills no more than this. */
export const DUMPS_MAX = 128;
export const REPLICAS_MAX = 8;
const ANNOTATION_MAX = 48_000;
const NAME_MAX = 253;

export type DumpState = 'STARTED' | 'DUMPING' | 'FINISHED';
const STATES: readonly string[] = ['STARTED', 'DUMPING', 'FINISHED'] satisfies readonly DumpState[];

/** What one replica heard of one node since its kubelet was last heard. Times are RFC 3339, by the clock of that replica. */
export interface DumpRecord {
  /** Where the last message came from. */
  source: string;
  first: string;
  last: string;
  count: number;
  state: DumpState;
}

export function recordKey(replica: string): string {
  return PREFIX + replica;
}

export function writeRecords(records: ReadonlyMap<string, DumpRecord>): string {
  return JSON.stringify(Object.fromEntries(records));
}

/** What the other replicas wrote, by replica and node; whatever is not whole is left out. */
export function readRecords(annotations: Readonly<Record<string, string>> | undefined, own: string): Map<string, Map<string, DumpRecord>> {
  const found = new Map<string, Map<string, DumpRecord>>();
  for (const [key, text] of Object.entries(annotations ?? {})) {
    if (!key.startsWith(PREFIX) || key === own || found.size >= REPLICAS_MAX) continue;
    found.set(key.slice(PREFIX.length), recordsIn(text));
  }
  return found;
}

function recordsIn(text: string): Map<string, DumpRecord> {
  const records = new Map<string, DumpRecord>();
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return records;
  for (const [node, part] of Object.entries(value).slice(0, DUMPS_MAX)) {
    const record = recordOf(part);
    if (record !== undefined && node.length <= NAME_MAX) records.set(node, record);
  }
  return records;
}

function parsed(text: string): unknown {
  if (text.length > ANNOTATION_MAX) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function recordOf(part: unknown): DumpRecord | undefined {
  if (typeof part !== 'object' || part === null) return undefined;
  const { source, first, last, count, state } = part as Readonly<Record<string, unknown>>;
  if (typeof source !== 'string' || !/^[0-9a-f.:]{2,45}$/i.test(source)) return undefined;
  if (typeof first !== 'string' || typeof last !== 'string' || typeof state !== 'string' || !STATES.includes(state)) return undefined;
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) return undefined;
  return Number.isNaN(Date.parse(first)) || Number.isNaN(Date.parse(last)) ? undefined : { source, first, last, count, state: state as DumpState };
}
