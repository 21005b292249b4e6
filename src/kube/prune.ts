import type { Resource } from '../ports/cluster.ts';
import type { KubeObject, Lease, Node, ObjectMeta, Pod, VolumeAttachment } from '../ports/objects.ts';

/** kubectl's copy of the whole object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type MetaField = keyof ObjectMeta;

const IDENTITY: readonly MetaField[] = ['name', 'namespace', 'uid', 'resourceVersion'];
const LIFE: readonly MetaField[] = [...IDENTITY, 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'finalizers'];
const WHOLE: readonly MetaField[] = [...LIFE, 'generation', 'generateName', 'labels', 'annotations', 'ownerReferences'];

/**
 * Cuts an object down to the fields that decide reads and freezes it. Fields are named, not forbidden: what a newer API server adds costs
 * no memory. Own resources and ConfigMaps keep everything but managedFields. A pod keeps no annotations and a lease no labels.
 */
export function pruneFor<T extends KubeObject>(resource: Resource<T>): (object: T) => T {
  const prune = PRUNERS[resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`] ?? pruneMetadataOnly;
  const shared = new SharedTexts();
  return (object) => shared.freeze(prune(object) as T);
}

const PRUNERS: Readonly<Record<string, (object: KubeObject) => KubeObject>> = {
  nodes: pruneNode,
  pods: prunePod,
  'leases.coordination.k8s.io': pruneLease,
  'volumeattachments.storage.k8s.io': pruneVolumeAttachment,
};

/** As it comes over the wire: whatever stands beside metadata may be missing. */
type Wire<T extends KubeObject> = KubeObject & Partial<Omit<T, keyof KubeObject>>;

function pruneNode(node: Wire<Node>): Node {
  return {
    ...header(node, WHOLE),
    spec: pick(node.spec, ['providerID', 'unschedulable', 'taints']),
    status: {
      ...pick(node.status, ['conditions', 'addresses']),
      ...nested('nodeInfo', pickOptional(node.status?.nodeInfo, ['bootID', 'systemUUID', 'machineID'])),
    },
  };
}

function prunePod(pod: Wire<Pod>): Pod {
  const claims = pod.spec?.volumes?.flatMap(({ name, persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [{ name, persistentVolumeClaim: { claimName: claim.claimName } }],
  );
  const conditions = pod.status?.conditions?.map(({ type, status }) => ({ type, status }));
  return {
    ...header(pod, [...LIFE, 'labels', 'ownerReferences']),
    spec: {
      ...pick(pod.spec, ['nodeName', 'priority', 'priorityClassName', 'tolerations', 'terminationGracePeriodSeconds']),
      ...nested('volumes', claims),
    },
    ...nested('status', pod.status === undefined ? undefined : { ...pick(pod.status, ['phase']), ...nested('conditions', conditions) }),
  };
}

function pruneLease(lease: Wire<Lease>): Lease {
  return {
    // A kubelet's has none; the leader's says who leads.
    ...header(lease, [...IDENTITY, 'annotations']),
    spec: pick(lease.spec, ['holderIdentity', 'leaseDurationSeconds', 'acquireTime', 'renewTime', 'leaseTransitions']),
  };
}

function pruneVolumeAttachment(attachment: Wire<VolumeAttachment>): VolumeAttachment {
  return {
    ...header(attachment, LIFE),
    spec: { ...pick(attachment.spec, ['attacher', 'nodeName']), source: pick(attachment.spec?.source, ['persistentVolumeName']) },
    ...nested('status', pickOptional(attachment.status, ['attached'])),
  };
}

function pruneMetadataOnly(object: KubeObject): KubeObject {
  return { ...object, ...header(object, WHOLE) };
}

function header(object: KubeObject, fields: readonly MetaField[]): KubeObject {
  const metadata = pick(object.metadata, fields);
  if (metadata.annotations !== undefined && LAST_APPLIED in metadata.annotations) {
    metadata.annotations = Object.fromEntries(Object.entries(metadata.annotations).filter(([key]) => key !== LAST_APPLIED));
  }
  return { ...pick(object, ['apiVersion', 'kind']), metadata: metadata };
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

function nested<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

/** Longer texts rarely repeat. */
const SHARED_CHARACTERS_MAX = 128;
const SHARED_TEXTS_MAX = 20_000;

/** Thousands of nodes carry the same reasons, label values and messages: one copy of each is kept. */
class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** Freezes plain JSON, all the way down. */
  freeze<T>(value: T): T {
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) {
      return value;
    }
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      const inner = fields[name];
      if (typeof inner === 'string') {
        fields[name] = this.#share(inner);
      } else {
        this.freeze(inner);
      }
    }
    return Object.freeze(value);
  }

  #share(text: string): string {
    if (text.length > SHARED_CHARACTERS_MAX) {
      return text;
    }
    const known = this.#texts.get(text);
    if (known !== undefined) {
      return known;
    }
    if (this.#texts.size >= SHARED_TEXTS_MAX) {
      this.#texts.clear();
    }
    this.#texts.set(text, text);
    return text;
  }
}
