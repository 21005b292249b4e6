import { NODE_ACCOUNT } from '../domain/node-daemon/account.ts';
import type { KubeObject } from '../ports/objects.ts';
import { LABELS, NAMESPACE } from './access.ts';
import { DEFAULT_CHOICE, NODE_PRIORITY } from './deployment.ts';

const NAME = 'nodefence-node';
const CONTAINER = 'node';
export const NODE_COMPONENT = { ...LABELS, 'app.kubernetes.io/component': 'node' };
export const DAEMON_PORT = 7_411;
const TOKENS = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKEN_SECONDS = 3_600;
/** A clean stop feeds the watchdog for 25 s while it tells the API server; the rest is for what is under way. */
const STOPPED_WITHIN_SECONDS = 40;
const FLAG_PREFIX = 'NODEFENCE_NODE_';
/** Lines for one node, by its name: what nodes cannot have in common, such as a registration key. Nobody has to make it. */
const NODE_LINES = 'nodefence-nodes';
const NODE_LINES_AT = '/etc/nodefence/nodes';

function fromPod(name: string, fieldPath: string): object {
  return { name: FLAG_PREFIX + name, valueFrom: { fieldRef: { fieldPath } } };
}

function flag(name: string, value: string): object {
  return { name: FLAG_PREFIX + name, value };
}

function onHost(name: string, path: string): object {
  return { name, hostPath: { path, type: 'DirectoryOrCreate' } };
}

/** Never made where it is missing: an empty folder in its place would be taken for what it is not. */
function foundOnHost(name: string, path: string): object {
  return { name, hostPath: { path, type: 'Directory' } };
}

/** Bound to its pod, so that the API server knows on which node it is used. */
const TOKEN = {
  name: 'token',
  projected: {
    defaultMode: 0o400,
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_SECONDS } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};

const LINES = { name: 'lines', configMap: { name: NODE_LINES, optional: true } };

const DAEMON = {
  name: CONTAINER,
  image: DEFAULT_CHOICE.image,
  // Without a compiler of machine code 15 MiB less stays in memory.
  command: ['node', '--lite-mode', '/app/dist/src/main.js'],
  args: ['node'],
  env: [fromPod('NAME', 'spec.nodeName'), fromPod('FENCE_NAMESPACE', 'metadata.namespace'), flag('WATCHDOG', 'none'), flag('CONFIG', NODE_LINES_AT)],
  ports: [{ name: 'daemon', containerPort: DAEMON_PORT, protocol: 'UDP' }],
  volumeMounts: [
    { name: 'run', mountPath: '/run/nodefence' },
    { name: 'state', mountPath: '/var/lib/nodefence' },
    { name: 'token', mountPath: TOKENS, readOnly: true },
    { name: 'lines', mountPath: NODE_LINES_AT, readOnly: true },
  ],
  resources: { requests: { cpu: '10m', memory: '80Mi' }, limits: { memory: '160Mi' } },
  // Root without a single capability: the UUID of the machine and the folders of the host are root's.
  securityContext: {
    runAsUser: 0,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

/**
 * Heartbeat and attestation on every node, and nothing that touches the machine. No probe: one that ends a daemon whose watchdog is armed would take its node
 * down, a daemon that is stuck is noticed by that watchdog, and `node status` each few seconds would cost more than the daemon.
 */
export const NODE_DAEMON_SET: KubeObject & { spec: object } = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: NAME, namespace: NAMESPACE, labels: NODE_COMPONENT },
  spec: {
    selector: { matchLabels: NODE_COMPONENT },
    minReadySeconds: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
    template: {
      metadata: { labels: NODE_COMPONENT },
      spec: {
        serviceAccountName: NODE_ACCOUNT,
        automountServiceAccountToken: false,
        priorityClassName: NODE_PRIORITY,
        enableServiceLinks: false,
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ operator: 'Exists' }],
        terminationGracePeriodSeconds: STOPPED_WITHIN_SECONDS,
        containers: [DAEMON],
        // Promises outlive the pod and the boot; what kept the node up outlives the pod.
        volumes: [onHost('run', '/run/nodefence'), onHost('state', '/var/lib/nodefence'), TOKEN, LINES],
      },
    },
  },
};

/** Devices of the host and /proc/sysrq-trigger are shown to a privileged container only. */
const PRIVILEGED = { privileged: true, allowPrivilegeEscalation: null, capabilities: null, seccompProfile: null };

function patchOf(pod: object, container: object): object {
  const { apiVersion, kind, metadata } = NODE_DAEMON_SET;
  const template = { spec: { ...pod, containers: [{ name: CONTAINER, ...container }] } };
  return { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace }, spec: { template } };
}

/** Block devices by the names that the admin knows, of which a container is shown none. Whoever sees /dev keeps his last words elsewhere: the file would be made in it. */
const WITH_DEVICES = {
  pod: { volumes: [foundOnHost('devices', '/dev')] },
  container: { terminationMessagePath: '/termination-log', volumeMounts: [{ name: 'devices', mountPath: '/dev' }], securityContext: PRIVILEGED },
};

