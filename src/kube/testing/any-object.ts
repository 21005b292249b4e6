import fc, { type Arbitrary } from 'fast-check';

/** Objects as an API server takes them, with every field that is kept set, unset, empty, zero, negative, long, or in other scripts. */
type Plain = Record<string, unknown>;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Every field may be missing. */
function some(fields: Record<string, Arbitrary<unknown>>, required: Record<string, Arbitrary<unknown>> = {}): Arbitrary<Plain> {
  return fc.record({ ...fields, ...required }, { requiredKeys: Object.keys(required) });
}

const words = fc.constantFrom(
  '',
  'a',
  'kubelet stopped posting node status',
  'ümlaut',
  'ノードは準備完了',
  '🧯',
  '\u0000\u007f',
  'x'.repeat(127),
  'y'.repeat(300),
  '-1',
  'null',
);
const named = fc.constantFrom('a', 'b-1', 'example.com', 'z'.repeat(63));
const labelValue = fc.constantFrom('', 'a', 'A_b.c-1', 'z'.repeat(63), '0', 'true');
const key = fc.constantFrom('a', 'kubernetes.io/hostname', 'topology.kubernetes.io/zone', 'example.com/A_b.c');
const labels = fc.dictionary(key, labelValue, { maxKeys: 4 });
const annotations = fc.dictionary(fc.oneof(key, fc.constant(LAST_APPLIED)), words, { maxKeys: 4 });
const times = fc.constantFrom(
  '2026-01-01T00:00:00Z',
  '1970-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '2000-02-29T12:34:56Z',
  '9999-12-31T23:59:59Z',
  '0002-01-01T00:00:00Z',
);
const microTimes = fc.constantFrom(
  '2026-01-01T00:00:00.000000Z',
  '2026-01-01T00:00:00.000001Z',
  '1969-12-31T23:59:59.999999Z',
  '2026-11-27T06:24:21.120000Z',
  '1970-01-01T00:00:00.500000Z',
);
const flag = fc.boolean();
const int32 = fc.constantFrom(0, 1, 127, 128, 300, 2_147_483_647);
const owner = some({ blockOwnerDeletion: flag }, { apiVersion: fc.constantFrom('v1', 'apps/v1'), kind: named, name: named, uid: fc.uuid() });
const owners = fc
  .array(owner, { maxLength: 3, minLength: 1 })
  .chain((all) => fc.boolean().map((controls) => all.map((one, index) => (index === 0 ? { ...one, controller: controls } : one))));
const finalizers = fc.uniqueArray(fc.constantFrom('example.com/a', 'example.com/b'), { maxLength: 2 });

const metadata = some({ labels, annotations, finalizers, ownerReferences: owners });

const taint = some({ value: labelValue, timeAdded: times }, { key, effect: fc.constantFrom('NoSchedule', 'PreferNoSchedule', 'NoExecute') });
const taints = fc.uniqueArray(taint, { maxLength: 3, selector: (one) => `${String(one['key'])}:${String(one['effect'])}` });
const condition = some(
  { reason: words, message: words, lastHeartbeatTime: fc.option(times), lastTransitionTime: fc.option(times) },
  {
    type: fc.constantFrom('Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'example.com/Ä'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
  },
);
const conditions = fc.uniqueArray(condition, { maxLength: 4, selector: (one) => one['type'] });
const address = some(
  {},
  { type: fc.constantFrom('InternalIP', 'Hostname', 'ExternalIP'), address: fc.constantFrom('10.0.0.1', 'n1', '2001:db8::1') },
);
const addresses = fc.uniqueArray(address, { maxLength: 3, selector: (one) => `${String(one['type'])}${String(one['address'])}` });

/** `status` is written apart. */
export const ANY_NODE = some(
  { spec: some({ providerID: words, unschedulable: flag, taints, podCIDR: fc.constant('10.1.0.0/24') }) },
  { metadata, status: some({ conditions, addresses, nodeInfo: some({}, nodeInfo()), phase: fc.constant('Running') }) },
);

function nodeInfo(): Record<string, Arbitrary<unknown>> {
  const names = [
    'machineID',
    'systemUUID',
    'bootID',
    'kernelVersion',
    'osImage',
    'containerRuntimeVersion',
    'kubeletVersion',
    'kubeProxyVersion',
    'operatingSystem',
    'architecture',
  ];
  return Object.fromEntries(names.map((name) => [name, fc.oneof(fc.uuid(), words)]));
}

const toleration = fc.oneof(
  some(
    { tolerationSeconds: fc.constantFrom(-1, 0, 300, 9_007_199_254_740_991) },
    { key, operator: fc.constant('Exists'), effect: fc.constant('NoExecute') },
  ),
  some({ effect: fc.constantFrom('NoSchedule', 'PreferNoSchedule') }, { key, operator: fc.constant('Equal'), value: labelValue }),
  some({}, { operator: fc.constant('Exists') }),
);
const volumes = fc.array(
  fc.oneof(fc.constant({ emptyDir: {} }), some({}, { persistentVolumeClaim: some({ readOnly: flag }, { claimName: named }) })),
  { maxLength: 3 },
);

export const ANY_POD = some(
  {},
  {
    metadata,
    spec: some(
      {
        nodeName: fc.constantFrom('n1', 'z'.repeat(63)),
        terminationGracePeriodSeconds: fc.constantFrom(0, 1, 30, 9_007_199_254_740_991),
        tolerations: fc.array(toleration, { maxLength: 3 }),
      },
      {
        containers: fc.constant([{ name: 'c', image: 'registry.example/c:v1', env: [{ name: 'A', value: 'ü' }] }]),
        volumes: volumes.map((all) => all.map((one, index) => ({ name: `v${String(index)}`, ...one }))),
        automountServiceAccountToken: fc.constant(false),
      },
    ),
    status: some({
      phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
      conditions: fc.uniqueArray(
        some({ message: words, reason: words, lastTransitionTime: fc.option(times) }, { type: named, status: fc.constantFrom('True', 'False') }),
        { maxLength: 3, selector: (one) => one['type'] },
      ),
      message: words,
    }),
  },
);

export const ANY_LEASE = some(
  {},
  {
    metadata,
    spec: some({
      holderIdentity: fc.constantFrom('n1', 'ü', 'x'.repeat(200)),
      leaseDurationSeconds: fc.constantFrom(1, 40, 2_147_483_647),
      acquireTime: fc.option(microTimes),
      renewTime: fc.option(microTimes),
      leaseTransitions: int32,
    }),
  },
);

export const ANY_ATTACHMENT = some(
  {},
  {
    metadata,
    spec: some({}, { attacher: named, nodeName: named, source: some({}, { persistentVolumeName: named }) }),
    status: some({}, { attached: flag }),
  },
);
