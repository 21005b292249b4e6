import type { MachineTraits } from '../../../src/drill/daemons/simulated/daemon-machine.ts';
import type { DatagramFaults } from '../../../src/testbed/simulation/datagrams.ts';

/** What a node is cut off from. */
export type Place = 'controllers' | 'peers' | 'api-server';

/** `in`: it hears nothing; `out`: nobody hears it. */
export type Way = 'both' | 'in' | 'out';

/**
 * Something that happens to nodes and their daemons.
 *
 * cut (a node off), link (between two nodes), outage (of all controllers and of the API server for everybody).
 * Daemons: kill, pause (SIGSTOP), wedge (one of its checks does not get on), upgrade (a clean stop), each until it is over; slow-disk (what it syncs).
 * Machines: freeze (its processors stand still, its watchdog counts on), vm-pause (its watchdog stands still with it), jump (of its wall clock), power-loss.
 * People: change-times (of all daemons, for those that start after it).
 */
export type DaemonDeed = { atMs: number; durationMs: number } & (
  | { what: 'cut'; node: string; places: readonly Place[]; way: Way }
  | { what: 'link'; node: string; to: string; way: Way }
  | { what: 'outage' }
  | { what: 'kill' | 'pause' | 'wedge' | 'upgrade' | 'slow-disk' | 'freeze' | 'power-loss'; node: string }
  | { what: 'vm-pause'; node: string; kind: 'stop' | 'suspend' }
  | { what: 'jump'; node: string; byMs: number }
  | { what: 'change-times'; times: DaemonTimes }
);

/** As `fence-cluster-config` has them. */
export interface DaemonTimes {
  grantMs: number;
  isolationMs: number;
  podStopMs: number;
}

/** The node daemons of one world. Plain data. */
export interface NodeDaemons {
  /** Labels by which nodes share a failure domain. */
  topologyKeys: readonly string[];
  datagrams: DatagramFaults;
  machines: Readonly<Record<string, MachineTraits>>;
  /** Where the watchdog stands in the plan. */
  level: 'only' | 'second';
  times: DaemonTimes;
  /** Nodes are taken for failed by the silence of their daemons too. */
  isFast?: boolean;
  deeds: readonly DaemonDeed[];
  /** Nodes that may take themselves down; every other one must stay up. */
  mayGoDown: readonly string[];
  /** The evidence of the failed node's watchdog: it must come, may, or must not. */
  evidence: 'must' | 'may' | 'never';
}

/** When the last of them is over. */
export function daemonDeedsEndMs(daemons: NodeDaemons | undefined): number {
  return Math.max(0, ...(daemons?.deeds ?? []).map(({ atMs, durationMs }) => atMs + durationMs));
}
