import { DUMP } from './kdump/kdump-times.ts';

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
  'psu',
  'bmc-dead',
  'stop',
  'ack',
  'left-off',
  'wrong-machine',
  'late-off',
  'shared-outlet',
  'switch',
  'storm',
  'two-nodes',
  'maintenance',
  'etcd-quorum',
  'preserve-now',
  'preserve-when-failed',
  'auto-preserve',
  'preserve-expiry',
  'preserve-decrease',
  'preserve-recover',
  'preserve-fence',
  'preserve-observe',
  'mhc',
  'mhc-short-circuit',
  'mhc-external',
  'nhc',
  'nhc-timeout',
  'mrc',
  'mrc-crash',
  'mrc-loop',
  'mrc-bmc-dead',
  'mrc-permanent',
  'm3r',
  'm3r-retries',
  'kdump',
  'kdump-hang',
  'kdump-endless',
  'kdump-forged',
  'kernel-deadlock',
  'disk-pressure',
  'readonly-fs',
  'npd-restart',
  'stale-condition',
  'remedy-crash',
  'drain-blocked',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Those that are played on instances of a cloud too. */
export const CLOUD_FAULTS: readonly Fault[] = ['panic', 'hang', 'partition', 'api-outage', 'controller-crash', 'leader-pause'];

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
  /** Of an off in `late-off`: so late that `power_timeout` is over before it has been read for long enough. */
  lateOffMs: 10_400,
  /** How long a person's stop stands. */
  stopMs: 6_000,
  /** How long something that must not be fenced is watched. */
  watchedMs: 15_000,
  /** After so long a volume is detached by force from a node that is out of reach, in `preserve-fence`; Kubernetes waits six minutes. */
  forceDetachMs: 5_000,
  /** How long the MCM in `preserve-observe` bears with a node that is not Ready, and how long it keeps one that it is to keep. */
  managerPatienceMs: 3_000,
  managerKeepsMs: 600_000,
  /** How long an operator looks at a machine that is kept. */
  inspectedMs: 4_000,
  /** From the end of what was held in `two-nodes` to the next failure, which is another incident then. */
  afterProbationMs: 5_000,
} as const;

