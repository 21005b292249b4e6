import type { Action, Decision } from '../../src/controllers/preservation/actions.ts';
import { decide } from '../../src/controllers/preservation/decide.ts';
import { CORDON_MARK, PRESERVED_TAINT } from '../../src/controllers/preservation/names.ts';
import type {
  MachineDeploymentFacts,
  MachineFacts,
  MachineSetFacts,
  Marks,
  NodeFacts,
  PoolSettings,
  Snapshot,
} from '../../src/controllers/preservation/snapshot.ts';

export const NOW_MS = Date.UTC(2027, 0, 1);
export const HOUR_MS = 3_600_000;

export function machine(name: string, facts: Partial<MachineFacts> = {}): MachineFacts {
  const base = { name, namespace: 'shoot', uid: `uid-${name}`, annotations: {}, labels: {}, createdMs: NOW_MS - 24 * HOUR_MS };
  return { ...base, isDeleting: false, phase: 'Running', nodeName: `node-of-${name}`, ...facts };
}

export function node(name: string, facts: Partial<NodeFacts> = {}): NodeFacts {
  const base = { name, uid: `uid-${name}`, annotations: {}, labels: {}, createdMs: NOW_MS - 24 * HOUR_MS };
  return { ...base, isDeleting: false, isUnschedulable: false, taints: [], ailments: [], ...facts };
}

export interface Scene {
  machines?: MachineFacts[];
  nodes?: NodeFacts[];
  machineSets?: MachineSetFacts[];
  machineDeployments?: MachineDeploymentFacts[];
  pools?: Record<string, Partial<PoolSettings>>;
  mode?: Snapshot['mode'];
  spelling?: Snapshot['spelling'];
  hasExpiryField?: boolean;
  requestsWhenFailed?: boolean;
}

function patched(marks: Marks, changes: readonly { key: string; was: string | undefined; to: string | undefined }[]): Marks {
  const result = new Map(Object.entries(marks));
  for (const { key, was, to } of changes) {
    if (result.get(key) !== was) throw new Error(`${key} is ${String(result.get(key))}, not ${String(was)}`);
    if (to === undefined) result.delete(key);
    else result.set(key, to);
  }
  return Object.fromEntries(result);
}

/** A cluster that does what the actions say, and refuses what was decided on another state. */
export class World {
  nowMs = NOW_MS;
  machines: MachineFacts[];
  nodes: NodeFacts[];
  machineSets: MachineSetFacts[];
  machineDeployments: MachineDeploymentFacts[];
  readonly scene: Scene;
  /** What drains come to, and what power-offs come to. */
  drains: 'succeeded' | 'failed' | 'running' = 'succeeded';
  powerOffs: 'off' | 'open' | 'failed' = 'off';
  readonly done: Action[] = [];
  /** As they were when they were deleted. */
  readonly deleted: MachineFacts[] = [];

  constructor(scene: Scene) {
    this.scene = scene;
    this.machines = scene.machines ?? [];
    this.nodes = scene.nodes ?? [];
    this.machineSets = scene.machineSets ?? [];
    this.machineDeployments = scene.machineDeployments ?? [];
  }

  get snapshot(): Snapshot {
    const { scene } = this;
    const pools = Object.entries(scene.pools ?? {}).map(
      ([name, settings]) => [name, { autoPreserveMax: 0, preserveTimeoutMs: 72 * HOUR_MS, ...settings }] as const,
    );
    return {
      nowMs: this.nowMs,
      mode: scene.mode ?? 'own',
      hasExpiryField: scene.hasExpiryField ?? true,
      spelling: scene.spelling ?? 'auto-preserve',
      requestsWhenFailed: scene.requestsWhenFailed ?? false,
      machines: this.machines,
      nodes: this.nodes,
      machineSets: this.machineSets,
      machineDeployments: this.machineDeployments,
      pools: new Map(pools),
    };
  }

  decide(): Decision {
    return decide(this.snapshot);
  }

