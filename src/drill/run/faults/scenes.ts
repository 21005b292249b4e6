import type { Wiring } from '../../bmc/wiring.ts';
import type { Fault } from './names.ts';

/** The worker pool whose Machines stand for the nodes, as ConfigMap `preservation-pools` has it. */
export interface ScenePool {
  zones: number;
  autoPreserveFailedMachineMax: number;
  machinePreserveTimeout: string;
  machineHealthTimeout: string;
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
  /** Machines of MCM's kinds stand for the nodes, and nodefence preserves them; without it there are none. */
  pool?: ScenePool;
  /** Keys of `fence-cluster-config`. */
  settings?: Readonly<Record<string, string>>;
  /** Keys of the template of all devices. */
  template?: Readonly<Record<string, string>>;
  /** Storm policies by name, over those of every drill. */
  policies?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The victim's methods name the address of a machine that is no node, or of its neighbour's device. */
  leadsTo?: 'stranger' | 'neighbour';
  /** Who breaks: everyone in the rack of the first victim, or one in each of three racks; absent: the first victim. */
  victims?: 'rack' | 'three-racks';
}

export const RACK = 'topology.kubernetes.io/rack';

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
};

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
  const rackOf = (name: string): string => machines.find(({ node }) => node === name)?.labels?.[RACK] ?? '';
  const others = machines.map(({ node }) => node).filter((node) => node !== first);
  if (victims === undefined) return [first];
  if (victims === 'rack') return [first, ...others.filter((node) => rackOf(node) === rackOf(first))];
  const seen = new Set([rackOf(first)]);
  const elsewhere = others.filter((node) => !seen.has(rackOf(node)) && seen.add(rackOf(node)).size > 0);
  return [first, ...elsewhere.slice(0, 2)];
}
