import { NAMESPACE } from '../../../src/manifests/access.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';

const IMAGES = 40;
const VARIABLES = 12;
const CONDITIONS = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];

/** One of each kind, as large as they are in clusters: the API server adds what it adds, and the rest are copies. */
export const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'sample',
    labels: { 'kubernetes.io/hostname': 'sample', 'topology.kubernetes.io/zone': 'z', 'example.com/rack': 'r1', 'kubernetes.io/os': 'linux' },
  },
} satisfies KubeObject & Record<string, unknown>;

export const LEASE = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'sample', namespace: 'kube-node-lease' },
  spec: { holderIdentity: 'sample', leaseDurationSeconds: 40, renewTime: microTime() },
} satisfies KubeObject & Record<string, unknown>;

export const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'sample',
    namespace: 'default',
    labels: { app: 'a1', 'pod-template-hash': '7d4f8' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a1-7d4f8', uid: 'c0ffee00-0000-4000-8000-000000000001', controller: true }],
  },
  spec: {
    nodeName: 'sample',
    automountServiceAccountToken: false,
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'c',
        image: 'registry.example/app1:v1',
        env: Array.from({ length: VARIABLES }, (_unused, index) => ({ name: `VARIABLE_${index}`, value: 'x'.repeat(40) })),
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
      },
    ],
  },
} satisfies KubeObject & Record<string, unknown>;

/** Says of every Node how it is switched off: nothing is wrong with any of them. `bmc`: what all of them have in common. */
export function configuration(bmc: Readonly<Record<string, string>>): readonly (KubeObject & Record<string, unknown>)[] {
  const { ipport = '', ssl_fingerprint = '', username = '', password = '' } = bmc;
  const method = `agent_name=redfish\nip={label:example.com/bmc}\nipport=${ipport}\nssl_fingerprint=${ssl_fingerprint}\nsecret=bmc-login\naction=reboot\n`;
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bmc-login', namespace: NAMESPACE }, stringData: { username, password } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'fence-config-linux', namespace: NAMESPACE },
      data: {
        'config.properties':
          'node_selector=kubernetes.io/os=linux\nisolation=mark-unschedulable\npower_management=reboot\nrecovery=mark-schedulable\nidentity=unverified\n',
        'fence-method-reboot': method,
      },
    },
  ];
}

/** The address of its BMC, as a label: on this machine, so that nobody else is called. */
export function bmcOf(number: number): string {
  return `127.200.${Math.floor(number / 250)}.${(number % 250) + 1}`;
}

/** What stands in the report of a node after a day: who it is, that its BMC can be read, and when that one's certificate ends. A probe that finds the same writes nothing. */
export function reportStatus(
  number: number,
  nodeUID: string,
  { port, certificateExpiresAt }: { port: string; certificateExpiresAt: string },
): object {
  const at = '2026-01-01T00:00:00Z';
  const { nodeInfo, addresses } = nodeStatus(number) as { nodeInfo: Record<string, string>; addresses: { type: string; address: string }[] };
  const [internal] = addresses;
  return {
    identity: { nodeUID, recordedAt: at, systemUUID: nodeInfo['systemUUID'], addresses: [internal?.address], bootID: nodeInfo['bootID'] },
    devices: [
      { agent: 'redfish', device: `${bmcOf(number)}:${port}`, plug: '', methods: ['reboot'], path: 'working', since: at, certificateExpiresAt },
    ],
    conditions: [
      {
        type: 'FencePathsWorking',
        status: 'True',
        reason: 'EveryDeviceRead',
        message: '1 plug(s) of devices could be read.',
        lastTransitionTime: at,
      },
    ],
  };
}

/** What a kubelet says of its node: about 13 kB, most of it images. */
export function nodeStatus(number: number): object {
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const uuid = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const resources = { cpu: '64', memory: '256Gi', pods: '250', 'ephemeral-storage': '100Gi' };
  return {
    nodeInfo: {
      bootID: uuid,
      systemUUID: uuid,
      machineID: uuid.replaceAll('-', ''),
      kernelVersion: '6.12.0',
      osImage: 'Debian GNU/Linux 13 (trixie)',
      containerRuntimeVersion: 'containerd://2.1.0',
      kubeletVersion: 'v1.36.3',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    addresses: [
      { type: 'InternalIP', address: `10.0.${Math.floor(number / 256) % 256}.${number % 256}` },
      { type: 'Hostname', address: `n${number}` },
    ],
    capacity: resources,
    allocatable: resources,
    images: Array.from({ length: IMAGES }, (_unused, index) => ({
      names: [`registry.example/app${index}@sha256:${String(index).padStart(64, '0')}`, `registry.example/app${index}:v1`],
      sizeBytes: 100_000_000 + index,
    })),
    conditions: CONDITIONS.map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: `Kubelet${type}`,
      message: `the kubelet says ${type}`,
      lastHeartbeatTime: at,
      lastTransitionTime: at,
    })),
  };
}

/** Of a Lease: metav1.MicroTime. */
export function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
