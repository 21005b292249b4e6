import { CORDON_MARK, PRESERVE, PRESERVED_TAINT, SCALE_DOWN_DISABLED } from '../../src/controllers/preservation/names.ts';
import type { MachineFacts, MachinePhase, NodeFacts } from '../../src/controllers/preservation/snapshot.ts';
import { HOUR_MS, machine, node, NOW_MS, World } from './world.ts';
import type { Scene } from './world.ts';

export const POOL = 'worker1';
export const POOL_LABEL = 'worker.gardener.cloud/pool';

export interface Member {
  name: string;
  phase?: MachinePhase;
  /** Annotation on the Machine. */
  machine?: string;
  /** Annotation on the Node. */
  node?: string;
  /** Hours since it was made. */
  age?: number;
  facts?: Partial<MachineFacts>;
  nodeFacts?: Partial<NodeFacts>;
  hasNode?: boolean;
  set?: string;
}

export interface Fleet {
  members: Member[];
  /** Maximum of the pool. */
  max?: number;
  replicas?: number;
  timeoutHours?: number;
  /** Deployments of the pool, each with a set of its name. */
  deployments?: string[];
  sets?: { name: string; deployment: string; replicas: number }[];
  isHibernated?: boolean;
  scene?: Scene;
}

const asked = (value: string | undefined): Record<string, string> => (value === undefined ? {} : { [PRESERVE]: value });

function machineOf({ name, phase = 'Running', machine: value, age = 24, facts, hasNode = true, set = 'd' }: Member): MachineFacts {
  const { nodeName, ...base } = machine(name, { phase, annotations: asked(value), createdMs: NOW_MS - age * HOUR_MS, machineSet: set });
  return { ...base, ...(hasNode && nodeName !== undefined && { nodeName }), ...facts };
}

/** A failed machine's node is not Ready. */
function nodeOf({ name, phase = 'Running', node: value, nodeFacts }: Member): NodeFacts {
  const ready = phase === 'Failed' || phase === 'Unknown' ? 'False' : 'True';
  return node(`node-of-${name}`, { annotations: asked(value), ready, readySinceMs: NOW_MS - HOUR_MS / 30, ...nodeFacts });
}

/** One pool, in own mode, of one deployment `d` with one set `d` unless said otherwise. */
export function fleet({ members, max = 0, replicas, timeoutHours = 72, deployments = ['d'], sets, isHibernated = false, scene }: Fleet): World {
  const wanted = replicas ?? members.length;
  const listed = sets ?? deployments.map((name) => ({ name, deployment: name, replicas: members.filter(({ set = 'd' }) => set === name).length }));
  return new World({
    machines: members.map(machineOf),
    nodes: members.filter(({ hasNode = true }) => hasNode).map(nodeOf),
    machineSets: listed.map((set) => ({
      ...set,
      namespace: 'shoot',
      uid: `uid-${set.name}`,
      ...(set.name === 'd' && sets === undefined && { replicas: wanted }),
    })),
    machineDeployments: deployments.map((name) => ({
      name,
      namespace: 'shoot',
      uid: `uid-deployment-${name}`,
      labels: { [POOL_LABEL]: POOL },
      isHibernated,
    })),
    pools: { [POOL]: { autoPreserveMax: max, preserveTimeoutMs: timeoutHours * HOUR_MS } },
    ...scene,
  });
}

/** How a machine stands, as somebody sees it who looks at it. */
export function look(world: World, name: string): Record<string, unknown> {
  const own = world.machine(name);
  const backing = world.nodes.find((each) => each.name === own.nodeName);
  const view = world.decide().views.find((each) => each.name === name);
  return {
    phase: world.deleted.includes(own) ? 'deleted' : (view?.phase ?? own.phase),
    until: own.expiryMs === undefined ? undefined : (own.expiryMs - NOW_MS) / HOUR_MS,
    machine: own.annotations[PRESERVE],
    ...(backing !== undefined && {
      node: backing.annotations[PRESERVE],
      shielded: backing.annotations[SCALE_DOWN_DISABLED] === 'true',
      cordoned: backing.isUnschedulable && backing.taints.includes(PRESERVED_TAINT),
      free: !backing.isUnschedulable && !backing.taints.includes(PRESERVED_TAINT) && backing.annotations[CORDON_MARK] === undefined,
      condition: backing.preserved === undefined ? undefined : `${backing.preserved.status} ${backing.preserved.reason}`,
    }),
  };
}

export function phases(world: World): Record<string, unknown> {
  return Object.fromEntries([...world.machines, ...world.deleted].map(({ name }) => [name, look(world, name)['phase']]));
}

/** Its node is Ready again. */
export function heal(world: World, name: string): void {
  world.editNode(`node-of-${name}`, { ready: 'True', readySinceMs: world.nowMs });
  world.settle();
}

/** Its node is gone silent for so long that MCM would call it Failed. */
export function fail(world: World, name: string): void {
  world.editNode(`node-of-${name}`, { ready: 'Unknown', readySinceMs: world.nowMs });
  world.settle();
  pass(world, 1 / 6);
}

export function pass(world: World, hours: number): void {
  world.nowMs += hours * HOUR_MS;
  world.settle();
}

export function annotate(world: World, name: string, value: string | undefined, where: 'machine' | 'node' = 'node'): void {
  const target = where === 'machine' ? world.machine(name) : world.node(`node-of-${name}`);
  const { [PRESERVE]: _old, ...rest } = target.annotations;
  const annotations = { ...rest, ...asked(value) };
  if (where === 'machine') world.editMachine(name, { annotations });
  else world.editNode(`node-of-${name}`, { annotations });
}
