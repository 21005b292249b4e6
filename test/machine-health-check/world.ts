import type { Action, Decision } from '../../src/controllers/machine-health-check/actions.ts';
import { conditionOf } from '../../src/controllers/machine-health-check/conditions.ts';
import type { Condition } from '../../src/controllers/machine-health-check/conditions.ts';
import { readCluster, readNode } from '../../src/controllers/machine-health-check/read/cluster.ts';
import { readHealthCheck } from '../../src/controllers/machine-health-check/read/health-check.ts';
import { readMachine } from '../../src/controllers/machine-health-check/read/machine.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import type { ServedAs } from '../../src/controllers/machine-health-check/read/objects.ts';
import { readRequest, readTemplate } from '../../src/controllers/machine-health-check/read/request.ts';
import type { MachineFacts } from '../../src/controllers/machine-health-check/snapshot.ts';
import { NOW_MS } from './objects.ts';
import { decideAll } from './snapshot.ts';
import type { Facts } from './snapshot.ts';

export interface Scene extends Pick<Facts, 'maxInFlight' | 'areNodesUnknown' | 'unknownKinds' | 'refusals' | 'holders' | 'freshSinceMs'> {
  hasClusters?: boolean;
  checks?: UntypedObject[];
  machines?: UntypedObject[];
  /** Conditions by the name of a Node of this cluster. */
  nodes?: Record<string, object[]>;
  clusters?: UntypedObject[];
  templates?: UntypedObject[];
  requests?: UntypedObject[];
  served?: ServedAs;
}

type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** RFC 7386. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isTree(patch)) return patch;
  const result: Tree = isTree(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** An API server in small: does what the actions say, and refuses what was decided on another state. */
export class World {
  nowMs = NOW_MS;
  checks: UntypedObject[];
  machines: UntypedObject[];
  nodes: Record<string, object[]>;
  clusters: UntypedObject[];
  templates: UntypedObject[];
  requests: UntypedObject[];
  readonly scene: Scene;
  readonly done: Action[] = [];
  #versions = 1;

  constructor(scene: Scene) {
    this.scene = scene;
    this.checks = scene.checks ?? [];
    this.machines = scene.machines ?? [];
    this.nodes = scene.nodes ?? {};
    this.clusters = scene.clusters ?? [];
    this.templates = scene.templates ?? [];
    this.requests = scene.requests ?? [];
  }

  get facts(): Facts {
    const { served = { hasBothLists: true }, hasClusters = true } = this.scene;
    return {
      ...this.scene,
      nowMs: this.nowMs,
      hasClusters,
      checks: this.checks.map((check) => readHealthCheck(check, served)),
      machines: this.machines.map((machine) => readMachine(machine, served)),
      nodes: Object.entries(this.nodes).map(([name, conditions]) =>
        readNode({ metadata: { name }, spec: {}, status: { conditions } } as Parameters<typeof readNode>[0]),
      ),
      clusters: this.clusters.map(readCluster),
      requests: this.requests.map(readRequest),
      templates: this.templates.map(readTemplate),
    };
  }

  decide(): Decision {
    return decideAll(this.facts);
  }

  /** Decides and does until there is nothing more to do. */
  settle(roundsMax = 10): Decision {
    for (let round = 0; round < roundsMax; round += 1) {
      const decision = this.decide();
      if (decision.actions.length === 0) return decision;
      for (const action of decision.actions) this.apply(action);
    }
    throw new Error(`not settled after ${roundsMax} rounds: ${JSON.stringify(this.decide().actions)}`);
  }

  pass(seconds: number): void {
    this.nowMs += seconds * 1_000;
  }

  machine(name: string): MachineFacts {
    const found = this.machines.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return readMachine(found, this.scene.served ?? { hasBothLists: true });
  }

  /** A condition of a Machine in one list, or in that of v1beta2, else v1beta1. */
  condition(machine: string, type: string, list?: 'v1beta2' | 'v1beta1'): Condition | undefined {
    const { conditions } = this.machine(machine);
    return list === undefined ? conditionOf(conditions, type) : conditions[list].find((each) => each.type === type);
  }

  /** The status of a check as it stands. */
  status(check: string): Tree {
    const found = this.checks.find(({ metadata }) => metadata.name === check)?.status;
    return isTree(found) ? found : {};
  }

  checkCondition(check: string, type: string, path: 'v1beta2' | 'v1beta1' = 'v1beta2'): Condition | undefined {
    const { check: read } = readHealthCheck(
      this.checks.find(({ metadata }) => metadata.name === check)!,
      { hasBothLists: true },
    );
    return read.status.conditions[path].find((each) => each.type === type);
  }

  requestNames(): string[] {
    return this.requests.map(({ metadata }) => metadata.name).sort();
  }

  kinds(): string[] {
    return this.done.map(({ kind }) => kind);
  }

  /** Reasons of the events that came with what was done. */
  events(): string[] {
    return this.done.flatMap(({ events = [] }) => events.map(({ reason }) => reason));
  }

  editMachine(name: string, patch: object): void {
    this.machines = this.machines.map((machine) => (machine.metadata.name === name ? this.#written(machine, patch) : machine));
  }

  editCheck(name: string, patch: object): void {
    this.checks = this.checks.map((check) => (check.metadata.name === name ? this.#written(check, patch) : check));
  }

  apply(action: Action): void {
    this.done.push(action);
    const { target } = action;
    const isTarget = ({ metadata }: UntypedObject): boolean => metadata.uid === target.uid && metadata.name === target.name;
    switch (action.kind) {
      case 'machine-status':
      case 'machine-metadata':
        this.machines = this.machines.map((machine) => (isTarget(machine) ? this.#patched(machine, action.patch) : machine));
        return;
      case 'check-status':
      case 'check-metadata':
        this.checks = this.checks.map((check) => (isTarget(check) ? this.#patched(check, action.patch) : check));
        return;
      case 'delete-machine':
        this.machines = this.machines.filter((machine) => !isTarget(machine));
        return;
      case 'delete-request':
        if (!this.requests.some(isTarget)) throw new Error('no such request');
        this.requests = this.requests.filter((request) => !isTarget(request));
        return;
      case 'create-request': {
        const { name } = action.object.metadata;
        if (this.requests.some(({ metadata, kind }) => metadata.name === name && kind === action.object.kind)) throw new Error(`${name} exists`);
        const metadata = { ...action.object.metadata, uid: `uid-request-${name}` };
        this.requests = [...this.requests, { ...action.object, metadata }];
        return;
      }
    }
  }

  #patched(object: UntypedObject, patch: { metadata: { uid: string; resourceVersion?: string } }): UntypedObject {
    const { uid, resourceVersion } = patch.metadata;
    if (uid !== object.metadata.uid || resourceVersion !== object.metadata.resourceVersion) throw new Error(`conflict on ${object.metadata.name}`);
    return this.#written(object, patch);
  }

  #written(object: UntypedObject, patch: object): UntypedObject {
    this.#versions += 1;
    const result = merged(object, patch) as UntypedObject;
    return { ...result, metadata: { ...result.metadata, resourceVersion: String(this.#versions) } };
  }
}
