/** Where the parts of one control plane find each other, and their files in its folder. */
export interface Places {
  host: string;
  etcdPort: number;
  etcdPeerPort: number;
  apiPort: number;
  /** File names, relative to the folder in which the parts run. */
  files: {
    certificate: string;
    key: string;
    serviceAccountKey: string;
    serviceAccountPublicKey: string;
    tokens: string;
    auditPolicy: string;
    managerKubeconfig: string;
    authority: string;
  };
}

/** What is not so in every drill. */
export interface Features {
  /** Kubelets' credentials may do what they may in a real cluster, and no more. */
  guardsNodes?: boolean;
  /** Real kubelets run pods: these get tokens and what they trust, and are reached at the node's address. */
  runsPods?: boolean;
  /** Somebody reads on stdout what is asked of the API server. */
  isAudited?: boolean;
}

/** The first one of the services' range: `kubernetes`. */
export const API_SERVICE_ADDRESS = '10.0.0.1';

/** How kube-controller-manager and admission behave; durations in milliseconds. */
export interface Pace {
  nodeGraceMs: number;
  nodeMonitorMs: number;
  /** `tolerationSeconds` that pods get for not-ready and unreachable. */
  tolerationSeconds: number;
}

export const SHORT_PACE: Pace = { nodeGraceMs: 4_000, nodeMonitorMs: 1_000, tolerationSeconds: 2 };

/** What the drill leaves to the real kube-controller-manager. Scheduler and CSI attacher are other programs, and ours. */
const CONTROLLERS = [
  'attachdetach',
  'daemonset',
  'deployment',
  'disruption',
  'garbagecollector',
  'job',
  'namespace',
  'nodelifecycle',
  'persistentvolume-binder',
  'podgc',
  'pv-protection',
  'pvc-protection',
  'replicaset',
  'serviceaccount',
  'statefulset',
];
/** Tells pods whom to trust (kube-root-ca.crt). */
const ROOT_PUBLISHER = 'root-ca-certificate-publisher-controller';
/** Evicts from tainted nodes; before, the node lifecycle controller did. */
const TAINT_EVICTION = 'taint-eviction-controller';
const TAINT_EVICTION_SINCE = 29;
/** The last one that opens port 10252 unless it is told not to; from 1.24 on the flag is refused. */
const PLAIN_PORT_UNTIL = 22;

export function etcdCommand({ host, etcdPort, etcdPeerPort }: Places): string[] {
  const [client, peer] = [`http://${host}:${etcdPort}`, `http://${host}:${etcdPeerPort}`];
  const serving = [`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`, `--listen-peer-urls=${peer}`];
  // A drill's data is gone with the drill: nothing is lost by not waiting for the disk.
  return ['--data-dir=etcd', ...serving, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`, '--unsafe-no-fsync'];
}

export function apiServerCommand(
  { host, etcdPort, apiPort, files }: Places,
  pace: Pace,
  { guardsNodes = false, runsPods = false, isAudited = false }: Features = {},
): string[] {
  return [
    `--etcd-servers=http://${host}:${etcdPort}`,
    `--bind-address=${host}`,
    `--secure-port=${apiPort}`,
    `--tls-cert-file=${files.certificate}`,
    `--tls-private-key-file=${files.key}`,
    `--token-auth-file=${files.tokens}`,
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-account-issuer=https://control-plane.drill',
    ...(guardsNodes ? ['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction'] : ['--authorization-mode=RBAC']),
    // Its tokens are for containers, of which the drill has none.
    ...(runsPods ? ['--kubelet-preferred-address-types=InternalIP'] : ['--disable-admission-plugins=ServiceAccount']),
    '--allow-privileged',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--default-not-ready-toleration-seconds=${pace.tolerationSeconds}`,
    `--default-unreachable-toleration-seconds=${pace.tolerationSeconds}`,
    ...(isAudited ? [`--audit-policy-file=${files.auditPolicy}`, '--audit-log-path=-'] : []),
  ];
}

/** `minor`: of the version of Kubernetes. */
export function controllerManagerCommand({ files }: Places, pace: Pace, minor: number, { runsPods = false }: Features = {}): string[] {
  const controllers = [...CONTROLLERS, ...(minor >= TAINT_EVICTION_SINCE ? [TAINT_EVICTION] : []), ...(runsPods ? [ROOT_PUBLISHER] : [])];
  return [
    `--kubeconfig=${files.managerKubeconfig}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    ...(runsPods ? [`--root-ca-file=${files.authority}`] : []),
    '--use-service-account-credentials=false',
    '--leader-elect=false',
    ...(minor <= PLAIN_PORT_UNTIL ? ['--port=0'] : []),
    '--secure-port=0',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    `--controllers=${controllers.join(',')}`,
    `--node-monitor-period=${pace.nodeMonitorMs}ms`,
    `--node-monitor-grace-period=${pace.nodeGraceMs}ms`,
    '--pvclaimbinder-sync-period=1s',
    // The least that it takes: a VolumeAttachment that somebody else deleted is noticed by this look only.
    '--attach-detach-reconcile-sync-period=1001ms',
  ];
}