/** Each fault's end, as seen from outside. */
export interface Expected {
  /**
   * Of every node that breaks. `untouched`: nothing was done to it, and it came back by itself. `judged`: the fault itself says when all is over, and judges
   * what came of it.
   */
  outcome: 'recovered' | 'failed' | 'untouched' | 'judged';
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
  psu: { outcome: 'failed', released: false, deadlineMs: 250_000 },
  'bmc-dead': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  stop: { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  ack: { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'left-off': { outcome: 'failed', released: true, deadlineMs: 200_000 },
  'wrong-machine': { outcome: 'failed', released: false, deadlineMs: 120_000 },
  'late-off': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'shared-outlet': { outcome: 'failed', released: false, deadlineMs: 120_000 },
  switch: { outcome: 'untouched', released: false, deadlineMs: 120_000 },
  storm: { outcome: 'recovered', released: true, deadlineMs: 300_000 },
  'two-nodes': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  maintenance: { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'etcd-quorum': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'preserve-now': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'preserve-when-failed': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'auto-preserve': { outcome: 'judged', released: false, deadlineMs: 200_000 },
  'preserve-expiry': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'preserve-decrease': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'preserve-recover': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'preserve-fence': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'preserve-observe': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  mhc: { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'mhc-short-circuit': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'mhc-external': { outcome: 'judged', released: true, deadlineMs: 250_000 },
  nhc: { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'nhc-timeout': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  mrc: { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'mrc-crash': { outcome: 'judged', released: true, deadlineMs: 250_000 },
  'mrc-loop': { outcome: 'judged', released: true, deadlineMs: 250_000 },
  'mrc-bmc-dead': { outcome: 'judged', released: true, deadlineMs: 250_000 },
  'mrc-permanent': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  m3r: { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'm3r-retries': { outcome: 'judged', released: true, deadlineMs: 300_000 },
  kdump: { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'kdump-hang': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'kdump-endless': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'kdump-forged': { outcome: 'recovered', released: true, deadlineMs: 200_000 },
  'kernel-deadlock': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'disk-pressure': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'readonly-fs': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'npd-restart': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'stale-condition': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'remedy-crash': { outcome: 'judged', released: true, deadlineMs: 200_000 },
  'drain-blocked': { outcome: 'judged', released: true, deadlineMs: 200_000 },
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
  psu: 'the node panics; of its two power supplies, each on a switched plug of its own, the second one is stuck on: half an off is no proof',
  'bmc-dead':
    'the mainboard dies with its BMC: the first level proves nothing, the second one switches the outlet of both (played by a second device)',
  stop: `the node panics, and a person stops nodefence in the middle of the fence; ${WORLD.stopMs / 1000} s later it is resumed`,
  ack: 'the node panics with a BMC that cannot switch and then dies: a person looks, and acknowledges that it is down',
  'left-off': 'the node panics, and its BMC switches off, but refuses to switch on again',
  'wrong-machine': 'the node panics, and the address of its BMC leads to another machine',
  'late-off': `the node panics, and its BMC carries out each off ${WORLD.lateOffMs / 1000} s after it said yes: the second one is on its way when the first is seen`,
  'shared-outlet': 'the node panics, and by configuration its plug is that of its healthy neighbour too',
  switch: `the switch of one rack dies, and half of the nodes are cut off at once; ${WORLD.watchedMs / 1000} s later it is back`,
  storm: 'three nodes in three racks panic at once; two at a time may be fenced',
  'two-nodes': 'both nodes of a small cluster are cut off; later they are back, and then one of them panics',
  maintenance: 'a node under maintenance panics; later the maintenance mark is removed',
  'etcd-quorum': 'a control-plane node panics while the etcd of another one is down; later that one is back',
  'preserve-now': 'an operator preserves a node that runs, and its zone is scaled down: another machine is taken, until the preservation expires',
  'preserve-when-failed':
    'the kubelet of a node that is to be preserved when it fails hangs: isolated and held for debugging, until the preservation is stopped',
  'auto-preserve': 'two nodes of a zone fail, and it may preserve one machine: the newer is held, the other comes back unhealthy and is terminated',
  'preserve-expiry': 'a node becomes unhealthy and fails, and is preserved: cordoned, drained, and on expiry switched off for good',
  'preserve-decrease': 'two machines are preserved, and then only one may be: the older one is released',
  'preserve-recover':
    'two machines are preserved, one of them under a cordon of an admin, and both recover: what nodefence did is undone, and nothing else',
  'preserve-fence':
    'a node that is to be preserved is cut off, alive and writing: its storage access is revoked, its pods move, and it stays on until the preservation expires',
  'preserve-observe':
    'a node panics beside an MCM that deletes the VM of a failed machine: nodefence requests that the VM is kept while it fences, and withdraws the request',
  mhc: 'a node becomes unhealthy and stays Ready: a MachineHealthCheck served by nodefence requests remediation, and the node is fenced',
  'mhc-short-circuit': 'two of three nodes become unhealthy, more than allowed: none is remediated until one of them is healthy again',
  'mhc-external':
    "a MachineHealthCheck served by nodefence drives another remediator; then Cluster API's own controller appears, and drives what nodefence serves",
  nhc: 'a node becomes unhealthy: a NodeHealthCheck of medik8s requests remediation, reads its conditions, and deletes the request',
  'nhc-timeout':
    'a node becomes unhealthy while its BMC does not answer: the NodeHealthCheck times out, and another remediator has its turn; nodefence switches nothing more',
  mrc: 'remediation of an unhealthy node’s Machine is requested: off and on by the operator of its BareMetalHost, its Node deleted in between, once, however often it is requested',
  'mrc-crash': 'remediation of an unhealthy node’s Machine is requested; the leading controller is killed between off and on',
  'mrc-loop': 'the plain table of the metal3 design power-cycles a node repeatedly while it boots; mode incident prevents that',
  'mrc-bmc-dead': 'a node becomes unhealthy while its BMC does not answer: nothing is released, and that is reported, until the BMC answers again',
  'mrc-permanent': 'a node becomes unhealthy, and panics at each boot: its Machine is deleted, for its owner to make another',
  m3r: 'a node becomes unhealthy, and a health check creates a Metal3Remediation: off and on by the operator of its host, tainted out of service in between',
  'm3r-retries': 'a node is unhealthy after each boot: a Metal3Remediation power-cycles it twice, then asks the owner to replace the Machine',
  kdump: `the kernel of the node panics, and its crash kernel writes a dump for ${DUMP.takesMs / 1000} s: nothing is switched off meanwhile`,
  'kdump-hang': `a crash kernel begins to dump, and hangs: the fence goes on ${DUMP.finishedMs / 1000} s after its last message`,
  'kdump-endless': `the messages of a crash kernel never end: the fence goes on ${DUMP.maxMs / 1000} s after the first one`,
  'kdump-forged': 'the node panics without a dump, while messages are forged for its healthy neighbour and from a foreign address: nothing waits',
  'kernel-deadlock':
    'the node problem detector of a Ready node reports a kernel deadlock, which it never takes back: drained, then fenced, and recovered by its new boot',
  'disk-pressure': 'the disk of a node is full: isolated and its pods evicted, its power left on, and let in again when there is room',
  'readonly-fs': 'a file system turns read-only: a repair pod is wedged and ended by its deadline, the next one fails, the third one helps',
  'npd-restart':
    'the node problem detector restarts between two remedies and reports that all is well: nothing is over, and nothing is begun meanwhile',
  'stale-condition': 'node problem detectors die with a True heartbeat: it counts as Unknown, nothing more is begun, and that is reported',
  'remedy-crash': 'the leading controller is killed in the middle of a remedy: its Job is created once, whoever leads',
  'drain-blocked':
    'a PodDisruptionBudget forbids every eviction of a drain: what keeps the pods is reported and nothing is forced, until it allows one',
  'leader-pause': `the node panics, and the leading controller pauses for ${WORLD.leaderPauseMs / 1000} s in the middle of the fence`,
};
