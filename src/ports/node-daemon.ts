import type { PeersTold } from '../domain/node-daemon/attestation.ts';
import type { CountedPeers } from '../domain/node-daemon/peers.ts';
import type { OrderedAction, OrderOutcome } from '../domain/node-daemon/order.ts';
import type { SelfFenceCause } from '../domain/node-daemon/self-fence.ts';
import type { WrittenTimes } from '../domain/node-daemon/times.ts';
import type { Mac } from '../domain/node-daemon/seal.ts';

/** What the node-local daemon reaches the world through (docs/adr/0012-node-daemons-authenticate-by-keys-in-the-api.md). Times are milliseconds. */

/** UDP. Nothing is promised: datagrams are lost, doubled and late. */
export interface DatagramSocket {
  /** Where others reach it: `192.0.2.7:7411`, `[2001:db8::7]:7411`. */
  readonly address: string;
  /** Never throws and never waits; what cannot be sent is counted by the shell, and is as good as lost. */
  send(address: string, bytes: Uint8Array): void;
  /** One receiver; it must not throw. */
  receive(handle: (bytes: Uint8Array, from: string) => void): void;
  close(): void;
}

/** X25519 (RFC 7748): each daemon has a key pair of its own; two of them derive one secret that nobody else has. */
export interface ExchangeKeys {
  /** 32 bytes in base64url. */
  readonly publicKey: string;
  /** The MAC of this daemon and the one with that public key. Throws a TypeError where it is no key. */
  macWith(publicKey: string): Mac;
}

/** Key pairs that outlive their process: the controllers share one. */
export interface ExchangeKeyPairs {
  /** The private half of a new one, as JWK (RFC 8037): text that nobody else may see. */
  generate(): string;
  /** Throws a TypeError where it is no such key; its message says nothing of it. */
  load(privateKey: string): ExchangeKeys;
}

/** What is known of a watchdog before it is opened, from sysfs. */
export interface WatchdogFacts {
  /** `/dev/watchdog0`. */
  device: string;
  /** What the driver calls itself: `iTCO_wdt`, `Software Watchdog`. */
  identity: string;
  kind: 'hardware' | 'soft';
  action: string;
  isPausable: boolean;
  /** What the driver really waits, which may differ from what was asked for. */
  timeoutMs: number;
  /** The driver cannot be disarmed once it is open. */
  isNowayout: boolean;
  /**
   * It goes on counting when the process that feeds it dies: the driver knows the magic close (WDIOF_MAGICCLOSE, 0x0100 of `options`) or cannot be disarmed.
   * A driver without either stands still at every close. Absent: this kernel has no `options` in sysfs, so it is known once it was opened.
   */
  outlivesClose?: boolean;
}

export interface WatchdogDevice {
  /** Undefined: there is none, or it may not be used; `why` of `problem` says it in words. */
  facts(): Promise<WatchdogFacts | { problem: string }>;
  /** Opening arms it. Rejects when it is held by another program. */
  open(timeoutMs: number): Promise<void>;
  /** One write, in the same synchronous turn. Throws when the driver refuses it. */
  feed(): void;
  /** Magic close: the watchdog stands still afterwards. Rejects where the driver cannot. */
  disarm(): Promise<void>;
}

/** The pods of the node. */
export interface WorkloadStopper {
  /** Ends every process of the workload: gently first, by force before `deadlineMs` is over. `running`: something may still run. */
  stop(deadlineMs: number, signal: AbortSignal): Promise<'stopped' | 'running'>;
}

export interface MachineReset {
  /** Resets the machine at once, without asking anything that may hang. Returns only where nothing could be done. */
  reset(cause: string): void;
}

