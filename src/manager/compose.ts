import { FenceController } from '../controllers/fence/controller.ts';
import type { FenceDependencies } from '../controllers/fence/dependencies.ts';
import { leadershipRecords } from '../controllers/fence/records.ts';
import { ProbeController, type ProbeDependencies } from '../controllers/probes/controller.ts';
import type { SelfCheck } from '../controllers/self-check/self-check.ts';
import { ProberBehindCalls } from '../controllers/shared/prober-behind-calls.ts';
import { checkLeadership } from '../domain/timing.ts';
import { Dispatcher } from '../dispatch/dispatcher.ts';
import { ApiClient } from '../kube/client.ts';
import { LeaderElector } from '../kube/leader-elector.ts';
import type { LeaderElectorOptions } from '../kube/leader-elector.ts';
import type { Reflector } from '../kube/reflector.ts';
import { within } from '../kube/within.ts';
import { Workqueue } from '../kube/workqueue.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster, Lister } from '../ports/cluster.ts';
import type { KernelDumps } from '../ports/kdump.ts';
import type { NodeDaemons, NodeOrders } from '../ports/node-daemons.ts';
import type { KubeObject, Lease } from '../ports/objects.ts';
import type { Prober } from '../ports/probes.ts';
import {
  LEADER_DEVICE_ADDRESSES,
  LEADER_HEALTH_CHECKS,
  LEADER_LEASE,
  LEADER_MODE,
  LEADER_NODE,
  LEADER_PRESERVATION,
  LEADER_PROGRAMS,
} from './composition.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';
import { asKernelDumps } from './kdump/setup.ts';
import { asNodeDaemons } from './node-daemons/setup.ts';
import { watchNodeLeases } from './node-leases.ts';
import type { WatchedNodeLeases } from './node-leases.ts';
import { watchOwnNode } from './own-node.ts';
import type { WatchedOwnNode } from './own-node.ts';
import { composeSelfCheck } from './self-check/compose-self-check.ts';
import { ReportingClient } from './self-check/reporting-client.ts';
import { setUpSecondaryControllers } from './secondary-controllers.ts';
import type { SecondaryControllers, SecondarySources } from './secondary-controllers.ts';
import { stormSources } from './storm-sources.ts';
import { watchCluster } from './watches.ts';

/** More than these end no sooner where it is our own CPU that they wait for. */
const NODES_WHILE_BUSY = 12;
/** For each part of the way out; the same as a signal gives. */
const HAND_OVER_DEADLINE_MS = 5_000;

/** The composed fence controller; `start` resolves when it is synced and stands for election. */
export interface ComposedController {
  start(): Promise<void>;
  /** Ends runs and watches and gives the lease back; for a graceful stop. */
  stop(deadlineMs: number): Promise<void>;
  /** Those that are watched now; Machines come and go. */
  readonly listers: readonly { name: string; lister: Lister<KubeObject>; lastError: () => Error | undefined }[];
  readonly elector: LeaderElector;
  /** Does the API server take what must be written? While it does not, this process does not lead in mode enforce. */
  readonly selfCheck: Pick<SelfCheck, 'result' | 'message'>;
}

