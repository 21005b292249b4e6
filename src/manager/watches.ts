import { BY_NODE } from '../controllers/fence/dependencies.ts';
import type { FenceListers } from '../controllers/fence/dependencies.ts';
import { CANDIDATES_LEASE } from '../controllers/fence/handover/candidates.ts';
import { WrittenLister } from '../controllers/shared/own-writes.ts';
import { Reflector } from '../kube/reflector.ts';
import type { Lister } from '../ports/cluster.ts';
import type { ConfigMap, KubeObject, Lease, Secret } from '../ports/objects.ts';
import {
  CONFIG_MAPS,
  LEASES,
  NODE_FENCE_ACKNOWLEDGEMENTS,
  NODE_FENCE_REPORTS,
  NODE_FENCE_STOPS,
  NODE_FENCES,
  NODE_LEASE_NAMESPACE,
  NODES,
  PODS,
  SECRETS,
  VOLUME_ATTACHMENTS,
} from '../ports/resources.ts';
import { LEADER_LEASE } from './composition.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';
import { restWhileNothingIsFenced } from './resting.ts';
import { watchBase, watching } from './watching.ts';

export interface Watches {
  listers: FenceListers;
  configMaps: Lister<ConfigMap>;
  /** Names and keys only. */
  secrets: Lister<Secret>;
  /** The leader's Lease alone. */
  leader: Lister<Lease>;
  /** The candidates' Lease alone; nothing waits for it. */
  announced: Reflector<Lease>;
  reflectors: readonly Reflector<KubeObject>[];
  /** Tells that etcd was restored. */
  reportWentBack: (message: string) => void;
}

/** One reflector for every kind that the fence controller reads; none is started yet. */
export function watchCluster(ports: ControllerPorts, options: ControllerOptions): Watches {
  const base = watchBase(ports, options);
  const { watch, reflectors } = watching(base);
  const fences = watch(NODE_FENCES);
  const restMs = restWhileNothingIsFenced(fences);
  const listers = {
    nodes: watch(NODES),
    leases: watch(LEASES, { namespace: NODE_LEASE_NAMESPACE, restMs }),
    pods: watch(PODS, { restMs, indexes: { [BY_NODE]: (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]) } }),
    volumeAttachments: watch(VOLUME_ATTACHMENTS, { indexes: { [BY_NODE]: (attachment) => [attachment.spec.nodeName] } }),
    fences,
    stops: watch(NODE_FENCE_STOPS),
    acknowledgements: watch(NODE_FENCE_ACKNOWLEDGEMENTS),
    reports: new WrittenLister(watch(NODE_FENCE_REPORTS, { restMs })),
  };
  const configMaps = watch(CONFIG_MAPS, { namespace: options.namespace });
  const secrets = watch(SECRETS, { namespace: options.namespace, prune: keysOnly });
  const leader = watch(LEASES, { namespace: options.namespace, fieldSelector: `metadata.name=${LEADER_LEASE}` });
  const announced = new Reflector<Lease>({
    ...base,
    resource: LEASES,
    namespace: options.namespace,
    fieldSelector: `metadata.name=${CANDIDATES_LEASE}`,
  });
  return { listers, configMaps, secrets, leader, announced, reflectors, reportWentBack: base.onWentBack };
}

/** Secrets are watched for their names and keys only; values are read when a method runs and never kept (P9). */
function keysOnly(secret: Secret): Secret {
  const { name, namespace, uid, resourceVersion } = secret.metadata;
  const place = { name, ...(namespace === undefined ? {} : { namespace }) };
  const version = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return Object.freeze({ metadata: { ...place, ...version }, data: Object.fromEntries(Object.keys(secret.data ?? {}).map((key) => [key, ''])) });
}
