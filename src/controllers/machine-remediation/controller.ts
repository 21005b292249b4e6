import type { ClusterMachine } from '../../ports/cluster-api.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { HostObservations } from '../shared/baremetal-host/host-observations.ts';
import { LifeObservations } from '../shared/baremetal-host/life-observations.ts';
import { gatedWrites, conflictUnless } from '../shared/gated-cluster.ts';
import { isConflict, wasRefused } from '../shared/conflict.ts';
import type { Plan, ReconciledKind } from '../shared/reconciler/kind.ts';
import { AFTER_CONFLICT_MS, Reconciler } from '../shared/reconciler/reconciler.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Action, Decision } from './actions.ts';
import { decideByFence } from './by-fence.ts';
import type { FenceAction } from './by-fence.ts';
import { decide } from './decide.ts';
import type { MachineRemediationDependencies, WatchedMachines } from './dependencies.ts';
import { Enqueue, HOST_KIND, isHeld, isMarked, kindOf } from './enqueue.ts';
import { Locks } from './locks.ts';
import { GAVE_UP, HOLD, POWERED_OFF } from './names.ts';
import { observe, observeOrphan } from './observe.ts';
import type { Observer, Observation } from './observe.ts';
import { OutOfServiceObservations } from './out-of-service-observations.ts';
import { perform } from './perform.ts';
import { FirstSeenDeadlines } from './first-seen-deadlines.ts';
import { isSwitchedOff } from './situation.ts';
import { Recoveries } from './recoveries.ts';

const LOCKS = 'locks';
const NAME = 'machine-remediation';

type Kind<T extends object> = ReconciledKind<T, Action | FenceAction>;
type Planned = Plan<Action | FenceAction>;
type LockedDecision = Pick<Decision, 'problems' | 'holdsNode' | 'nextDueMs'> & Pick<Planned, 'actions'>;

/** What its kinds share. */
interface Context {
  dependencies: MachineRemediationDependencies;
  gate: WriteGate;
  observer: Observer;
  locks: Locks;
  enqueue: Enqueue;
  /** Hosts that were held off when this process began to lead are counted. */
  hasCounted: boolean;
}

/** Nothing is to be done before the resync. */
const IDLE: Planned = { actions: [], problems: [], perform: () => Promise.resolve() };

/** Machine remediation (docs/machine-remediation.md). Nothing is kept that is not in the objects but what this process has seen first. */
export function machineRemediationController(given: MachineRemediationDependencies): Reconciler {
  const { clock, leadership, machines, hosts, nodes, leases, fences, options, queue } = given;
  const watches = [...machines.map(({ lister }) => lister), nodes, leases, fences, ...(hosts === undefined ? [] : [hosts])];
  const gate = new WriteGate({ clock, leadership, enforce: () => options.enforce, watches: () => watches });
  const cluster = gatedWrites(conflictUnless(() => gate.mayWrite()))(given.cluster);
  const dependencies = { ...given, cluster };
  const observer: Observer = {
    ...dependencies,
    observations: new HostObservations(clock, [HOLD], () => hosts?.resumedAtMs),
    life: new LifeObservations({ clock, leases, nodes }),
    recoveries: new Recoveries(),
    deadlines: new FirstSeenDeadlines(clock),
    releases: new OutOfServiceObservations(clock),
  };
  const locks = new Locks({ cluster, options, lock: given.lockOn(cluster) });
  const enqueue = new Enqueue(given, observer, locks);
  const context: Context = { dependencies, gate, observer, locks, enqueue, hasCounted: false };
  return new Reconciler({
    ...{ ...dependencies, gate, name: 'machine remediation' },
    kinds: [...machines.map((watched) => machineKind(context, watched)), hostKind(context), locksKind(context)],
    isSynced: () => watches.every(({ synced }) => synced),
    subscribe: () => [...enqueue.subscribe(), () => dependencies.offsOnRequest.forget(NAME)],
    enqueueAll: () => {
      enqueue.all();
      queue.add(LOCKS);
    },
  });
}

function machineKind(context: Context, watched: WatchedMachines): Kind<ClusterMachine> {
  const { resource, lister } = watched;
  return {
    kind: kindOf(watched),
    known: (key) => lister.get(key),
    get: (namespace, name) => context.dependencies.cluster.get(resource, name, namespace),
    reconcile: async (key, object) => {
      countHeldOff(context);
      const observation = await observe(context.observer, watched, object, () => context.enqueue.heldBy(watched, object));
      if (observation.blocked === undefined) return planFor(context, key, observation);
      const { namespace = '', name } = object.metadata;
      return { ...IDLE, problems: isMarked(object) ? [`Machine ${namespace}/${name}: nothing is done: ${observation.blocked}`] : [] };
    },
    forget: (key) => forget(context, key),
    isReported,
    leftOff: (machine) => {
      const held = context.enqueue.heldBy(watched, machine);
      return held === undefined ? undefined : heldOffWords(held);
    },
    record: (_key, { metadata }, problem) => {
      record(context, { apiVersion: `${resource.group}/${resource.version}`, kind: 'Machine', metadata }, problem);
    },
  };
}

