import { assetsOf } from '../../testbed/control-plane/assets.ts';
import { SHORT_PACE } from '../../testbed/control-plane/commands.ts';
import { BESIDE_CONTROLLER_MANAGER } from '../../testbed/cluster/options.ts';
import type { Child } from './child.ts';
import type { ProcessHost, Ready } from './process-host.ts';

const CONTROLLER_MANAGER = 'system:kube-controller-manager';
/** Programs of a hundred megabytes, on a machine that does other things too. */
const REAL_READY_DEADLINE_MS = 150_000;

/** Somebody who calls the API server, known by a bearer token. */
export interface ApiUser {
  name: string;
  groups: readonly string[];
  token: string;
}

export interface ControlPlaneSite {
  processes: ProcessHost;
  users: readonly ApiUser[];
  /** After so long without a lease renewal a node counts as failed. */
  nodeGraceMs: number;
}

/** An API server of the drill. What its audit saw stands in `traces/api.jsonl` of the drill's folder. */
export interface ControlPlane {
  readonly server: string;
  readonly caPem: string;
  /** Options of the process `cluster-controllers`: what of kube-controller-manager must be played there. */
  readonly clusterOptions: Readonly<Record<string, unknown>>;
  /** An outage begins: `silent` lets open and new connections hang, `refuse` ends and refuses them. */
  pause(how: 'silent' | 'refuse'): void;
  resume(): void;
  /** Of a real one only: etcd is away for so long. */
  restartStore(awayMs: number): void;
  /** Of a real one only: it starts anew, and its history is gone. */
  forgetHistory(): void;
}

export type StartControlPlane = (site: ControlPlaneSite) => Promise<ControlPlane>;

/** Our own API server, as one process. */
export const startEmbedded: StartControlPlane = async ({ processes, users, nodeGraceMs }) => {
  const configuration = { users, authorization: 'rbac', trace: processes.folder.trace('api') };
  const { child, ready } = await processes.program('api', 'api', configuration);
  return new ControlPlaneProcess(child, ready, { nodeGraceMs });
};

/** A real etcd, kube-apiserver and kube-controller-manager, watched over by one process of ours. */
const startReal: StartControlPlane = async ({ processes, users, nodeGraceMs }) => {
  const assets = assetsOf(process.env);
  const configuration = {
    assets,
    folder: processes.folder.in('control-plane'),
    users,
    controllerManagerUser: CONTROLLER_MANAGER,
    pace: { ...SHORT_PACE, nodeGraceMs },
    trace: processes.folder.trace('api'),
  };
  const { child, ready } = await processes.program('control-plane', 'api', configuration, REAL_READY_DEADLINE_MS);
  return new ControlPlaneProcess(child, ready, { nodeGraceMs, only: BESIDE_CONTROLLER_MANAGER });
};

class ControlPlaneProcess implements ControlPlane {
  readonly server: string;
  readonly caPem: string;
  readonly clusterOptions: Readonly<Record<string, unknown>>;
  readonly #child: Child;

  constructor(child: Child, ready: Ready, clusterOptions: ControlPlane['clusterOptions']) {
    this.#child = child;
    this.server = String(ready['url']);
    this.caPem = String(ready['caPem']);
    this.clusterOptions = clusterOptions;
  }

  pause(how: 'silent' | 'refuse'): void {
    this.#child.tell({ command: 'pause', how });
  }

  resume(): void {
    this.#child.tell({ command: 'resume' });
  }

  restartStore(awayMs: number): void {
    this.#child.tell({ command: 'restart-store', awayMs });
  }

  forgetHistory(): void {
    this.#child.tell({ command: 'forget-history' });
  }
}

/** By the word of `--api`. */
export function controlPlaneNamed(api: 'embedded' | 'real'): StartControlPlane {
  return api === 'embedded' ? startEmbedded : startReal;
}