  /** Decides and does until there is nothing more to do. */
  settle(roundsMax = 40): Decision {
    for (let round = 0; round < roundsMax; round += 1) {
      const decision = this.decide();
      if (decision.actions.length === 0) return decision;
      for (const action of decision.actions) this.apply(action);
    }
    throw new Error(`not settled after ${roundsMax} rounds: ${JSON.stringify(this.decide().actions)}`);
  }

  machine(name: string): MachineFacts {
    const found = [...this.machines, ...this.deleted].find((each) => each.name === name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return found;
  }

  node(name: string): NodeFacts {
    const found = this.nodes.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no node ${name}`);
    return found;
  }

  editMachine(name: string, facts: Partial<MachineFacts>): void {
    this.machines = this.machines.map((each) => (each.name === name ? { ...each, ...facts } : each));
  }

  editNode(name: string, facts: Partial<NodeFacts>): void {
    this.nodes = this.nodes.map((each) => (each.name === name ? { ...each, ...facts } : each));
  }

  kinds(): string[] {
    return this.done.map(({ kind }) => kind);
  }

  apply(action: Action): void {
    this.done.push(action);
    const { name } = action.target;
    switch (action.kind) {
      case 'annotate':
        if (action.target.kind === 'Node') this.editNode(name, { annotations: patched(this.node(name).annotations, action.changes) });
        else this.editMachine(name, { annotations: patched(this.machine(name).annotations, action.changes) });
        return;
      case 'machine-status': {
        this.#status(action);
        return;
      }
      case 'condition':
        if (JSON.stringify(this.node(name).preserved) !== JSON.stringify(action.was)) throw new Error('another condition stands there');
        {
          this.editNode(name, { preserved: action.to, preservedMs: this.nowMs });
          return;
        }
      case 'taint': {
        const taints = this.node(name).taints.filter((taint) => taint !== PRESERVED_TAINT);
        this.editNode(name, { taints: action.isPresent ? [...taints, PRESERVED_TAINT] : taints });
        return;
      }
      case 'cordon': {
        const { [CORDON_MARK]: _mark, ...rest } = this.node(name).annotations;
        const annotations = action.isCordoned ? { ...rest, [CORDON_MARK]: 'true' } : rest;
        this.editNode(name, { isUnschedulable: action.isCordoned, annotations });
        return;
      }
      case 'drain': {
        this.editNode(name, {
          drain: { state: this.drains, atMs: this.nowMs, sinceMs: action.sinceMs, isForced: action.options.isForced, message: 'a budget forbids it' },
        });
        return;
      }
      case 'power-off': {
        const isOff = this.powerOffs === 'off';
        const fence = { uid: 'uid-fence', isOpen: this.powerOffs === 'open', isIsolated: isOff, isOff, requestedByUID: action.requestedBy.uid };
        this.editNode(name, { fence, ...(isOff && { ready: 'Unknown' as const, readySinceMs: this.nowMs }) });
        return;
      }
      case 'delete-machine':
        this.deleted.push(this.machine(name));
        this.machines = this.machines.filter((each) => each.name !== name);
        return;
      case 'counts': {
        this.#count(action);
        return;
      }
    }
  }

  #status(action: Extract<Action, { kind: 'machine-status' }>): void {
    const { phase, expiryMs } = this.machine(action.target.name);
    if (phase !== action.was.phase || expiryMs !== action.was.expiryMs) throw new Error(`status of ${action.target.name} is another`);
    this.machines = this.machines.map((each) => {
      if (each.name !== action.target.name) return each;
      const { expiryMs: _expiryMs, ...rest } = each;
      const kept = action.to.expiryMs === undefined ? {} : { expiryMs: action.to.expiryMs };
      return { ...rest, ...(action.to.phase !== phase && { phase: action.to.phase, phaseSinceMs: this.nowMs }), ...kept };
    });
  }

  #count({ target, automatic = 0, preservedFailed }: Extract<Action, { kind: 'counts' }>): void {
    if (target.kind === 'MachineSet') {
      this.machineSets = this.machineSets.map((each) => (each.name === target.name ? { ...each, counts: { automatic, preservedFailed } } : each));
    } else {
      this.machineDeployments = this.machineDeployments.map((each) => (each.name === target.name ? { ...each, preservedFailed } : each));
    }
  }
}
