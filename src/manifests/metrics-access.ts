import type { KubeObject } from '../ports/objects.ts';
import { binding, CONTROLLER_ACCOUNT, LABELS, NAMESPACE, rule } from './access.ts';
import type { Binding, Role } from './access.ts';
import { COMPONENT, CONTROLLER_NAME } from './deployment.ts';

const AUTHORIZATION = 'rbac.authorization.k8s.io/v1';
/** Beside 7410 and 7411: on the node's own network the usual 8443 may be somebody else's. */
export const METRICS_PORT = 7_408;
const PORT_NAME = 'metrics';
const FILES_AT = '/etc/nodefence/metrics';
/** With tls.crt and tls.key, as cert-manager makes it; nobody has to. */
const CERTIFICATE_SECRET = 'nodefence-metrics';
const CONTAINER = '/spec/template/spec/containers/0';

/** To ask the API server whose token it was sent, and what that account may. */
const REVIEWS_ROLE: Role = {
  apiVersion: AUTHORIZATION,
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-metrics-reviews', labels: LABELS },
  rules: [rule('authentication.k8s.io', ['tokenreviews'], ['create']), rule('authorization.k8s.io', ['subjectaccessreviews'], ['create'])],
};

/** For whoever is to read the metrics: bound to nobody. */
const READER_ROLE: KubeObject & { rules: object[] } = {
  apiVersion: AUTHORIZATION,
  kind: 'ClusterRole',
  metadata: { name: 'nodefence-metrics-reader', labels: LABELS },
  rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
};

/** A name for each replica's own address: metrics of one that does not lead are its own. */
const SERVICE: KubeObject & { spec: object } = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'nodefence-metrics', namespace: NAMESPACE, labels: COMPONENT },
  spec: {
    clusterIP: 'None',
    selector: COMPONENT,
    ports: [{ name: PORT_NAME, port: METRICS_PORT, targetPort: METRICS_PORT }],
    // A replica that is not ready says why in its metrics.
    publishNotReadyAddresses: true,
  },
};

/** Installed beside the rest where metrics are read from elsewhere (`kubectl apply -k config/observe-with-metrics`). */
export const METRICS_ACCESS: readonly (Role | Binding | KubeObject)[] = [REVIEWS_ROLE, binding(REVIEWS_ROLE), READER_ROLE, SERVICE];

/** For the Prometheus operator, which sends the token of Prometheus itself. */
export const METRICS_MONITOR: readonly KubeObject[] = [monitor()];

function monitor(): KubeObject {
  const endpoint = {
    port: PORT_NAME,
    scheme: 'https',
    path: '/metrics',
    bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
    // The certificate that a replica makes is known to nobody. With one of yours, name its authority here instead.
    tlsConfig: { insecureSkipVerify: true },
  };
  const object = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name: CONTROLLER_ACCOUNT, namespace: NAMESPACE, labels: COMPONENT },
    spec: { selector: { matchLabels: COMPONENT }, endpoints: [endpoint] },
  };
  return object;
}

/** In the Deployment of the controllers: the certificate, where there is one. */
export const METRICS_FILES: object = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: CONTROLLER_NAME, namespace: NAMESPACE },
  spec: {
    template: {
      spec: {
        containers: [{ name: 'controller', volumeMounts: [{ name: PORT_NAME, mountPath: FILES_AT, readOnly: true }] }],
        volumes: [{ name: PORT_NAME, secret: { secretName: CERTIFICATE_SECRET, optional: true } }],
      },
    },
  },
};

/** And that they serve. */
export const SERVING_METRICS = [
  ...['--metrics-address', `:${METRICS_PORT}`, '--metrics-certificate', FILES_AT].map((value) => ({ op: 'add', path: `${CONTAINER}/args/-`, value })),
  { op: 'add', path: `${CONTAINER}/ports/-`, value: { name: PORT_NAME, containerPort: METRICS_PORT } },
];
