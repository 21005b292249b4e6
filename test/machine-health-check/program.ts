import { setUpHealthChecks } from '../../src/manager/health-checks/setup.ts';
import type { ControllerOptions, ControllerPorts } from '../../src/manager/composition.ts';
import { WorkloadPool } from '../../src/manager/workload-pool.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { install } from '../../src/drill/run/installation.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE as OWN_NAMESPACE } from '../../src/manifests/access.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster, Lister, Resource } from '../../src/ports/cluster.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { StormHolds } from '../../src/ports/storm.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { DEFINITIONS } from './definitions.ts';
import { NOW_MS } from './objects.ts';

const ACCOUNT = `system:serviceaccount:${OWN_NAMESPACE}:${CONTROLLER_ACCOUNT}`;
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

export interface Program {
  clock: ManualClock;
  operator: Cluster;
  healthChecks: NonNullable<ReturnType<typeof setUpHealthChecks>>;
  warnings: string[];
  /** `Machine m1 Normal MachineDeleted`. */
  events: string[];
  /** What everybody asked of the API server. */
  trace: ApiEvent[];
  pass: (ms: number) => Promise<void>;
  close: () => Promise<void>;
}

export interface ProgramParts {
  /** Folders of config/ whose kinds are served. */
  folders?: readonly string[];
  /** Kinds of others. */
  definitions: readonly KubeObject[];
  choice?: 'auto' | 'own' | 'off';
  withRights?: boolean;
  /** To a workload cluster, whatever kubeconfig leads there. */
  elsewhere?: ApiTransport;
  /** What holds an off on request, by node. */
  stormHolds?: StormHolds;
}

/** Health checks as the program composes them, under the account and the rights that are shipped. `undefined`: they are switched off. */
export async function startProgram({
  folders = [],
  definitions,
  choice = 'auto',
  withRights = true,
  elsewhere,
  stormHolds = () => [],
}: ProgramParts): Promise<Program | undefined> {
  const clock = new ManualClock({ wallMs: NOW_MS });
  const users = [
    { name: 'admin', groups: ['system:masters'] },
    { name: ACCOUNT, groups: ['system:serviceaccounts', 'system:authenticated'] },
  ];
  const trace: ApiEvent[] = [];
  const audit = (event: ApiEvent): void => void trace.push(event);
  const server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac', audit });
  const admin = inProcessTransport(server, 'admin');
  const operator = new ApiClient({ transport: admin });
  await install({ transport: admin, cluster: operator });
  for (const definition of definitions) await operator.create(DEFINITIONS, definition);
  await sendShipped(admin, [...folders, ...(withRights ? ['machine-health-check'] : [])]);

  const transport = inProcessTransport(server, ACCOUNT);
  const ends: (() => void)[] = [];
  const base = { transport, clock, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
  const watch = <T extends KubeObject>(resource: Resource<T>): Lister<T> => {
    const reflector = new Reflector<T>({ ...base, resource });
    reflector.start();
    ends.push(() => {
      reflector.close();
    });
    return reflector.lister;
  };
  const warnings: string[] = [];
  const events: string[] = [];
  const logger = { ...QUIET, warn: (message: string, fields?: object) => void warnings.push(`${message} ${JSON.stringify(fields)}`) };
  const event = ({ kind = '', metadata }: KubeObject, type: string, reason: string): void =>
    void events.push(`${kind} ${metadata.name} ${type} ${reason}`);
  const ports = { transport, clock, random: testRandom(), logger, metrics: NO_METRICS, recorder: { event } } as unknown as ControllerPorts;
  const cluster = new ApiClient({ transport });
  const reach = elsewhere === undefined ? undefined : () => Promise.resolve({ transport: elsewhere, close: quiet });
  const healthChecks = setUpHealthChecks(ports, { mode: 'enforce', healthChecks: choice } as ControllerOptions, {
    cluster,
    workloads: new WorkloadPool(cluster, reach),
    listers: { nodes: watch(NODES), fences: watch(NODE_FENCES) },
    leadership: { isLeading: true, mayBegin: () => true },
    stormHolds,
  });
  const end = (): void => {
    for (const each of ends) each();
  };
  if (healthChecks === undefined) {
    end();
    return undefined;
  }
  healthChecks.start();
  return {
    ...{ clock, operator, healthChecks, warnings, events, trace },
    pass: async (ms) => {
      for (let left = ms; left > 0; left -= 500) await clock.advance(Math.min(500, left));
    },
    close: async () => {
      const closing = healthChecks.close();
      await clock.advance(1);
      await closing;
      end();
    },
  };
}
