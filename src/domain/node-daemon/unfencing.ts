/** How far the daemon is with putting the node's storage registrations back (docs/node-daemon.md#unfencing). */
export const UNFENCE_STATES = ['waiting', 'registering', 'ready to recover', 'failed'] as const;
export type UnfenceState = (typeof UNFENCE_STATES)[number];

/** Why it is not ready. A node writes no words for people to read: each has its words here. */
export const UNFENCE_FAILURES = {
  'shut out': 'this boot had its registrations and lost them: it was fenced, and only another boot may register again; reboot the node',
  'grants ended': 'the controllers have ended the grants for this boot; reboot the node',
  'no record': 'what an earlier daemon of this boot did cannot be read; reboot the node',
  unreadable: 'the registered keys cannot be read on every device; see `nodefence node status` on the node',
  'not registered': 'the key could not be registered on every device; see `nodefence node status` on the node',
} as const;
export type UnfenceFailure = keyof typeof UNFENCE_FAILURES;

/** Another try in this boot changes nothing. */
const FINAL: ReadonlySet<UnfenceFailure> = new Set(['shut out', 'grants ended', 'no record']);

export function isFinalFailure(why: UnfenceFailure | undefined): boolean {
  return why !== undefined && FINAL.has(why);
}

/** What a permit is for: one run of one fence, under one leader. */
export interface UnfenceRun {
  /** UID of the NodeFence. */
  fence: string;
  /** The UUID of the run in its journal. */
  run: string;
  /** Of the leader that permits it. */
  epoch: number;
}

/** From the leader, for one boot: put the registrations back. */
export interface Permit extends UnfenceRun {
  bootID: string;
}

/** What the daemon attests of it. Absent in an attestation: the daemon does not unfence. */
export interface AttestedUnfence extends Partial<UnfenceRun> {
  state: UnfenceState;
  /** Without `0x` and leading zeros. */
  key: string;
  devices: string[];
  why?: UnfenceFailure;
}

export interface UnfenceFacts {
  bootID: string;
  nowMs: number;
  /** The last one that came, and how long it holds. */
  permit: (Permit & { untilMs: number }) | undefined;
  /** The highest that permitted anything in this boot. */
  newestEpoch: number;
  areGrantsEnded: boolean;
  /** `lacks`: this boot has been without its registrations since it was first looked; absent: it was not looked yet. */
  record: 'unreadable' | { lacks?: boolean; isRegistering: boolean };
  /** What the devices showed since this permit came, and since anything was last registered. */
  found: 'unread' | 'unknown' | 'registered' | 'missing';
  /** The API server has it, under this very run, that this node may register from now on. */
  isAnnounced: boolean;
}

export type UnfenceStep = { step: 'wait' | 'read' | 'announce' | 'register' | 'ready' } | { step: 'failed'; why: UnfenceFailure };

/**
 * The next thing that a daemon does to unfence its node; the first rule that applies decides. A daemon that starts never unfences by itself: it needs a permit for
 * this very boot, from the leader of now, and a boot that never had its registrations.
 */
export function decideUnfence({ bootID, nowMs, permit, newestEpoch, areGrantsEnded, record, found, isAnnounced }: UnfenceFacts): UnfenceStep {
  if (record === 'unreadable') return { step: 'failed', why: 'no record' };
  if (areGrantsEnded) return { step: 'failed', why: 'grants ended' };
  // Before its first look nobody knows whether this boot has what it needs; and what an earlier process began is settled only when it is read.
  if (record.lacks === undefined || (record.isRegistering && found !== 'registered' && found !== 'missing')) return { step: 'read' };
  if (permit === undefined || permit.bootID !== bootID || permit.epoch < newestEpoch || permit.untilMs <= nowMs) return { step: 'wait' };
  if (found === 'unread' || found === 'unknown') return { step: 'read' };
  if (found === 'registered') return { step: 'ready' };
  if (!record.lacks) return { step: 'failed', why: 'shut out' };
  return { step: isAnnounced ? 'register' : 'announce' };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isUUID(text: string): boolean {
  return UUID.test(text);
}

/** Two UUIDs as the 32 bytes of a datagram's key, in base64url. Throws a TypeError where one is none: a defect of the caller. */
export function packRun({ fence, run }: Pick<UnfenceRun, 'fence' | 'run'>): string {
  if (!isUUID(fence) || !isUUID(run)) throw new TypeError(`${fence} or ${run} is no UUID`);
  const digits = `${fence}${run}`.replaceAll('-', '');
  const bytes = Array.from({ length: digits.length / 2 }, (_, at) => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16));
  return btoa(String.fromCodePoint(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Undefined for whatever is not 32 bytes. */
export function unpackRun(text: string): Pick<UnfenceRun, 'fence' | 'run'> | undefined {
  if (!/^[A-Za-z0-9_-]{43}$/.test(text)) return undefined;
  const bytes = Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.codePointAt(0) ?? 0);
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return { fence: uuidOf(digits.slice(0, 32)), run: uuidOf(digits.slice(32, 64)) };
}

function uuidOf(digits: string): string {
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-');
}
