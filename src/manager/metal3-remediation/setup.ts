import { BY_NODE } from '../../controllers/fence/dependencies.ts';
import type { FenceListers } from '../../controllers/fence/dependencies.ts';
import { metal3RemediationController } from '../../controllers/metal3-remediation/controller.ts';
import type { NodeCluster } from '../../controllers/metal3-remediation/dependencies.ts';
import { workloadOf } from '../../controllers/metal3-remediation/workload.ts';
import { HostObservations } from '../../controllers/shared/baremetal-host/host-observations.ts';
import type { OffsOnRequest } from '../../controllers/shared/remediation/offs-on-request.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import { BARE_METAL_HOSTS, metal3Remediations } from '../../ports/metal3.ts';
import type { BareMetalHost, Metal3RemediationVersion } from '../../ports/metal3.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { StormHolds } from '../../ports/storm.ts';
import type { ControllerOptions, ControllerPorts } from '../composition.ts';
import { Owners } from '../detection/ownership.ts';
import { GatedController, overQueue } from '../gated-controller.ts';
import type { Built } from '../gated-controller.ts';
import { hasStableOutOfService } from '../server-version.ts';
import { rightsOf } from '../self-check/installed.ts';
import { watchBase, watching } from '../watching.ts';
import type { WorkloadPool } from '../workload-pool.ts';
import { findRemediations } from './found-remediations.ts';
import type { FoundRemediations } from './found-remediations.ts';
import { metal3Claim } from './mode.ts';

export interface Metal3RemediationSources {
  cluster: Cluster;
  listers: Pick<FenceListers, 'nodes' | 'pods' | 'volumeAttachments'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  workloads: WorkloadPool;
  stormHolds: StormHolds;
  offsOnRequest: OffsOnRequest;
}

/** Hosts that are power-cycled at the same time. */
const IN_FLIGHT_MAX = 50;
const VERSION_DEADLINE_MS = 10_000;

/** Metal3Remediation for as long as it is ours: where Metal3's own controller is seen it goes on with what stands, for both write the same. */
export function setUpMetal3Remediation(
  ports: ControllerPorts,
  options: ControllerOptions,
  sources: Metal3RemediationSources,
): GatedController<FoundRemediations, Metal3RemediationVersion> | undefined {
  const { metal3Remediation: choice = 'off' } = options;
  if (choice === 'off') return undefined;
  const { clock, logger: log, transport } = ports;
  const owners = new Owners<Metal3RemediationVersion>({ clock, log, claim: metal3Claim(choice), message: 'Metal3Remediation mode' });
  return new GatedController<FoundRemediations, Metal3RemediationVersion>(ports, options, {
    question: 'who owns Metal3Remediation',
    find: () => findRemediations(transport, clock.wallMs()),
    gate: (found, run) => {
      const { own, restMs } = owners.judge([found], found.operator);
      run(own);
      return restMs;
    },
    build: (version) => build(version, () => owners.hasOperator, ports, options, sources),
  });
}

function build(
  version: Metal3RemediationVersion,
  hasOperator: () => boolean,
  ports: ControllerPorts,
  options: ControllerOptions,
  { cluster, listers, leadership, workloads, stormHolds, offsOnRequest }: Metal3RemediationSources,
): Built {
  const { transport, clock, logger: log, metrics, recorder } = ports;
  const { mode, ownNode, nodeLeaseNamespace } = options;
  const { watch, reflectors } = watching(watchBase(ports, options));
  const { requests, templates } = metal3Remediations(version);
  const remediations = { resource: requests, lister: watch(requests, { prune: shown }) };
  const watchedTemplates = { resource: templates, lister: watch(templates, { prune: shown }) };
  const hosts = watch(BARE_METAL_HOSTS, { prune: shownHost });
  const controller = overQueue(ports, 'metal3-remediation', (queue) =>
    metal3RemediationController({
      ...{
        clock,
        recorder,
        log,
        leadership,
        remediations,
        templates: watchedTemplates,
        hosts,
        nodes: listers.nodes,
        stormHolds,
        offsOnRequest,
        queue,
      },
      own: { cluster, servesOutOfService: () => hasStableOutOfService(transport, VERSION_DEADLINE_MS) },
      served: new HostObservations(clock, [], () => hosts.resumedAtMs),
      workloadOf: (node) => workloadOf(listers.pods.byIndex(BY_NODE, node), listers.volumeAttachments.byIndex(BY_NODE, node).length),
      podsOf: (node) => listers.pods.byIndex(BY_NODE, node),
      workloads: (secret) => nodeClusterOf(workloads, secret),
      metrics: metrics.metal3Remediation,
      mend: rightsOf('metal3-remediation', options.namespace, true),
      options: { enforce: mode === 'enforce', nodeLeaseNamespace, hasOperator, ownNode, inFlightMax: IN_FLIGHT_MAX },
    }),
  );
  return { controller, reflectors };
}

async function nodeClusterOf(workloads: WorkloadPool, secret: { namespace: string; name: string }): Promise<NodeCluster | undefined> {
  const found = await workloads.find(secret);
  if (found === undefined) return undefined;
  return { cluster: found.cluster, servesOutOfService: () => hasStableOutOfService(found.transport, VERSION_DEADLINE_MS) };
}

/** Watched to know when to look, and what others are doing; a look reads them anew. */
function shown<T extends KubeObject & { status?: { phase?: string } }>({ metadata: whole, status }: T): T {
  const { name, namespace, uid, resourceVersion, creationTimestamp, finalizers, ownerReferences } = whole;
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp, finalizers, ownerReferences };
  return Object.freeze({ metadata, status: { phase: status?.phase } }) as unknown as T;
}

/** Its holds, whether it is on, and whether anybody serves it. */
function shownHost(host: BareMetalHost): BareMetalHost {
  const { name, namespace, uid, resourceVersion, annotations } = host.metadata;
  const { poweredOn, operationalStatus, provisioning } = host.status ?? {};
  const status = { poweredOn, operationalStatus, provisioning };
  return Object.freeze({ metadata: { name, namespace, uid, resourceVersion, annotations }, status }) as unknown as BareMetalHost;
}
