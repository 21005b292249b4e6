import { EqualParts, keeping } from '../domain/equal-parts.ts';
import type { Resource } from '../ports/cluster.ts';
import type { KubeObject, Lease, Node, ObjectMeta, Pod, VolumeAttachment } from '../ports/objects.ts';
import { GROUP } from '../ports/resources.ts';
import { knownInfo } from './whole.ts';
import type { Wire } from './whole.ts';

/** kubectl's copy of the whole object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type MetaField = keyof ObjectMeta;

const IDENTITY: readonly MetaField[] = ['name', 'namespace', 'uid', 'resourceVersion'];
const LIFE: readonly MetaField[] = [...IDENTITY, 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers'];
const WHOLE: readonly MetaField[] = [...LIFE, 'generation', 'generateName', 'labels', 'annotations', 'ownerReferences'];

const OF_POD: readonly MetaField[] = [...LIFE, 'labels', 'ownerReferences'];
/** A kubelet's has no annotations; the leader's says who leads. */
const OF_LEASE: readonly MetaField[] = [...IDENTITY, 'annotations'];

/**
 * Cuts an object down to the fields that decide reads and freezes it. Fields are named, not forbidden: what a newer API server adds costs
 * no memory. Own resources and ConfigMaps keep everything but managedFields. A pod keeps no annotations and a lease no labels. Whatever `before`, the version
 * that is known, holds too is that very part of it.
 */
export function pruneFor<T extends KubeObject>(resource: Resource<T>): (object: T, before?: T) => T {
  const plural = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
  const prune = PRUNERS[plural] ?? pruneMetadataOnly;
  const shared = new Shared(PARTS[plural] ?? NO_PARTS);
  return (object, before) => shared.freeze(keeping(prune(object) as T, before));
}

const PRUNERS: Readonly<Record<string, (object: KubeObject) => KubeObject>> = {
  nodes: pruneNode,
  pods: prunePod,
  'leases.coordination.k8s.io': pruneLease,
  'volumeattachments.storage.k8s.io': pruneVolumeAttachment,
};

function pruneNode(node: Wire<Node>): Node {
  return {
    ...header(node, WHOLE),
    spec: pick(node.spec, ['providerID', 'unschedulable', 'taints']),
    status: withField(
      pick(node.status, ['conditions', 'addresses']),
      'nodeInfo',
      pickOptional(knownInfo(node.status?.nodeInfo), ['bootID', 'systemUUID', 'machineID']),
    ),
  };
}

function prunePod(pod: Wire<Pod>): Pod {
  const claims = pod.spec?.volumes?.flatMap(({ name, persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [{ name, persistentVolumeClaim: { claimName: claim.claimName } }],
  );
  const conditions = pod.status?.conditions?.map(({ type, status }) => ({ type, status }));
  const spec = pick(pod.spec, ['nodeName', 'priority', 'priorityClassName', 'tolerations', 'terminationGracePeriodSeconds']);
  const status = pod.status === undefined ? undefined : withField(pick(pod.status, ['phase']), 'conditions', conditions);
  return withField({ ...header(pod, OF_POD), spec: withField(spec, 'volumes', claims) }, 'status', status);
}

function pruneLease(lease: Wire<Lease>): Lease {
  return {
    ...header(lease, OF_LEASE),
    spec: pick(lease.spec, ['holderIdentity', 'leaseDurationSeconds', 'acquireTime', 'renewTime', 'leaseTransitions']),
  };
}

function pruneVolumeAttachment(attachment: Wire<VolumeAttachment>): VolumeAttachment {
  const spec = { ...pick(attachment.spec, ['attacher', 'nodeName']), source: pick(attachment.spec?.source, ['persistentVolumeName']) };
  return withField({ ...header(attachment, LIFE), spec }, 'status', pickOptional(attachment.status, ['attached']));
}

function pruneMetadataOnly(object: KubeObject): KubeObject {
  return { ...object, ...header(object, WHOLE) };
}

function header(object: KubeObject, fields: readonly MetaField[]): KubeObject {
  const metadata = pick(object.metadata, fields);
  if (metadata.annotations !== undefined && LAST_APPLIED in metadata.annotations) {
    metadata.annotations = Object.fromEntries(Object.entries(metadata.annotations).filter(([key]) => key !== LAST_APPLIED));
  }
  return { ...pick(object, ['apiVersion', 'kind']), metadata };
}

/** Absent fields stay absent: a key that holds `undefined` costs a slot in every object. */
function pick<T extends object, K extends keyof T>(source: T | undefined, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) {
    const value = source?.[key];
    if (value !== undefined) {
      picked[key] = value;
    }
  }
  return picked as Pick<T, K>;
}

function pickOptional<T extends object, K extends keyof T>(source: T | undefined, keys: readonly K[]): Pick<T, K> | undefined {
  return source === undefined ? undefined : pick(source, keys);
}

/** `object`, to which the field is added where there is a value. */
function withField<T extends object, K extends string, V>(object: T, key: K, value: V | undefined): T & Partial<Record<K, V>> {
  const wider: T & { [name in K]?: V } = object;
  if (value !== undefined) wider[key] = value as (T & { [name in K]?: V })[K];
  return wider;
}

/** Longer texts rarely repeat. */
const SHARED_CHARACTERS_MAX = 128;
const SHARED_TEXTS_MAX = 4_096;
const SHARED_PARTS_MAX = 4_096;

/** What replicas, and the machines of a fleet, have in common as a whole. */
const PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  pods: new Set(['labels', 'ownerReferences', 'tolerations', 'status']),
  [`nodefencereports.${GROUP}`]: new Set(['methods', 'evidence']),
};
const NO_PARTS: ReadonlySet<string> = new Set();

/** Another one in each object, or in each version of it: nobody else has it. */
const UNIQUE: ReadonlySet<string> = new Set([
  'name',
  'uid',
  'resourceVersion',
  'renewTime',
  'holderIdentity',
  'address',
  'bootID',
  'systemUUID',
  'machineID',
]);

/** Thousands of nodes carry the same reasons, label values and messages, thousands of pods the same tolerations: one copy of each is kept. */
class Shared {
  readonly #texts = new EqualParts(SHARED_TEXTS_MAX);
  readonly #parts = new EqualParts(SHARED_PARTS_MAX);
  readonly #names: ReadonlySet<string>;

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** Freezes plain JSON, all the way down. */
  freeze<T>(value: T): T {
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) {
      return value;
    }
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      const inner = fields[name];
      if (typeof inner === 'string') {
        if (inner.length <= SHARED_CHARACTERS_MAX && !UNIQUE.has(name)) fields[name] = this.#texts.of(inner);
      } else {
        fields[name] = this.freeze(this.#names.has(name) && !Object.isFrozen(inner) ? this.#parts.of(inner) : inner);
      }
    }
    return Object.freeze(value);
  }
}
