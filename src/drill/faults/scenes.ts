import type { Wiring } from '../../testbed/devices/bmc/wiring.ts';
import { SHORT_PACE } from '../../testbed/operators/baremetal-operator.ts';
import type { OperatorPace } from '../../testbed/operators/baremetal-operator.ts';
import { ZONE_LABEL } from '../../testbed/operators/fleet.ts';
import { DUMP_SETTINGS } from './kdump/kdump-times.ts';
import { CRASHED, DEADLOCK, DRAINED, FULL, READ_ONLY, RESTARTED, STALE } from './remedies/configurations.ts';
import type { Fault } from './names.ts';

/** The worker pool whose Machines stand for the nodes, as ConfigMap `preservation-pools` has it. */
export interface ScenePool {
  zones: number;
  autoPreserveFailedMachineMax: number;
  machinePreserveTimeout: string;
  machineHealthTimeout: string;
}

/** Machines of Cluster API stand for the nodes, on BareMetalHosts. */
export interface SceneHosts {
  /** Folders under config/ that are installed beside: `machine-health-check/`. */
  folders: readonly string[];
  /** Further words of `nodefence controller`. */
  flags: readonly string[];
  /** A baremetal-operator minds the hosts, as patiently as that; absent: nobody does. */
  operator?: OperatorPace;
}

/** What a fault is played on, where that is another cluster than the drill's three plain workers. */
export interface FaultScene {
  /** Machines, unless more are asked for. */
  nodes: number;
  /** Machines are dealt out to so many racks, by the label `RACK`. */
  racks?: number;
  /** They are control-plane nodes, each with a member of etcd. */
  isControlPlane?: true;
  wiring?: Wiring;
  /** A node is also shut out of the storage of its volumes, and the storage shows it. */
  hasFiler?: true;
  /** Machines of MCM's kinds stand for the nodes, and nodefence preserves them; without it there are none. */
  pool?: ScenePool;
  /** Machines of Cluster API stand for the nodes. */
  hosts?: SceneHosts;
  /** The controllers hear the messages of crash kernels. */
  hearsKdump?: true;
  /** A Configuration of remedies; node-problem-detectors run on the nodes then, and Jobs are run. */
  remedies?: string;
  /** An MCM is at work beside, and nodefence only observes it. */
  hasManager?: true;
  /** Keys of `fence-cluster-config`. */
  settings?: Readonly<Record<string, string>>;
  /** Keys of the template of all devices. */
  template?: Readonly<Record<string, string>>;
  /** Storm policies by name, over those of every drill. */
  policies?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The victim's methods name the address of a machine that is no node, or of its neighbour's device. */
  leadsTo?: 'stranger' | 'neighbour';
  /** Who breaks: everyone in the rack of the first victim, one in each of three racks, two of its zone, or two of different zones; absent: the first victim. */
  victims?: 'rack' | 'three-racks' | 'zone-pair' | 'two-zones';
}

export const RACK = 'topology.kubernetes.io/rack';

/** MachineHealthChecks are ours, and ask for what we serve. */
const HEALTH_CHECKED: SceneHosts = {
  folders: ['machine-health-check', 'machine-health-check-crd', 'remediation', 'medik8s'],
  flags: ['--health-checks', 'auto'],
};

/** Somebody else checks the health of Nodes, and asks for what we serve. */
const NODES_CHECKED: SceneHosts = { folders: ['remediation', 'medik8s'], flags: [] };

/** Machines are remediated by the operator of their hosts. */
const REMEDIATED: SceneHosts = { folders: ['machine-remediation', 'medik8s'], flags: [], operator: SHORT_PACE };

/** And so are Metal3Remediations, which MachineHealthChecks of ours make. */
const METAL3: SceneHosts = {
  folders: ['machine-health-check', 'machine-health-check-crd', 'metal3-remediation', 'metal3-remediation-crd', 'medik8s'],
  flags: [],
  operator: SHORT_PACE,
};

const PLAIN: FaultScene = { nodes: 3 };

