import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { nodeRemediationController } from '../../controllers/node-remediation/controller.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { ProofReader } from '../../ports/proof-reads.ts';
import type { RemediationKind } from '../../ports/remediation.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { GatedController, overQueue } from '../gated-controller.ts';
import type { Built, ControllerSetup } from '../gated-controller.ts';
import { rightsOf } from '../self-check/installed.ts';
import { watchBase, watching } from '../watching.ts';
import type { WorkloadPool } from '../workload-pool.ts';
import { servedKinds } from './served-kinds.ts';

export interface RemediationSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'fences'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  workloads: WorkloadPool;
  proofReader: ProofReader;
}

type Kinds = readonly RemediationKind[];

/** Requests with a fence under way at the same time; the storm policies of the fences themselves are stricter. */
const IN_FLIGHT_MAX = 50;
/** So often it is looked whether requests can be made at all. */
const RESYNC_MS = 60_000;

/** NodeFenceRemediation for as long as its kinds are installed: nobody else serves them. `undefined` when it is switched off. */
export function setUpNodeRemediation(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: RemediationSources,
): GatedController<Kinds, Kinds> | undefined {
  if (options.remediation !== true) return undefined;
  return new GatedController<Kinds, Kinds>(ports, options, {
    question: 'which requests for remediation are installed',
    find: () => servedKinds(ports.transport),
    gate: gateOf(ports.logger),
    build: (kinds) => build(kinds, ports, options, sources),
  });
}

function gateOf(log: ControllerPorts['logger']): ControllerSetup<Kinds, Kinds>['gate'] {
  let told = '';
  return (kinds, run) => {
    const names = kinds.map(({ requests }) => `${requests.plural}.${requests.group}`).join(', ');
    if (names !== told) log.info('remediation kinds', { kinds: names === '' ? 'none are installed' : names });
    told = names;
    run(kinds.length === 0 ? [] : [kinds]);
    return RESYNC_MS;
  };
}

function build(
  installed: Kinds,
  ports: ControllerPorts,
  options: ControllerOptions,
  { cluster, listers: { fences }, leadership, workloads, proofReader }: RemediationSources,
): Built {
  const { clock, logger: log, metrics, recorder } = ports;
  const { watch, reflectors } = watching(watchBase(ports, options));
  const kinds = installed.map((kind) => ({
    ...kind,
    listers: { requests: watch(kind.requests, { prune: shown }), templates: watch(kind.templates, { prune: shown }) },
  }));
  const controller = overQueue(ports, 'remediation', (queue) =>
    nodeRemediationController({
      ...{ clock, cluster, recorder, log, leadership, kinds, fences, proofReader, queue },
      metrics: metrics.remediation,
      mend: rightsOf('remediation', options.namespace, true),
      workloadClusters: workloads.clusterOf,
      options: { enforce: options.mode === 'enforce', inFlightMax: IN_FLIGHT_MAX },
    }),
  );
  return { controller, reflectors };
}

/** Watched only to know when to look; a look reads them anew. */
function shown<T extends KubeObject & { status?: { phase?: string } }>(object: T): T {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const metadata = { name, namespace, uid, resourceVersion };
  return Object.freeze({ metadata, status: { phase: object.status?.phase } }) as unknown as T;
}