/** The process that renews a slot takes 60 MiB beside the daemon. */
const WITH_SLOT = { resources: { requests: { memory: '130Mi' }, limits: { memory: '220Mi' } } };
const LEASE_FOLDER = '/mnt/nodefence-lease';
const MACHINE_ID = '/etc/machine-id';

/** What the node keeps on its disks, to be read. */
const HOST_FILES = {
  pod: { volumes: [foundOnHost('host', '/')] },
  container: { volumeMounts: [{ name: 'host', mountPath: '/host', readOnly: true, mountPropagation: 'HostToContainer' }] },
};

/** Duties that a daemon of the DaemonSet may have beside, each with the privileges that it takes, as patches. */
export const NODE_DAEMON_DUTIES = {
  watchdog: patchOf(
    // Where sleep is forbidden: a machine that may sleep has a watchdog that may stand still.
    { volumes: [onHost('units', '/etc/systemd/system')] },
    {
      securityContext: PRIVILEGED,
      env: [{ name: `${FLAG_PREFIX}WATCHDOG`, $patch: 'delete' }],
      volumeMounts: [{ name: 'units', mountPath: '/etc/systemd/system', readOnly: true }],
    },
  ),
  'self-fence': patchOf(
    {
      // Its grants and vouches must come while the network of pods does not.
      hostNetwork: true,
      // It stops the kubelet and ends the processes of pods.
      hostPID: true,
      volumes: [onHost('cgroups', '/sys/fs/cgroup'), onHost('containerd', '/run/containerd'), onHost('crio', '/run/crio')],
    },
    {
      securityContext: PRIVILEGED,
      env: [flag('SELF_FENCE', 'true')],
      volumeMounts: [
        { name: 'cgroups', mountPath: '/sys/fs/cgroup' },
        { name: 'containerd', mountPath: '/run/containerd', readOnly: true },
        { name: 'crio', mountPath: '/run/crio', readOnly: true },
      ],
    },
  ),
  'soft-fence': patchOf(
    { volumes: [foundOnHost('dbus', '/run/dbus'), foundOnHost('systemd', '/run/systemd/system')] },
    {
      // systemd obeys root, whatever its capabilities; AppArmor and SELinux keep a container from the bus.
      securityContext: { appArmorProfile: { type: 'Unconfined' }, seLinuxOptions: { type: 'spc_t' } },
      env: [flag('SOFT_FENCE', 'true')],
      volumeMounts: [
        { name: 'dbus', mountPath: '/run/dbus', readOnly: true },
        // systemctl asks by this folder whether systemd runs the machine.
        { name: 'systemd', mountPath: '/run/systemd/system', readOnly: true },
      ],
    },
  ),
  // Its devices and its key are lines of each node.
  unfence: patchOf(WITH_DEVICES.pod, WITH_DEVICES.container),
  'storage-lease-device': patchOf(WITH_DEVICES.pod, {
    ...WITH_DEVICES.container,
    ...WITH_SLOT,
    env: [flag('STORAGE_LEASE', '/dev/mapper/nodefence-lease'), flag('STORAGE_LEASE_CLUSTER', 'nodefence')],
  }),
  'storage-lease-file': patchOf(
    { volumes: [foundOnHost('lease', LEASE_FOLDER)] },
    {
      ...WITH_SLOT,
      env: [flag('STORAGE_LEASE', `${LEASE_FOLDER}/slots`), flag('STORAGE_LEASE_CLUSTER', 'nodefence')],
      // Mounted on the host only later, it is seen all the same.
      volumeMounts: [{ name: 'lease', mountPath: LEASE_FOLDER, mountPropagation: 'HostToContainer' }],
    },
  ),
  conditions: patchOf({}, { env: [flag('CONDITIONS', 'true')] }),
  // For what it keeps there of its previous boot and of its crash kernel.
  'host-files': patchOf(HOST_FILES.pod, { env: [flag('HOST_ROOT', '/host')], ...HOST_FILES.container }),
  // Process 1 of the host says what is mounted how; what is written to is the daemon's own folder.
  'file-systems': patchOf(HOST_FILES.pod, { env: [flag('HOST_ROOT', '/host'), flag('VERIFY_FILE_SYSTEMS', 'true')], ...HOST_FILES.container }),
  // A machine whose firmware gives it no UUID is named by this file: by its kubelet, and so by its daemon.
  'machine-id': patchOf(
    { volumes: [{ name: 'machine-id', hostPath: { path: MACHINE_ID, type: 'File' } }] },
    { volumeMounts: [{ name: 'machine-id', mountPath: MACHINE_ID, readOnly: true }] },
  ),
} as const satisfies Readonly<Record<string, object>>;

/** In the Deployment of the controllers: they hear the daemons, and say that they do. The pod's own address is what they announce. */
export const SERVING_NODE_DAEMONS = [
  { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: '--node-daemons' },
  { op: 'add', path: '/spec/template/spec/containers/0/ports/-', value: { name: 'node-daemons', containerPort: DAEMON_PORT, protocol: 'UDP' } },
];
