import { API_SERVICE_ADDRESS } from '../../src/testbed/control-plane/commands.ts';

export const NODE_NAME = 'kubelet-1';
/** RFC 2544 sets this block aside for tests between networks. */
export const NODE_ADDRESS = '198.18.201.2';
export const HOST_ADDRESS = '198.18.201.1';
export const POD_RANGE = '10.244.201.0/24';
/** What holds the namespaces of a pod. */
export const PAUSE_IMAGE = 'localhost/busybox:test';
/** Where Debian has the plugins. */
export const NETWORK_PLUGINS = '/usr/lib/cni';
/** Under it are the cgroups of all pods: others of this computer have another. */
export const CGROUP_ROOT = 'nodefence-kubelet';
const RUNTIME = '/run/containerd/containerd.sock';

/** Of containerd; `root`: where it keeps its images. */
export function runtimeConfiguration(root: string): string {
  return [
    'version = 2',
    `root = "${root}"`,
    '[grpc]',
    `address = "${RUNTIME}"`,
    '[plugins."io.containerd.grpc.v1.cri"]',
    `sandbox_image = "${PAUSE_IMAGE}"`,
    // Root of a container may not be allowed to lower it.
    'restrict_oom_score_adj = true',
    '[plugins."io.containerd.grpc.v1.cri".cni]',
    `bin_dir = "${NETWORK_PLUGINS}"`,
    '',
  ].join('\n');
}

export const NETWORK = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'pods',
      isGateway: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: POD_RANGE }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
});

export const KUBELET = JSON.stringify({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  // The API server of this cluster has no certificate that the kubelet would know; the kubelet's own door is not what is tried here.
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${CGROUP_ROOT}`,
  containerRuntimeEndpoint: `unix://${RUNTIME}`,
  // What this computer has.
  failCgroupV1: false,
  failSwapOn: false,
  resolvConf: '',
  // A full disk of this computer is not what is tried.
  evictionHard: { 'memory.available': '10Mi', 'nodefs.available': '0%', 'imagefs.available': '0%' },
  imageGCHighThresholdPercent: 100,
  localStorageCapacityIsolation: false,
  enforceNodeAllocatable: [],
  runtimeRequestTimeout: '5m',
});

export const KUBELET_FLAGS = [
  '--config=/etc/kubernetes/kubelet.yaml',
  '--kubeconfig=/etc/kubernetes/kubelet.conf',
  `--hostname-override=${NODE_NAME}`,
  `--node-ip=${NODE_ADDRESS}`,
];

/** What a kube-proxy does for the one Service that pods need here: the API server. */
export function serviceRules(server: string): string {
  const { hostname, port } = new URL(server);
  const rule = `ip daddr ${API_SERVICE_ADDRESS} tcp dport 443 dnat to ${hostname}:${port}`;
  const chain = (hook: string): string => `chain ${hook} { type nat hook ${hook} priority -100; ${rule}; }`;
  return ['table ip services {', chain('prerouting'), chain('output'), '}', ''].join('\n');
}
