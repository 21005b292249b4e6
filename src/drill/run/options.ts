import type { CloudName } from '../../testbed/devices/cloud/kinds.ts';
import type { Fault } from '../faults/names.ts';

export const AGENTS = ['redfish', 'ipmi'] as const;
export type Agent = (typeof AGENTS)[number];

export const APIS = ['embedded', 'real'] as const;
export type Api = (typeof APIS)[number];

export interface DrillOptions {
  fault: Fault;
  /** Machines; as many as the fault is played on when absent. */
  nodes: number | undefined;
  seed: number;
  /** What the drill's own configuration fences with. */
  agent: Agent;
  /** All machines are instances of this cloud, and no ConfigMap says how they are fenced; `agent` is not used then. */
  cloud?: CloudName;
  /** Our own API server, or the real control plane of this machine. */
  api: Api;
  /** Controllers that run side by side. */
  replicas: number;
  json: boolean;
  keep: boolean;
  /** Folder with ConfigMaps and Secrets of the operator, instead of the drill's own. */
  config: string | undefined;
  /** Keys of `fence-cluster-config`, over the drill's own short delays. */
  settings: Readonly<Record<string, string>>;
  /** Folder in which several drills share what Node has compiled; one of its own otherwise. */
  compileCache?: string;
}

/** What a drill is without further words, but for fault and seed. */
export const DEFAULT_OPTIONS: Omit<DrillOptions, 'fault' | 'seed'> = {
  nodes: undefined,
  agent: 'redfish',
  api: 'embedded',
  replicas: 2,
  json: false,
  keep: false,
  config: undefined,
  settings: {},
};

/** The drill's delays: short, and all inequalities of docs/configuration.md hold. Seconds where no unit stands. */
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
  release_timeout: '30s',
  step_retries: '1',
  max_restarts: '1',
  restart_backoff: '1s',
  kubelet_lease_renewal: '500ms',
  kubelet_read_latency: '500ms',
  node_grace: '4s',
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
