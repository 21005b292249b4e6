/** Faults that this drill can inject, and what each must lead to. */
export const FAULTS = ['panic', 'hang', 'bmc-slow', 'bmc-lies'] as const;
export type Fault = (typeof FAULTS)[number];

export interface DrillOptions {
  fault: Fault;
  nodes: number;
  seed: number;
  agent: 'redfish';
  json: boolean;
  keep: boolean;
  /** Folder with ConfigMaps and Secrets of the operator, instead of the drill's own. */
  config: string | undefined;
  /** Keys of `fence-cluster-config`, over the drill's own short delays. */
  settings: Readonly<Record<string, string>>;
}

/** The drill's delays: short, and all inequalities of design 10 hold. Seconds where no unit stands. */
export const SHORT_SETTINGS: Readonly<Record<string, string>> = {
  isolation_delay: '1s',
  power_management_delay: '2s',
  set_deadline: '1s',
  settle: '3100ms',
  off_stable: '1s',
  power_timeout: '11s',
  healthy_delay: '2s',
  ready_timeout: '20s',
  probation: '10s',
  life_wait: '1500ms',
  release_timeout: '20s',
  step_retries: '1',
  max_restarts: '1',
  restart_backoff: '1s',
  kubelet_lease_renewal: '500ms',
  kubelet_read_latency: '500ms',
  node_grace: '4s',
};

/** Milliseconds of the world around the controller. */
export const WORLD = {
  nodeGraceMs: 4_000,
  kubeletRenewMs: 500,
  bootMs: 1_500,
  bmcSlowMs: 8_000,
} as const;

/** Each fault's end, as seen from outside. */
export interface Expected {
  outcome: 'recovered' | 'failed';
  released: boolean;
  deadlineMs: number;
}

export const EXPECTED: Readonly<Record<Fault, Expected>> = {
  panic: { outcome: 'recovered', released: true, deadlineMs: 60_000 },
  hang: { outcome: 'recovered', released: true, deadlineMs: 60_000 },
  'bmc-slow': { outcome: 'recovered', released: true, deadlineMs: 75_000 },
  'bmc-lies': { outcome: 'failed', released: false, deadlineMs: 120_000 },
};

export const STORY: Readonly<Record<Fault, string>> = {
  panic: 'the kernel of the node panics: its kubelet and its pods are dead, its power is on',
  hang: 'the kubelet hangs while the workload goes on writing: proof before the second writer',
  'bmc-slow': `the node panics, and its BMC takes ${WORLD.bmcSlowMs / 1000} s to switch off`,
  'bmc-lies': 'the node panics, and its BMC answers 204 but stays on: nothing may be released',
};

/** A small seeded generator (mulberry32): the same seed breaks the same node at the same moment. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