/** What must outlive the daemon's process, but not the boot: a file in /run, written before what it says is relied on. */
export interface KeepRecord {
  bootID: string;
  /** End of the last grant or vouches, on the boot's monotonic clock. */
  keptUntilMs?: number;
  stoppingSinceMs?: number;
  stoppingCause?: SelfFenceCause;
  /** The watchdog was opened and not disarmed. */
  isArmed: boolean;
  /** Which, as `/dev/watchdog0`. Absent: none is armed, or written by an older version. */
  device?: string;
  /** How long the machine had slept by then, as the two clocks show it; absent: written by an older version. */
  asleepMs?: number;
  /** The node fences itself, as others count on while it is armed; absent: written by an older version. */
  fencesItself?: boolean;
  /** With which others count while it is armed; absent: written by an older version. */
  times?: WrittenTimes;
  /** What the API server said last: a daemon that is started anew while it is away goes on with it. */
  known?: KnownOthers;
}

/** What a daemon must not forget of orders while the boot lasts: a file in /run, written before an order is carried out. */
export interface OrderRecord {
  bootID: string;
  /** The latest term of a leader that was heard. */
  epoch: number;
  /** The newest last. */
  orders: readonly OrderOutcome[];
}

export interface OrderRecordStore {
  /** Undefined: none, or one of another boot. Rejects when it is there and cannot be read: then nothing is carried out. */
  read(): Promise<OrderRecord | undefined>;
  /** Synchronous; throws when it is not written. */
  write(record: OrderRecord): void;
}

/** Carries out what was ordered. Never rejects, and always ends. */
export interface OrderExecutor {
  execute(action: OrderedAction): Promise<{ isDone: boolean; words: string }>;
}

/** With whom a daemon exchanges datagrams. */
export interface KnownOthers {
  /** The current key first. */
  controllerKeys: readonly string[];
  controllerAddresses: readonly string[];
  told: PeersTold;
  /** Absent: written by an older version. */
  times?: WrittenTimes;
  /** Peers that the API server knows this node to attest: only their vouches count. */
  accepted: readonly string[];
  /** How vouches are counted: by each of what the API server may have as attested. Absent: by what was told, written by an older version. */
  counted?: readonly CountedPeers[];
}

/** Constant messages; what differs stands in the fields. */
export interface DaemonLog {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

export interface KeepRecordStore {
  /** Undefined: none, or one of another boot. Rejects when it is there and cannot be read: then nothing may be assumed. */
  read(): Promise<KeepRecord | undefined>;
  /** Synchronous, and on the medium when it returns. Throws when it is not. */
  write(record: KeepRecord): void;
}

/** Promises that are kept; the oldest is dropped for one more, whose boot is over since long. */
export const PROMISES_MAX = 1_024;

/** What must outlive the boot: promises never again to vouch for a boot of another node. A file under /var/lib, synced before the promise is given. */
export interface PromiseStore {
  /** Node by boot ID, the oldest first. Rejects when it is there and cannot be read: then nothing may be vouched for. */
  read(): Promise<ReadonlyMap<string, string>>;
  /** Rejects when it is not on the disk. One after the other, whoever calls: the last one stands. */
  write(promises: ReadonlyMap<string, string>): Promise<void>;
}

/** The node's own registration on shared devices (SCSI-3 persistent reservations). Each call ends by itself, and never rejects. */
export interface Registrations {
  /** Without `0x` and leading zeros. */
  readonly key: string;
  readonly devices: readonly string[];
  /** `registered`: on every device. `missing`: every device was read, and one lacks it. `unknown`: one could not be read, or a process still works on it. */
  read(): Promise<{ found: 'registered' | 'missing' | 'unknown'; detail: string }>;
  /** Nothing that it says is believed: it is read back. */
  register(): Promise<{ detail: string }>;
}

/** What must outlive the daemon's process, but not the boot. */
export interface UnfenceRecord {
  /** This boot has been without its registrations since it was first looked; absent: it was not looked yet. */
  lacks?: boolean;
  /** A process that registers may be at work. */
  isRegistering: boolean;
  /** The highest epoch that permitted anything in this boot. */
  epoch: number;
}

export interface UnfenceRecordStore {
  /** Undefined: none, or one of another boot. Rejects when it is there and cannot be read: then nothing may be registered. */
  read(): Promise<UnfenceRecord | undefined>;
  /** Synchronous, and there when it returns. Throws when it is not. */
  write(record: UnfenceRecord): void;
}
