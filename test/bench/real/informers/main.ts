// Informers of @kubernetes/client-node for the three kinds that matter here, in a process of their own.
import { CoordinationV1Api, CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { serveHeap } from '../heap-page.ts';

const [, , port = '0'] = process.argv;
const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const coordination = config.makeApiClient(CoordinationV1Api);
const namespace = 'kube-node-lease';
const informers = [
  makeInformer(config, '/api/v1/nodes', () => core.listNode()),
  makeInformer(config, '/api/v1/pods', () => core.listPodForAllNamespaces()),
  makeInformer(config, `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, () => coordination.listNamespacedLease({ namespace })),
];
for (const informer of informers) {
  informer.on('error', (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    void informer.start();
  });
}
const ready = serveHeap(port);
// `start` resolves when the first list has been delivered.
await Promise.all(informers.map((informer) => informer.start()));
ready();
