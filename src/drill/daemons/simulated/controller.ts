import { clusterAgents, createRegistry } from '../../../../agents/registry.ts';
import { WatchdogAgent } from '../../../../agents/watchdog/agent.ts';
import { watchdog } from '../../../../agents/watchdog/definition.ts';
import { LivePlanner } from '../../../config/live-planner.ts';
import { composeController } from '../../../manager/compose.ts';
import { NAMESPACE } from '../../../manifests/access.ts';
import type { AgentDefinition } from '../../../ports/agents.ts';
import type { ApiTransport } from '../../../ports/api-transport.ts';
import { NO_METRICS } from '../../../ports/metrics.ts';
import type { DatagramSocket, ExchangeKeyPairs } from '../../../ports/node-daemon.ts';
import type { Logger } from '../../../ports/recorder.ts';
import { simulatedDefinition } from '../../../testbed/simulation/device-agent.ts';
import type { SimulatedDevice } from '../../../testbed/simulation/devices.ts';
import { Port } from '../../../testbed/simulation/port.ts';
import type { SimulatedProcess } from '../../../testbed/simulation/simulated-process.ts';
import { RACK_LABEL } from '../times.ts';

export interface SimulatedControllerOptions {
  process: SimulatedProcess;
  transport: ApiTransport;
  socket: DatagramSocket;
  keyPairs: ExchangeKeyPairs;
  bmcs: ReadonlyMap<string, SimulatedDevice>;
  onLine: (line: string) => void;
  exit: (reason: string) => void;
}

const SYNC_DEADLINE_MS = 60_000;
const STALE_AFTER_MS = 90_000;
const CONCURRENCY = 4;

/** As it is, but loaded already: loading takes time of the real world. */
const WATCHDOG: AgentDefinition = { ...watchdog, create: (context) => Promise.resolve(new WatchdogAgent(context)) };

/** `nodefence controller --mode enforce --node-daemons`, as it is composed, in a simulated process. */
export function startSimulatedController(options: SimulatedControllerOptions): void {
  const { process, transport, socket, keyPairs, bmcs, onLine, exit } = options;
  const controller = composeController(
    {
      clock: process.clock,
      random: process.random,
      transport,
      registry: createRegistry([...clusterAgents, WATCHDOG, simulatedDefinition(bmcs, new Port(process))]),
      exit,
      logger: loggerTo(onLine),
      metrics: NO_METRICS,
      recorder: {
        event: (about, type, reason, message) => onLine(`event ${type} ${reason} of ${about.metadata.name}: ${message}`),
      },
      nodeDaemons: { socket, keyPairs, topologyKeys: [RACK_LABEL] },
      planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
    },
    {
      mode: 'enforce',
      ownNode: undefined,
      outOfService: true,
      staleAfterMs: STALE_AFTER_MS,
      namespace: NAMESPACE,
      identity: process.name,
      concurrency: CONCURRENCY,
      syncDeadlineMs: SYNC_DEADLINE_MS,
    },
  );
  controller.start().catch((error: unknown) => exit(String(error)));
}

function loggerTo(onLine: (line: string) => void): Logger {
  const at =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      const words = Object.entries(fields).map(([key, value]) => `${key}=${value instanceof Error ? value.message : JSON.stringify(value)}`);
      onLine([level, message, ...words].join(' '));
    };
  return { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') };
}
