// The fence controller as the daemon composes it, in a process of its own, over real HTTPS; only its devices are simulated.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { clusterAgents, createRegistry } from '../../../agents/registry.ts';
import { composeController } from '../../../src/manager/compose.ts';
import { LivePlanner } from '../../../src/config/live-planner.ts';
import { connect } from '../../connection.ts';
import { FRESH_WITHIN_MS } from '../../../src/http/readiness.ts';
import { ApiClient } from '../../../src/kube/client.ts';
import { EventRecorder } from '../../../src/kube/events/recorder.ts';
import { NAMESPACE } from '../../../src/manifests/access.ts';
import { keepHeapSmall } from '../../../src/runtime/heap.ts';
import { LoopLoad } from '../../../src/runtime/loop-load.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../../src/runtime/system-random.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { Telemetry } from '../../../src/telemetry/telemetry.ts';
import type { ApiCall, HeardFailure } from '../api-calls.ts';
import { timed } from '../api-calls.ts';
import type { DeviceCall } from '../device.ts';
import { simulatedDevices } from '../device.ts';

const CONCURRENCY = 64;
const SYNC_DEADLINE_MS = 120_000;

interface Configuration {
  server: string;
  caPem: string;
  token: string;
  /** Device calls and requests are written here whenever its use is asked for. Absent: none is kept, for what is kept would count as a leak. */
  calls?: string;
}

const configuration = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Configuration;
const calls: DeviceCall[] = [];
const say = (message: object): void => void process.send?.(message);
const devices = simulatedDevices((call) => {
  if (configuration.calls !== undefined) calls.push(call);
  if (call.action === 'set') say({ set: call.state, node: call.node });
});
const clock = new SystemClock();
const random = new SystemRandom();
const [requests, failures]: [ApiCall[], HeardFailure[]] = [[], []];
const transport = configuration.calls === undefined ? connect(configuration) : timed(connect(configuration), requests, failures);
const lag = monitorEventLoopDelay({ resolution: 1 });
lag.enable();
const logger = createLogger({ level: 'info', format: 'json', isColoured: false, base: { component: 'controller' } });
const telemetry = new Telemetry({ version: 'bench', freshness: () => [] });
const recorder = new EventRecorder({
  cluster: new ApiClient({ transport }),
  clock,
  random,
  logger,
  metrics: telemetry.metrics.event,
  component: 'nodefence-controller',
  instance: 'bench',
});
const controller = composeController(
  {
    transport,
    clock,
    random,
    registry: createRegistry([...clusterAgents, devices]),
    logger,
    metrics: telemetry.metrics,
    recorder,
    load: new LoopLoad(),
    planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
    exit: (reason) => {
      process.stderr.write(`${reason}\n`);
      process.exit(1);
    },
  },
  {
    mode: 'enforce',
    ownNode: undefined,
    outOfService: true,
    staleAfterMs: FRESH_WITHIN_MS,
    namespace: NAMESPACE,
    identity: 'bench',
    concurrency: CONCURRENCY,
    syncDeadlineMs: SYNC_DEADLINE_MS,
  },
);

/** Time that the process was ready to run and no core was free (proc(5), schedstat): what a busy machine adds to every figure. */
function waitedMs(): number {
  return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
}

/** Timers, sockets and what else keeps the process alive, and the files that it holds open. */
function handles(): Record<string, number> {
  const counts: Record<string, number> = { files: readdirSync('/proc/self/fd').length };
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Spent on the answers themselves: a full collection of a large heap takes longer than anything that is measured. */
let answersMs = 0;
const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

process.on('message', () => {
  const cpuMs = spentMs() - answersMs;
  if (configuration.calls !== undefined) writeFileSync(configuration.calls, JSON.stringify({ calls, requests, failures }));
  const [lagP99Ms, lagMaxMs] = [lag.percentile(99) / 1e6, lag.max / 1e6];
  const rssMb = process.memoryUsage.rss() / 2 ** 20;
  globalThis.gc?.();
  const heapMb = process.memoryUsage().heapUsed / 2 ** 20;
  say({ done: true, rssMb, heapMb, cpuMs, waitedMs: waitedMs(), lagP99Ms, lagMaxMs, handles: handles() });
  lag.reset();
  answersMs = spentMs() - cpuMs;
});
process.on('disconnect', () => process.exit(0));
const startedAtMs = clock.monotonicMs();
await controller.start();
say({ synced: true, tookMs: clock.monotonicMs() - startedAtMs });
// As the daemon does it: without it the memory is that of a process which V8 lets double its heap, and which nobody runs.
keepHeapSmall(clock);