export const SCENES: Readonly<Partial<Record<Fault, FaultScene>>> = {
  psu: { nodes: 3, wiring: 'supplies' },
  'bmc-dead': { nodes: 3, wiring: 'outlet' },
  // Time for a word before anything is sent.
  ack: { nodes: 3, settings: { power_management_delay: '6s' } },
  'wrong-machine': { nodes: 3, leadsTo: 'stranger' },
  'late-off': { nodes: 3, template: { device_max_latency: '10900ms' } },
  'shared-outlet': { nodes: 3, leadsTo: 'neighbour' },
  switch: { nodes: 6, racks: 2, victims: 'rack', policies: { 'failure-domain': { topology_key: RACK } } },
  storm: { nodes: 8, racks: 4, victims: 'three-racks', policies: { 'max-concurrent': { max: '2', topology_key: RACK } } },
  'two-nodes': { nodes: 2, settings: { probation: '4s' } },
  'etcd-quorum': { nodes: 3, isControlPlane: true },
  'preserve-now': { nodes: 4, pool: pool({ machinePreserveTimeout: '30s' }) },
  'preserve-when-failed': { nodes: 4, pool: pool({}) },
  // Of two a zone each may keep one; the health timeout leaves the fence of the other the time to bring it back.
  'auto-preserve': {
    nodes: 6,
    pool: pool({ autoPreserveFailedMachineMax: 2, machineHealthTimeout: '12s' }),
    victims: 'zone-pair',
    policies: { 'max-concurrent': { max: '3', max_per_domain: '3' } },
  },
  'preserve-expiry': { nodes: 4, pool: pool({ autoPreserveFailedMachineMax: 2, machinePreserveTimeout: '15s' }) },
  'preserve-decrease': { nodes: 6, pool: pool({ zones: 1, autoPreserveFailedMachineMax: 2 }), victims: 'zone-pair' },
  'preserve-recover': { nodes: 4, pool: pool({ autoPreserveFailedMachineMax: 2 }), victims: 'two-zones' },
  'preserve-fence': { nodes: 4, hasFiler: true, pool: pool({ machinePreserveTimeout: '25s' }) },
  'preserve-observe': { nodes: 4, pool: pool({}), hasManager: true },
  mhc: { nodes: 3, hosts: HEALTH_CHECKED },
  'mhc-short-circuit': { nodes: 3, hosts: HEALTH_CHECKED },
  // A reboot by somebody else is over before anything of ours begins.
  'mhc-external': { nodes: 3, hosts: { ...HEALTH_CHECKED, operator: SHORT_PACE }, settings: { isolation_delay: '8s' } },
  nhc: { nodes: 3, hosts: NODES_CHECKED },
  'nhc-timeout': { nodes: 3, hosts: NODES_CHECKED, settings: { step_retries: '30' } },
  mrc: { nodes: 3, hosts: REMEDIATED },
  'mrc-crash': { nodes: 3, hosts: REMEDIATED },
  'mrc-loop': { nodes: 3, hosts: { ...REMEDIATED, flags: ['--machine-remediation', 'seed-table'] } },
  'mrc-bmc-dead': { nodes: 3, hosts: REMEDIATED },
  'mrc-permanent': {
    nodes: 3,
    hosts: { ...REMEDIATED, folders: [...REMEDIATED.folders, 'machine-health-check-crd'], flags: ['--health-checks', 'off'] },
  },
  m3r: { nodes: 3, hosts: METAL3 },
  'm3r-retries': { nodes: 3, hosts: METAL3 },
  kdump: { nodes: 3, hearsKdump: true, settings: { ...DUMP_SETTINGS, kdump: 'yes' } },
  'kdump-hang': { nodes: 3, hearsKdump: true, settings: { ...DUMP_SETTINGS, kdump: 'yes' } },
  'kdump-endless': { nodes: 3, hearsKdump: true, settings: { ...DUMP_SETTINGS, kdump: 'yes' } },
  'kdump-forged': { nodes: 3, hearsKdump: true, settings: DUMP_SETTINGS },
  'kernel-deadlock': { nodes: 3, remedies: DEADLOCK },
  'disk-pressure': { nodes: 3, remedies: FULL },
  'readonly-fs': { nodes: 3, remedies: READ_ONLY },
  'npd-restart': { nodes: 3, remedies: RESTARTED },
  'stale-condition': { nodes: 3, remedies: STALE },
  'remedy-crash': { nodes: 3, remedies: CRASHED },
  'drain-blocked': { nodes: 3, remedies: DRAINED },
};

function pool(changes: Partial<ScenePool>): ScenePool {
  return { zones: 2, autoPreserveFailedMachineMax: 0, machinePreserveTimeout: '10m', machineHealthTimeout: '4s', ...changes };
}

/** Does it need machines, devices or policies that an operator's own configuration does not have? */
export function needsOwnScene(fault: Fault): boolean {
  return SCENES[fault] !== undefined;
}

export function sceneOf(fault: Fault): FaultScene {
  return SCENES[fault] ?? PLAIN;
}

/** A node as far as it matters who breaks with whom. */
export interface RackedNode {
  node: string;
  labels?: Readonly<Record<string, string>> | undefined;
}

/** Everyone who breaks, the first victim first. */
export function victimsOf({ victims }: Pick<FaultScene, 'victims'>, first: string, machines: readonly RackedNode[]): string[] {
  const labelOf = (name: string, key: string): string => machines.find(({ node }) => node === name)?.labels?.[key] ?? '';
  const rackOf = (name: string): string => labelOf(name, RACK);
  const isOfZone = (name: string): boolean => labelOf(name, ZONE_LABEL) === labelOf(first, ZONE_LABEL);
  const others = machines.map(({ node }) => node).filter((node) => node !== first);
  if (victims === undefined) return [first];
  if (victims === 'zone-pair') return [first, ...others.filter(isOfZone).slice(0, 1)];
  if (victims === 'two-zones') return [first, ...others.filter((name) => !isOfZone(name)).slice(0, 1)];
  if (victims === 'rack') return [first, ...others.filter((node) => rackOf(node) === rackOf(first))];
  const seen = new Set([rackOf(first)]);
  const elsewhere = others.filter((node) => !seen.has(rackOf(node)) && seen.add(rackOf(node)).size > 0);
  return [first, ...elsewhere.slice(0, 2)];
}
