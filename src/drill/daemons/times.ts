/** The shortest that the timing rules allow: a drill is watched. */
export const TIMES = { grantMs: 3_000, watchdogMs: 4_000, isolationTimeoutMs: 30_000, podStopMaxMs: 2_000, resetTimeMs: 1_000 } as const;

export const BOOT_MS = 1_500;
/** systemd's own, for a service that ended. */
export const RESTART_MS = 1_000;
export const RENEW_MS = 500;
export const STOP_MS = 30_000;

/** Nodes by rack: a majority of the racks keeps a node up. */
export const RACKS = ['a', 'a', 'b', 'b', 'c'] as const;
/** The nodes of the first rack. */
export function rackOfFirst(nodes: readonly string[]): readonly string[] {
  return nodes.filter((_name, index) => RACKS[index] === RACKS[0]);
}

export const RACK_LABEL = 'topology.kubernetes.io/rack';