/** Builds the controller from its ports. The daemon and the simulation both come through here, so that both run the same program. */
export function composeController(ports: ControllerPorts, options: ControllerOptions): ComposedController {
  const { transport, clock, random, logger, metrics } = ports;
  const cluster = new ReportingClient(transport, () => proof.refused);
  const { listers, configMaps, secrets, leader, announced, reflectors, reportWentBack } = watchCluster(ports, options);
  const dispatcher = dispatcherOf(ports, options, cluster, { daemons: () => secondaries.nodeDaemons, dumps: () => secondaries.given.kdump });
  const elector = electorOf(ports, options, new ApiClient({ transport, lane: 'lease' }), {
    onAcquired: (epoch) => {
      logger.info('leading', { epoch });
      storm.acquired();
      secondaries.wake();
      controller.lookAtAll();
      own.ownNode.leads();
    },
    onLost: (reason) => {
      controller.abort(new Error(reason));
      ports.exit(`leadership lost: ${reason}`, 'lost');
    },
    onWentBack: (message) => {
      reportWentBack(message);
      for (const watch of [...reflectors, announced, ...(nodeLeases === undefined ? [] : [nodeLeases]), ...secondaries.watches]) watch.listAnew();
    },
    mayLead: (freeForMs) => selfCheck.mayLead() && own.ownNode.mayLead(freeForMs),
  });
  const proof = composeSelfCheck(ports, options, { nodes: listers.nodes, elector, place: () => nodeLeases?.place, onSecond: (why) => giveUp(why) });
  const { selfCheck } = proof;
  const storm = stormSources(ports, cluster, leader, () => elector.identity);
  const queue: Workqueue = queueOf(ports, options, (node) => controller.reconcile(node));
  const nodeLeases: WatchedNodeLeases | undefined = watchNodeLeases(ports, options, { cluster, listers, leadership: elector, queue });
  const planner = ports.planner({ cluster, configMaps, secrets, nodes: listers.nodes, registry: ports.registry });
  const prober = new ProberBehindCalls({ clock, prober: dispatcher, fences: listers.fences, leadership: elector });
  const watched = { cluster, listers, configMaps, leader, leadership: elector, nodeLeases: nodeLeases?.lister, planner, queue };
  const secondaries = setUpSecondaryControllers(ports, options, { ...watched, ...givenByFences(() => controller, prober), say: proof.say });
  const base = { clock, random, cluster, listers, queue, recorder: ports.recorder, log: logger, metrics: metrics.fence };
  const giveUp = (reason: string): void => void stop(HAND_OVER_DEADLINE_MS).then(() => ports.exit(reason, 'handed-over'));
  const own: WatchedOwnNode = watchOwnNode({ dependencies: base, options, elector, mayLead: proof.mayLead, leader, announced, stepDown: giveUp });
  const dependencies: FenceDependencies = {
    ...base,
    leadership: elector,
    runner: ports.wrapRunner === undefined ? dispatcher : ports.wrapRunner(dispatcher),
    planner,
    successor: () => own.ownNode.holdMessage(),
    stepDown: ({ epoch, message }) => {
      elector.outrankedBy(epoch);
      giveUp(message);
    },
    ...storm.given,
    ...(nodeLeases === undefined ? {} : { nodeLeases: nodeLeases.leases }),
    ...secondaries.given,
    options,
  };
  const controller: FenceController = new FenceController(ports.mutate === undefined ? dependencies : ports.mutate(dependencies));
  const probes = options.probes === true ? probesOf(dependencies, controller, { prober, metrics: metrics.device }) : undefined;
  wakeOnChange([configMaps, secrets], leader, { controller, probes }, elector);
  const watches = [...reflectors, ...(nodeLeases === undefined ? [] : [nodeLeases]), storm.foreignMarks];
  const stop = async (deadlineMs: number): Promise<void> => {
    await stepDown({ controller, queue, elector, clock, logger, companions: secondaries.close() }, deadlineMs);
    await Promise.all([proof.close(), own.close(), probes?.close()]);
    for (const watch of watches) watch.close();
    await dispatcher.close();
  };
  return {
    get listers() {
      return [...reflectors, ...secondaries.reflectors].map(watchedOf);
    },
    elector,
    selfCheck,
    start: () => startInOrder({ watches: [...watches, own], reflectors, selfCheck, secondaries, elector, own, probes, logger, options }),
    stop,
  };
}

/** What they find first of a node is written with what its machine said of itself; a node of which nothing was heard since the start is nobody's suspect. */
function probesOf(dependencies: FenceDependencies, fences: FenceController, given: Pick<ProbeDependencies, 'prober' | 'metrics'>): ProbeController {
  const lifeAtMs = (node: string): number | undefined => {
    const seen = fences.lifeOf(node);
    return seen?.hasSpoken === true ? seen.lifeAtMs : undefined;
  };
  return new ProbeController({ ...dependencies, ...given, lifeAtMs, recordedWith: (node, status) => fences.records.withProbe(node, status) });
}

/** What the controllers beside it are given of the one that fences, which is built after them. */
function givenByFences(
  controller: () => FenceController,
  prober: Prober,
): Pick<SecondarySources, 'stormHolds' | 'remedyHolds' | 'proofReader' | 'lifeAtMs' | 'isOnlySeen' | 'prober'> {
  return {
    prober,
    stormHolds: (node) => controller().stormHolds(node),
    remedyHolds: (node, stages) => controller().remedyHolds(node, stages),
    proofReader: { readAnew: (fence) => controller().readAnew(fence) },
    lifeAtMs: (node) => controller().lifeOf(node)?.lifeAtMs,
    isOnlySeen: (node) => controller().lifeOf(node)?.hasSpoken !== true,
  };
}

interface Starting {
  watches: readonly { start(): void }[];
  reflectors: readonly Reflector<KubeObject>[];
  selfCheck: SelfCheck;
  secondaries: SecondaryControllers;
  elector: LeaderElector;
  own: WatchedOwnNode;
  probes: ProbeController | undefined;
  logger: ControllerPorts['logger'];
  options: Pick<ControllerOptions, 'syncDeadlineMs'>;
}

/** Whoever waits for the lease proves itself meanwhile, so that a takeover waits for nothing. */
async function startInOrder(starting: Starting): Promise<void> {
  const { watches, selfCheck, secondaries, elector, own, probes } = starting;
  for (const companion of [...watches, selfCheck]) companion.start();
  await untilSynced(starting);
  secondaries.start();
  elector.start();
  own.stand();
  probes?.start();
}

/** A right to watch that is lacking, or an API server that is away, is no failure that a restart would mend: it is waited for, and told. Rejects once the controller is stopped. */
async function untilSynced({ reflectors, selfCheck, logger, options: { syncDeadlineMs } }: Starting): Promise<void> {
  for (;;) {
    try {
      await Promise.all(reflectors.map((reflector) => reflector.untilSynced(syncDeadlineMs)));
      return;
    } catch (error) {
      if (selfCheck.isClosed) throw error;
      // What is refused the self-check says in its own words.
      if (selfCheck.result.kind !== 'refused') logger.error('this process waits for its first look at the cluster, and does not lead', { error });
    }
  }
}