/** What a leader before has begun counts before anything is begun here. */
function countHeldOff(context: Context): void {
  if (context.hasCounted) return;
  context.hasCounted = true;
  for (const { key, node } of context.enqueue.heldOff()) context.dependencies.offsOnRequest.see(`${NAME} ${key}`, node);
}

/** One alone is reported to nobody: any API server has one now and then. */
function isReported(_key: string, _error: unknown, failures: number): boolean {
  return failures > 1;
}

function heldOffWords({ metadata: { namespace = '', name } }: BareMetalHost): string {
  return `BareMetalHost ${namespace}/${name} is held off`;
}

/** Hosts on which our hold is, and which no Machine names: they are not left off. */
function hostKind(context: Context): Kind<BareMetalHost> {
  const { cluster, hosts } = context.dependencies;
  const { enqueue, observer } = context;
  return {
    kind: HOST_KIND,
    known: (key) => hosts?.get(key),
    get: (namespace, name) => (hosts === undefined ? Promise.resolve(undefined) : cluster.get(BARE_METAL_HOSTS, name, namespace)),
    reconcile: async (key, host) => {
      if (!isHeld(host)) return undefined;
      const machines = enqueue.foundOn(host).map(([{ resource }, { metadata }]) => cluster.get(resource, metadata.name, metadata.namespace));
      if ((await Promise.all(machines)).some((machine) => machine !== undefined)) {
        enqueue.machinesOf(host);
        return undefined;
      }
      const observation = await observeOrphan(observer, host);
      return observation === undefined ? IDLE : planFor(context, key, observation);
    },
    forget: (key) => forget(context, key),
    isReported,
    leftOff: (host) => (isHeld(host) ? heldOffWords(host) : undefined),
    record: (_key, { metadata }, problem) => {
      record(context, { apiVersion: 'metal3.io/v1alpha1', kind: HOST_KIND, metadata }, problem);
    },
  };
}

/** What a predecessor has left of our locks. */
function locksKind({ dependencies: { machines, hosts }, gate, locks }: Context): Kind<object> {
  // Something of ours is under way on this node, or may be: a Machine that has lost its nodeRef may be on any.
  const isWanted = (node: string): boolean => {
    const names = machines.flatMap(({ lister }) => [...lister.all()].filter(isMarked)).map(({ status }) => status?.nodeRef?.name);
    return names.includes(node) || names.includes(undefined) || [...(hosts?.all() ?? [])].some(isHeld);
  };
  return {
    kind: LOCKS,
    reconcile: async () => {
      if (gate.mayWrite()) await locks.sweep(isWanted);
      return IDLE;
    },
  };
}

async function planFor(context: Context, key: string, observation: Observation): Promise<Planned> {
  const { dependencies, observer } = context;
  const by = `${NAME} ${key}`;
  dependencies.offsOnRequest.see(by, isSwitchedOff(observation.snapshot) ? observation.nodeName : undefined);
  const { actions, problems, holdsNode, nextDueMs = Infinity } = await decideLocked(context, key, observation);
  return {
    ...{ actions, problems, dueInMs: nextDueMs - observation.snapshot.nowMs, afterActionsMs: 0 },
    perform: (action) => perform({ ...dependencies, life: observer.life, by }, observation, action),
    failed: (action, error) => {
      if (action.kind === 'taint' && !isConflict(error)) observer.releases.failed(observation.snapshot.machine?.uid ?? '', wasRefused(error));
    },
    // What has to wait for the node is not asked for again and again.
    afterConflictMs: (action) => ('proof' in action ? undefined : AFTER_CONFLICT_MS),
    settle: async (end) => {
      if (end === 'none' && !holdsNode) await giveBack(context, key);
    },
  };
}

/** With the node in hand, before anything is written. */
async function decideLocked({ gate, locks }: Context, key: string, { snapshot, byFence, nodeName }: Observation): Promise<LockedDecision> {
  if (byFence !== undefined) return { ...decideByFence(byFence), holdsNode: false };
  const decision = decide(snapshot);
  if (!decision.holdsNode || !gate.mayWrite()) return decision;
  const takenBy = await locks.take(key, nodeName, isUnderWay(snapshot));
  return takenBy === undefined ? decision : decide({ ...snapshot, takenBy });
}

async function forget(context: Context, key: string): Promise<void> {
  context.dependencies.offsOnRequest.see(`${NAME} ${key}`, undefined);
  await giveBack(context, key);
}

async function giveBack({ gate, locks }: Context, key: string): Promise<void> {
  if (gate.mayWrite()) await locks.giveBack(key);
}

function record({ dependencies }: Context, { metadata: { name, namespace = '', uid = '' }, ...type }: KubeObject, problem: string): void {
  dependencies.recorder.event({ ...type, metadata: { name, namespace, uid } }, 'Warning', 'RemediationBlocked', problem);
}

/** Something was switched, or is being so. */
function isUnderWay({ host, machine }: Observation['snapshot']): boolean {
  return host?.annotations[HOLD] !== undefined || (machine?.annotations[POWERED_OFF] !== undefined && machine.annotations[GAVE_UP] === undefined);
}
