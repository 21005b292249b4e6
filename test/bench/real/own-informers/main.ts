// Our informers for the same three kinds in a process of their own, as the controller makes them while nothing is fenced.
import { BY_NODE } from '../../../../src/controllers/fence/dependencies.ts';
import { HttpsTransport } from '../../../../src/kube/https-transport.ts';
import { loadServerConfig } from '../../../../src/kube/kubeconfig/kubeconfig.ts';
import { Reflector } from '../../../../src/kube/reflector.ts';
import type { WatchMetrics } from '../../../../src/ports/metrics.ts';
import type { Logger } from '../../../../src/ports/recorder.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES, PODS } from '../../../../src/ports/resources.ts';
import { keepHeapSmall } from '../../../../src/runtime/heap.ts';
import { SystemClock } from '../../../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../../../src/runtime/system-random.ts';
import { serveHeap } from '../heap-page.ts';

const SYNC_DEADLINE_MS = 120_000;
const REST_MS = 100;

const [, , port = '0'] = process.argv;
const clock = new SystemClock();
const say = (text: string, fields?: object): void => void process.stderr.write(`${text} ${JSON.stringify(fields ?? {})}\n`);
const logger = { debug: () => undefined, info: () => undefined, warn: say, error: say } as unknown as Logger;
const metrics: WatchMetrics = { listed: () => undefined, watchEvent: () => undefined, watchEnded: () => undefined, wentBack: () => undefined };
const server = await loadServerConfig({ environment: process.env, clock });
const base = { transport: new HttpsTransport({ server, clock, userAgent: 'nodefence-bench' }), clock, random: new SystemRandom(), logger, metrics };
const restMs = (): number => REST_MS;
const informers = [
  new Reflector({ ...base, resource: NODES }),
  new Reflector({ ...base, resource: PODS, restMs, indexes: { [BY_NODE]: ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]) } }),
  new Reflector({ ...base, resource: LEASES, namespace: NODE_LEASE_NAMESPACE, restMs }),
];
const ready = serveHeap(port);
for (const informer of informers) informer.start();
await Promise.all(informers.map((informer) => informer.untilSynced(SYNC_DEADLINE_MS)));
ready();
keepHeapSmall(clock);