/** Another configuration concerns every node; a Lease that is emptied is taken at once. */
function wakeOnChange(
  configuration: readonly Lister<KubeObject>[],
  leader: Lister<Lease>,
  { controller, probes }: { controller: FenceController; probes: ProbeController | undefined },
  elector: LeaderElector,
): void {
  for (const lister of configuration)
    lister.onChange(() => {
      controller.configurationChanged();
      probes?.configurationChanged();
    });
  leader.onChange((before, after) => {
    if ([before, after].some((lease) => (lease?.spec.holderIdentity ?? '') !== '')) elector.wasHeld();
    if ((after?.spec.holderIdentity ?? '') === '') elector.poke();
    else if (after !== undefined) elector.saw(after);
  });
}

function watchedOf(reflector: Reflector<KubeObject>): ComposedController['listers'][number] {
  return { name: reflector.name, lister: reflector.lister, lastError: () => reflector.lastError };
}

function dispatcherOf(
  { registry, clock, connect, host, addresses, nodeDaemons, kdump }: ControllerPorts,
  { namespace }: ControllerOptions,
  cluster: Cluster,
  running: { daemons: () => (NodeDaemons & NodeOrders) | undefined; dumps: () => KernelDumps | undefined },
): Dispatcher {
  const daemons = asNodeDaemons(running.daemons);
  const served = nodeDaemons === undefined ? {} : { daemons, orders: daemons };
  const dumps = kdump === undefined ? {} : { kdump: asKernelDumps(running.dumps) };
  return new Dispatcher(registry, {
    cluster,
    clock,
    namespace,
    ...(connect === undefined ? {} : { connect }),
    ...(host === undefined ? {} : { host }),
    ...(addresses === undefined ? {} : { addresses }),
    ...served,
    ...dumps,
  });
}

function queueOf(
  { clock, random, logger, metrics, load }: ControllerPorts,
  { concurrency }: ControllerOptions,
  reconcile: (node: string) => Promise<void>,
): Workqueue {
  const handler = async (node: string): Promise<undefined> => {
    await reconcile(node);
    return undefined;
  };
  const pacing = load === undefined ? {} : { pacing: { least: NODES_WHILE_BUSY, load } };
  return new Workqueue({ name: 'fence', clock, random, logger, metrics: metrics.workqueue, concurrency, ...pacing, handler });
}

function electorOf(
  { clock, random, logger, metrics }: ControllerPorts,
  options: ControllerOptions,
  cluster: Cluster,
  terms: Pick<LeaderElectorOptions, 'onAcquired' | 'onLost' | 'onWentBack' | 'mayLead'>,
): LeaderElector {
  const { namespace, identity, lease, mode, ownNode = '', preservation, healthChecks, programs, deviceAddresses } = options;
  if (lease !== undefined) {
    const broken = checkLeadership({ leaseMs: lease.durationMs, renewDeadlineMs: lease.renewDeadlineMs, retryMs: lease.retryMs });
    if (broken.length > 0) throw new Error(broken.map(({ message }) => message).join('; '));
  }
  const annotations = {
    [LEADER_MODE]: mode,
    [LEADER_NODE]: ownNode,
    ...(preservation !== undefined && { [LEADER_PRESERVATION]: preservation }),
    ...(healthChecks !== undefined && { [LEADER_HEALTH_CHECKS]: healthChecks }),
    ...(programs !== undefined && { [LEADER_PROGRAMS]: programs }),
    ...(deviceAddresses !== undefined && { [LEADER_DEVICE_ADDRESSES]: deviceAddresses }),
  };
  const base = { cluster, clock, random, logger, metrics: metrics.lease, records: leadershipRecords(cluster) };
  return new LeaderElector({ ...base, namespace, name: LEADER_LEASE, identity, annotations, ...lease, ...terms });
}

interface Standing {
  controller: FenceController;
  queue: Workqueue;
  elector: LeaderElector;
  clock: Clock;
  logger: ControllerPorts['logger'];
  /** Other controllers, on their way out. */
  companions: Promise<unknown>;
}

/** The lease is given back where it may be; else the successor waits it out. */
async function stepDown(standing: Standing, deadlineMs: number): Promise<void> {
  await giveBack(standing, deadlineMs).catch((error: unknown) => {
    standing.logger.warn('lease not released; the successor waits until it expires', { error });
    standing.elector.close();
  });
}

/** An emptied Lease lets the successor act at once: it is not given back while one of our passes or runs may still write. */
async function giveBack({ controller, queue, elector, clock, companions }: Standing, deadlineMs: number): Promise<void> {
  const reason = new Error('the controller stops');
  const running = await queue.close(deadlineMs);
  if (running.length > 0) {
    controller.abort(reason);
    throw new Error(`passes for ${running.join(', ')} did not end`);
  }
  const isQuiet = await within(clock, 2 * deadlineMs, controller.stepDown(reason, deadlineMs));
  await within(clock, deadlineMs, companions);
  if (!isQuiet) throw new Error('a write may still be on its way');
  await elector.release(deadlineMs);
}
