/** The shortest that the timing rules allow: a drill is watched. */
export const TIMES = { grantMs: 3_000, watchdogMs: 4_000, isolationTimeoutMs: 30_000, podStopMaxMs: 2_000, resetTimeMs: 1_000 } as const;

/** Nodes by rack: a majority of the racks keeps a node up. */
export const RACKS = ['a', 'a', 'b', 'b', 'c'] as const;
export const RACK_LABEL = 'topology.kubernetes.io/rack';
