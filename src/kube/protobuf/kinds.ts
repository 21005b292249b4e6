import type { Resource } from '../../ports/cluster.ts';
import { apiVersionOf } from '../resource-path.ts';
import { PROTOBUF } from '../transport/media-type.ts';
import { alike, bool, embedded, int32, int64, message, messages, microTime, ownText, text, textList, textMap, time } from './fields.ts';
import { Message } from './message.ts';

// Numbers and rules of zero values: `generated.proto` and `types.go` of k8s.io/api and k8s.io/apimachinery. Kept is what src/kube/prune.ts keeps.

/** kubectl's copy of the whole object. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const OWNER_REFERENCE = new Message({
  kind: text(1, 'always'),
  name: text(3, 'always'),
  uid: text(4, 'always'),
  apiVersion: text(5, 'always'),
  controller: bool(6, 'sent'),
  blockOwnerDeletion: bool(7, 'sent'),
});

/** A node has the name of its Lease, and of a label. */
const IDENTITY = { name: text(1), namespace: text(3), uid: ownText(5), resourceVersion: ownText(6) };
const LIFE = {
  ...IDENTITY,
  creationTimestamp: time(8, 'nonZero'),
  deletionTimestamp: time(9, 'sent'),
  deletionGracePeriodSeconds: int64(10, 'sent'),
  finalizers: textList(14),
};
const LABELS = textMap(11);
const ANNOTATIONS = textMap(12, LAST_APPLIED);
const OWNER_REFERENCES = messages(13, OWNER_REFERENCE);

const NODE = new Message({
  metadata: message(
    1,
    new Message({
      ...LIFE,
      generateName: text(2),
      generation: int64(7),
      labels: LABELS,
      annotations: ANNOTATIONS,
      ownerReferences: OWNER_REFERENCES,
    }),
  ),
  spec: message(
    2,
    new Message({
      providerID: ownText(3),
      unschedulable: bool(4),
      taints: messages(5, new Message({ key: text(1, 'always'), value: text(2), effect: text(3, 'always'), timeAdded: time(4, 'sent') })),
    }),
  ),
  status: message(
    3,
    new Message({
      conditions: messages(
        4,
        new Message({
          type: text(1, 'always'),
          status: text(2, 'always'),
          lastHeartbeatTime: time(3, 'always'),
          lastTransitionTime: time(4, 'always'),
          reason: text(5),
          message: text(6),
        }),
      ),
      addresses: messages(5, new Message({ type: text(1, 'always'), address: text(2, 'always') })),
      nodeInfo: message(7, new Message({ machineID: ownText(1, 'always'), systemUUID: ownText(2, 'always'), bootID: ownText(3, 'always') })),
    }),
  ),
});

const VOLUME_SOURCE = new Message({ persistentVolumeClaim: message(10, new Message({ claimName: text(1, 'always') }), 'sent') });

const POD = new Message({
  metadata: message(1, new Message({ ...LIFE, name: ownText(1), labels: alike(LABELS), ownerReferences: alike(OWNER_REFERENCES) })),
  spec: message(
    2,
    new Message({
      volumes: messages(1, new Message({ name: text(1, 'always'), source: embedded(2, VOLUME_SOURCE) })),
      terminationGracePeriodSeconds: int64(4, 'sent'),
      nodeName: text(10),
      tolerations: alike(
        messages(22, new Message({ key: text(1), operator: text(2), value: text(3), effect: text(4), tolerationSeconds: int64(5, 'sent') })),
      ),
      priorityClassName: text(24),
      priority: int32(25, 'sent'),
    }),
  ),
  status: message(3, new Message({ phase: text(1), conditions: messages(2, new Message({ type: text(1, 'always'), status: text(2, 'always') })) })),
});

const LEASE = new Message({
  metadata: message(1, new Message({ ...IDENTITY, annotations: ANNOTATIONS })),
  spec: message(
    2,
    new Message({
      holderIdentity: text(1, 'sent'),
      leaseDurationSeconds: int32(2, 'sent'),
      acquireTime: microTime(3),
      renewTime: microTime(4),
      leaseTransitions: int32(5, 'sent'),
    }),
  ),
});

const VOLUME_ATTACHMENT = new Message({
  metadata: message(1, new Message(LIFE)),
  spec: message(
    2,
    new Message({
      attacher: text(1, 'always'),
      source: message(2, new Message({ persistentVolumeName: ownText(1, 'sent') })),
      nodeName: text(3, 'always'),
    }),
  ),
  status: message(3, new Message({ attached: bool(1, 'always') })),
});

/** Of any kind: how far a watch is. */
export const BOOKMARK = new Message({ metadata: message(1, new Message({ resourceVersion: ownText(6), annotations: ANNOTATIONS })) });

const LIST_METADATA = new Message({ resourceVersion: ownText(2), continue: ownText(3), remainingItemCount: int64(4, 'sent') });

const CAUSE = new Message({ reason: text(1), message: ownText(2), field: text(3) });

/** What a server answers that refuses, and sends in an ERROR event. */
const STATUS = new Message({
  metadata: message(1, LIST_METADATA),
  status: text(2),
  message: ownText(3),
  reason: text(4),
  details: message(
    5,
    new Message({
      name: ownText(1),
      group: text(2),
      kind: text(3),
      causes: messages(4, CAUSE),
      retryAfterSeconds: int32(5),
      uid: ownText(6),
    }),
    'sent',
  ),
  code: int32(6),
});

const KINDS: Readonly<Record<string, Message>> = {
  'v1 Node': NODE,
  'v1 NodeList': listOf(NODE),
  'v1 Pod': POD,
  'v1 PodList': listOf(POD),
  'coordination.k8s.io/v1 Lease': LEASE,
  'coordination.k8s.io/v1 LeaseList': listOf(LEASE),
  'storage.k8s.io/v1 VolumeAttachment': VOLUME_ATTACHMENT,
  'storage.k8s.io/v1 VolumeAttachmentList': listOf(VOLUME_ATTACHMENT),
  'v1 Status': STATUS,
};

function listOf(item: Message): Message {
  return new Message({ metadata: message(1, LIST_METADATA), items: messages(2, item) });
}

/** How objects of this kind are read; undefined: there is no table of it. */
export function tableOf(apiVersion: string, kind: string): Message | undefined {
  const name = `${apiVersion} ${kind}`;
  return Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
}

/** What every server answers in. */
export const JSON_ONLY = 'application/json';

/** What to accept of a server for objects of this kind, and lists and watches of them. */
export function acceptFor(resource: Resource): string {
  const hasTable = tableOf(apiVersionOf(resource), resource.kind) !== undefined;
  return hasTable ? `${PROTOBUF}, ${JSON_ONLY}` : JSON_ONLY;
}
