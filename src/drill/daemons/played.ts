import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { TraceEvent } from '../../laws/trace.ts';

/** As the daemon tells it of itself. */
export interface DaemonStatus {
  phase: string;
  watchdog: { state: string };
  /** Who may vouch for it, and which of them others know of. */
  peers: readonly { node: string; isAttested: boolean }[];
  problems: readonly string[];
}

/** How nodes are fenced: by their own watchdogs, by BMCs and found by fast detection, or never. */
export type DaemonFencing = 'watchdog' | 'bmc' | 'never';

/** A machine with its daemon, of real processes or simulated. Moments are on the clock of the drill. */
export interface PlayedNode {
  readonly name: string;
  /** Why it was reset, each time. */
  readonly resets: readonly string[];
  /** When the processes of its pods ended. */
  readonly podsEndedAtMs: number | undefined;
  readonly isWatchdogActive: boolean;
  /** The end of what its daemon said, for an error. */
  readonly lastWords: string;
  /** Undefined while nobody answers. */
  status(): Promise<DaemonStatus | undefined>;
  /** What reads its shared storage hangs from now on, or reads it again. */
  setStorage(state: 'hangs' | 'answers'): void;
  /** SIGSTOP; what is returned ends it. */
  freezeDaemon(): () => void;
  /** SIGKILL; another one is started a second later. */
  killDaemon(): void;
  /** A clean stop and another process in its place, as an upgrade has it. */
  replaceDaemon(): Promise<void>;
  jumpDaemonClock(byMs: number): void;
}

/** An API server, two controllers and five nodes with their daemons, of real processes or simulated. */
export interface PlayedCluster {
  readonly nodes: readonly PlayedNode[];
  readonly nodeNames: readonly string[];
  readonly controllers: readonly string[];
  /** All that are in the network. */
  readonly names: readonly string[];
  /** What must stand nowhere but in Secrets. */
  readonly secrets: readonly string[];
  /** What each process has said, for the law that secrets stay where they are. */
  texts(): Record<string, string>;
  /** What happened, as the judge reads it. */
  traces(): readonly TraceEvent[];
  /** What the API server's audit saw. */
  audit(): readonly TraceEvent[];
  /** Milliseconds since 1970 on the clock of all traces. */
  now(): number;
  /** Resolves when so much time of the drill is over. */
  pause(ms: number): Promise<void>;
  /** Resolves when everything runs, and every daemon is kept up with its watchdog armed. */
  start(tell: (line: string) => void): Promise<void>;
  /** Resolves when its pods run again on nodes that are well. */
  settled(): Promise<void>;
  fence(node: string): NodeFenceStatus | undefined;
  /** Nothing passes between the two any more, and neither is told. */
  cut(one: string, other: string): void;
  heal(one: string, other: string): void;
  /** Its power fails: nothing of it runs from that moment on, and its BMC says so. */
  cutPower(node: string): void;
  /** Nobody is there any more to grant anything. */
  endControlPlane(): void;
  stop(): Promise<void>;
}

/** By whom it would be kept up without controllers, too: until its peers are known and attested, it goes down with the control plane. */
export function isKept(status: DaemonStatus | undefined, nodes: number): boolean {
  return status?.phase === 'kept' && status.peers.length === nodes - 1 && status.peers.every(({ isAttested }) => isAttested);
}
