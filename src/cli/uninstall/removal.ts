import { CANDIDATES_LEASE } from '../../controllers/fence/handover/candidates.ts';
import { FINALIZER } from '../../controllers/fence/ownership.ts';
import { finalizerOf } from '../../controllers/node-remediation/names.ts';
import { NODE_LEASE_HOLDER } from '../../controllers/shared/claims/node-lease.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../manifests/access.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../manifests/definitions.ts';
import { REMEDIATION_DEFINITIONS } from '../../manifests/remediation-definitions.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster, ListOptions, Resource } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { GROUP, LEASES, NODE_FENCES, NODES, VERSION } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { takenBack } from './node-marks.ts';

const DEPLOYMENT_NAME = 'nodefence-controller';
const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true };
const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const REQUESTS: Resource = { group: GROUP, version: VERSION, kind: 'NodeFenceRemediation', plural: 'nodefenceremediations', namespaced: true };
const CONFLICTS_MAX = 5;
const GONE_WITHIN_MS = 30_000;
const POLL_MS = 250;

type Access = Pick<ClusterAccess, 'cluster' | 'clock' | 'namespace'>;

/** The list of a kind that may not be served any more: then there is nothing of it. */
export async function listServed<T extends KubeObject>(cluster: Cluster, resource: Resource<T>, options: ListOptions = {}): Promise<T[]> {
  try {
    return await cluster.list(resource, options);
  } catch (error) {
    if (error instanceof ApiStatusError && error.status === 404) return [];
    throw error;
  }
}

/** `false`: there was none. */
export function removeDeployment({ cluster, namespace }: Access): Promise<boolean> {
  return cluster.remove(DEPLOYMENTS, DEPLOYMENT_NAME, { namespace, propagationPolicy: 'Background' });
}

/** What stands of ours on Nodes; yields a line for each. `closed`: nodes whose way to storage stays closed. */
export async function* cleanNodes({ cluster }: Access, closed: ReadonlySet<string>): AsyncGenerator<string> {
  for (const { metadata } of await cluster.list(NODES)) {
    const words = await cleanNode(cluster, metadata.name, closed.has(metadata.name));
    if (words.length > 0) yield `Node ${metadata.name}: ${words.join(', ')}`;
  }
}

async function cleanNode(cluster: Cluster, name: string, keepsCordon: boolean): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    const node = await cluster.get(NODES, name);
    const change = node === undefined ? undefined : takenBack(node, keepsCordon);
    if (change === undefined) return [];
    try {
      await cluster.mergePatch(NODES, name, change.patch);
      return change.words;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 409 || tries >= CONFLICTS_MAX) throw error;
    }
  }
}

/** Leases by which we lead, stand by, or hold a node against others. */
export async function* removeLeases({ cluster, namespace }: Access): AsyncGenerator<string> {
  for (const name of [LEADER_LEASE, CANDIDATES_LEASE])
    if (await cluster.remove(LEASES, name, { namespace })) yield `Lease ${namespace}/${name} deleted`;
  for (const { metadata, spec } of await listServed(cluster, LEASES, { namespace: MEDIK8S_LEASE_NAMESPACE })) {
    if (spec.holderIdentity !== NODE_LEASE_HOLDER) continue;
    const precondition = metadata.uid === undefined ? {} : { uid: metadata.uid };
    if (await cluster.remove(LEASES, metadata.name, { namespace: MEDIK8S_LEASE_NAMESPACE, ...precondition }))
      yield `Lease ${MEDIK8S_LEASE_NAMESPACE}/${metadata.name} deleted`;
  }
}

/** Our finalizers, on every object that has one: those of others stay. */
export async function* removeFinalizers({ cluster }: Access): AsyncGenerator<string> {
  for (const [resource, own] of [
    [NODE_FENCES as Resource, FINALIZER],
    [REQUESTS, finalizerOf(`${GROUP}/${VERSION}`)],
  ] as const) {
    for (const { metadata } of await listServed(cluster, resource)) {
      if (metadata.finalizers?.includes(own) !== true) continue;
      const finalizers = metadata.finalizers.filter((finalizer) => finalizer !== own);
      const place = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
      await cluster.mergePatch(resource, metadata.name, { metadata: { resourceVersion: metadata.resourceVersion, finalizers } }, place);
      yield `${resource.kind} ${metadata.name}: our finalizer is taken away`;
    }
  }
}

/** The kinds, with every object of them. Resolves with those that are not gone yet. */
export async function removeKinds({ cluster, clock }: Access): Promise<{ removed: string[]; waiting: string[] }> {
  const names = [...CUSTOM_RESOURCE_DEFINITIONS, ...REMEDIATION_DEFINITIONS].map(({ metadata }) => metadata.name);
  const removed: string[] = [];
  for (const name of names) if (await cluster.remove(DEFINITIONS, name)) removed.push(name);
  const untilMs = clock.monotonicMs() + GONE_WITHIN_MS;
  for (;;) {
    const standing = await Promise.all(names.map(async (name) => ((await cluster.get(DEFINITIONS, name)) === undefined ? [] : [name])));
    const waiting = standing.flat();
    if (waiting.length === 0 || clock.monotonicMs() > untilMs) return { removed, waiting };
    await clock.sleep(POLL_MS);
  }
}
