import { CLUSTER_CONFIG, CONFIG_KEY } from '../../config/configuration.ts';
import { timesOfCluster } from '../../config/daemon-times.ts';
import { NodeDaemonController } from '../../controllers/node-daemons/controller.ts';
import { CANDIDATES_LEASE } from '../../controllers/fence/handover/candidates.ts';
import type { FenceListers, Queue } from '../../controllers/fence/dependencies.ts';
import type { FastDetectionSources } from '../../controllers/node-daemons/fast/fast-detection.ts';
import { AgentError } from '../../ports/agents.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { NodeDaemons, NodeOrders } from '../../ports/node-daemons.ts';
import type { ConfigMap } from '../../ports/objects.ts';
import type { Prober } from '../../ports/probes.ts';
import { LEASES } from '../../ports/resources.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { GatedController } from '../gated-controller.ts';
import type { Built } from '../gated-controller.ts';
import { watchBase, watching } from '../watching.ts';

export interface NodeDaemonSources extends Pick<FastDetectionSources, 'planner' | 'lifeAtMs'> {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'reports' | 'leases'>;
  configMaps: Lister<ConfigMap>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin' | 'epoch'> & { readonly identity: string };
  /** These words, and no others, stand for this topic in `nodefence status`. */
  say: (topic: string, words: readonly string[]) => void;
  prober: Prober;
  queue: Queue;
}

/** Nothing has to be found out: where it is switched on, it runs. */
const LOOK_MS = 3_600_000;

/** The controllers' side of the node daemons; `undefined` when it is switched off: then nothing listens. */
export function setUpNodeDaemons(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: NodeDaemonSources,
): GatedController<'served', 'daemons', NodeDaemonController> | undefined {
  if (ports.nodeDaemons === undefined) return undefined;
  const given = ports.nodeDaemons;
  return new GatedController<'served', 'daemons', NodeDaemonController>(ports, options, {
    question: 'whether node daemons are served',
    find: () => Promise.resolve('served'),
    gate: (_found, run) => {
      run(['daemons']);
      return LOOK_MS;
    },
    build: () => build(given, ports, options, sources),
  });
}

/** For agents, which are made first: whoever runs when they ask. */
export function asNodeDaemons(running: () => (NodeDaemons & NodeOrders) | undefined): NodeDaemons & NodeOrders {
  const notYet = (asked: string): Promise<never> =>
    Promise.reject(new AgentError('NotSent', { device: '', plug: '', asked, answered: 'the controller of node daemons does not run yet' }));
  return {
    endGrants: (node, bootID, call) => running()?.endGrants(node, bootID, call) ?? notYet(`to end the grants of node ${node}`),
    order: (node, ordered, call) => running()?.order(node, ordered, call) ?? notYet(`the daemon of node ${node} to ${ordered.action}`),
    sawEnded: (node, bootID) => running()?.sawEnded(node, bootID),
    isHeard: (node, bootID) => running()?.isHeard(node, bootID) ?? false,
    clockDoubt: (node, bootID) => running()?.clockDoubt(node, bootID),
    permit: (node, permit) => running()?.permit(node, permit) ?? (() => undefined),
  };
}

function build(
  { socket, keyPairs, topologyKeys }: NonNullable<ControllerPorts['nodeDaemons']>,
  ports: ControllerPorts,
  options: ControllerOptions,
  { cluster, listers, configMaps, leadership, say, queue, planner, prober, lifeAtMs }: NodeDaemonSources,
): Built<NodeDaemonController> {
  const { clock, logger: log, metrics, recorder } = ports;
  const { namespace } = options;
  const { watch, reflectors } = watching(watchBase(ports, options));
  const controller = new NodeDaemonController({
    ...{ clock, cluster, log, leadership, socket, keyPairs, recorder, metrics: metrics.nodeDaemons },
    listers: { ...listers, configMaps, leases: watch(LEASES, { namespace }) },
    writtenTimes: () => timesOfCluster(configMaps.get(`${namespace}/${CLUSTER_CONFIG}`)?.data?.[CONFIG_KEY]),
    fast: { planner, prober, kubeletLeases: listers.leases, lifeAtMs, recorder, wake: (node) => queue.add(node) },
    tellProblems: (problems) => say('node daemons', problems),
    options: { namespace, topologyKeys, replica: leadership.identity.split('_').at(-1) ?? '', replicasLease: CANDIDATES_LEASE },
  });
  return { controller, reflectors };
}
