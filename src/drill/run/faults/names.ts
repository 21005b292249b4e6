/** Faults that this drill can inject, and what each must lead to. */
export const FAULTS = [
  'panic',
  'hang',
  'bmc-slow',
  'bmc-lies',
  'partition',
  'flap',
  'config-edit',
  'api-outage',
  'controller-crash',
  'leader-pause',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Milliseconds of the world around the controller. */
export const WORLD = {
  nodeGraceMs: 4_000,
  kubeletRenewMs: 500,
  bootMs: 1_500,
  bmcSlowMs: 8_000,
  /** Of an off in `flap`: long enough for the node to be seen Ready again before. */
  flapOffMs: 4_000,
  apiOutageMs: 10_000,
  /** More than a lease, so that somebody else leads by then. */
  leaderPauseMs: 22_000,
  /** From the end of a controller to its successor process, as a Deployment would have it. */
  controllerRestartMs: 3_000,
} as const;

/** Each fault's end, as seen from outside. */
export interface Expected {
  outcome: 'recovered' | 'failed';
  /** `either`: whether the workload was released depends on the moment, and both are right. */
  released: boolean | 'either';
  deadlineMs: number;
}

export const EXPECTED: Readonly<Record<Fault, Expected>> = {
  panic: { outcome: 'recovered', released: true, deadlineMs: 120_000 },
  hang: { outcome: 'recovered', released: true, deadlineMs: 120_000 },
  'bmc-slow': { outcome: 'recovered', released: true, deadlineMs: 150_000 },
  'bmc-lies': { outcome: 'failed', released: false, deadlineMs: 200_000 },
  partition: { outcome: 'recovered', released: true, deadlineMs: 120_000 },
  flap: { outcome: 'recovered', released: false, deadlineMs: 150_000 },
  'config-edit': { outcome: 'recovered', released: true, deadlineMs: 120_000 },
  'api-outage': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'controller-crash': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'leader-pause': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
};

export const STORY: Readonly<Record<Fault, string>> = {
  panic: 'the kernel of the node panics: its kubelet and its pods are dead, its power is on',
  hang: 'the kubelet hangs while the workload goes on writing: proof before the second writer',
  'bmc-slow': `the node panics, and its BMC takes ${WORLD.bmcSlowMs / 1000} s to switch off`,
  'bmc-lies': 'the node panics, and its BMC answers 204 but stays on: nothing may be released',
  partition: 'the node is cut off from the API; its kubelet and its workload live and write on',
  flap: 'the node is cut off, and back again while it is being switched off',
  'config-edit': 'the node panics, and its configuration is changed while it is being fenced',
  'api-outage': `the node panics, and the API server is gone for ${WORLD.apiOutageMs / 1000} s in the middle of the fence`,
  'controller-crash': 'the node panics, and the leading controller is killed in the middle of the fence',
  'leader-pause': `the node panics, and the leading controller stands still for ${WORLD.leaderPauseMs / 1000} s in the middle of the fence`,
};
