import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { standardRegistry } from '../../agents/registry.ts';
import { LivePlanner } from '../config/live-planner.ts';
import { PRESERVATION_CHOICES } from '../config/preservation-mode.ts';
import type { PreservationChoice } from '../config/preservation-mode.ts';
import { OperationsServer } from '../http/operations-server.ts';
import { FRESH_WITHIN_MS, watchChecks } from '../http/readiness.ts';
import type { Check } from '../http/readiness.ts';
import { ApiClient } from '../kube/client.ts';
import { HttpsTransport } from '../kube/https-transport.ts';
import { loadServerConfig } from '../kube/kubeconfig/kubeconfig.ts';
import { EventRecorder } from '../kube/events/recorder.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../manifests/access.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Logger } from '../ports/recorder.ts';
import type { Plan } from '../domain/plan.ts';
import { hostEnvironment } from '../runtime/host-environment.ts';
import { keepMemoryOutOfDumps } from '../runtime/core-dumps.ts';
import { keepHeapSmall } from '../runtime/heap.ts';
import { LoopLoad } from '../runtime/loop-load.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { SystemRandom } from '../runtime/system-random.ts';
import { Probes } from '../connectivity/probes.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { LogLevel } from '../telemetry/logger.ts';
import { Telemetry } from '../telemetry/telemetry.ts';
import { AnsweredTransport } from './answered-transport.ts';
import { firstAnswer } from './first-answer.ts';
import { usageExits } from './usage-exits.ts';
import { countedProblems } from './counted-problems.ts';
import { connectCluster, reachCluster } from './connect-cluster.ts';
import { composeController } from '../manager/compose.ts';
import type { ComposedController } from '../manager/compose.ts';
import { LEADER_LEASE } from '../manager/composition.ts';
import type { ControllerOptions } from '../manager/composition.ts';
import { secondaryControllersOf } from './controllers-option.ts';
import type { SecondaryController } from './controllers-option.ts';
import { HEALTH_CHECK_CHOICES } from '../manager/health-checks/mode.ts';
import type { HealthCheckChoice } from '../manager/health-checks/mode.ts';
import { MACHINE_REMEDIATION_CHOICES } from '../manager/machine-remediation/mode.ts';
import type { MachineRemediationChoice } from '../manager/machine-remediation/mode.ts';
import { METAL3_REMEDIATION_CHOICES } from '../manager/metal3-remediation/mode.ts';
import type { Metal3RemediationChoice } from '../manager/metal3-remediation/mode.ts';
import { withHttpOptions } from './http-option.ts';
import type { HttpFlags } from './http-option.ts';
import { kdumpPorts, withKdumpOption } from './kdump-option.ts';
import type { KdumpFlags } from './kdump-option.ts';
import { metricsServer, withMetricsOptions } from './metrics-option.ts';
import type { MetricsFlags } from './metrics-option.ts';
import { nodeDaemonPorts, withNodeDaemonOptions } from './node-daemons-option.ts';
import type { NodeDaemonFlags } from './node-daemons-option.ts';
import { withMachineOptions } from './preservation/machine-flags.ts';
import type { MachineFlags } from './preservation/machine-flags.ts';
import { machinesElsewhere } from './preservation/other-cluster.ts';
import { withDeviceAddressOption } from './device-address-option.ts';
import type { DeviceAddresses } from '../domain/addresses/device-addresses.ts';
import { rightsOfController, withProgramOption } from './program-rights.ts';
import { remedyPorts, withRemediesOption } from './remedy-folder.ts';
import { endingWhenReplaced } from './replaced-program.ts';
import type { RemedyFlags } from './remedy-folder.ts';
import { HostSecrets, withSecretFilesOption } from './secrets/stores.ts';
import type { SecretFlags } from './secrets/stores.ts';
import { VERSION } from './version.ts';

interface Flags extends MachineFlags, NodeDaemonFlags, KdumpFlags, RemedyFlags, MetricsFlags, SecretFlags, HttpFlags {
  mode: 'observe' | 'enforce';
  kubeconfig?: string;
  context?: string;
  fenceNamespace: string;
  ownNode?: string;
  nodeLeaseNamespace: string;
  controllers: ReadonlySet<SecondaryController>;
  preservation: PreservationChoice;
  healthChecks: HealthCheckChoice;
  machineRemediation: MachineRemediationChoice;
  metal3Remediation: Metal3RemediationChoice;
  programs?: string;
  deviceAddresses: DeviceAddresses;
  concurrency: number;
  logLevel: LogLevel;
  logFormat?: 'json' | 'pretty';
}

const SYNC_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 5_000;

/** `nodefence controller`: the cluster-level daemon. */
export function controllerCommand(): Command {
  const option = (flags: string, variable: string, description: string): Option => new Option(flags, description).env(`NODEFENCE_${variable}`);
  const command = usageExits(new Command('controller'))
    .description('watch Nodes, fence those that failed, bring them back; replicas elect one leader')
    .addOption(option('--mode <mode>', 'MODE', 'observe: change nothing; enforce: fence').choices(['observe', 'enforce']).default('observe'))
    .addOption(option('--kubeconfig <path>', 'KUBECONFIG', 'kubeconfig file; default: KUBECONFIG, the service account of the pod, or ~/.kube/config'))
    .addOption(option('--context <name>', 'CONTEXT', 'context of the kubeconfig; default: the current one'))
    .addOption(
      option('-n, --fence-namespace <name>', 'FENCE_NAMESPACE', 'namespace of the configuration and of the leader Lease').default('nodefence-system'),
    )
    .addOption(option('--own-node <name>', 'OWN_NODE', 'node that this process runs on; it never fences it'))
    .addOption(
      option(
        '--node-lease-namespace <name>',
        'MEDIK8S_LEASE_NAMESPACE',
        'namespace of the Leases by which medik8s remediators claim nodes; if it exists, claims are respected and made; empty: neither',
      ).default(MEDIK8S_LEASE_NAMESPACE),
    )
    .addOption(
      option(
        '--controllers <names>',
        'CONTROLLERS',
        'controllers to run beside fencing: preservation, probes, remediation, health-check, machine-remediation, metal3-remediation, remedies; *: all; -NAME: all but NAME',
      )
        .argParser(secondaryControllersOf)
        .default(secondaryControllersOf('*'), '*'),
    )
    .addOption(
      option('--preservation <mode>', 'PRESERVATION', 'machine preservation; own: in place of an MCM; observe: beside one; auto: detect which')
        .choices(PRESERVATION_CHOICES)
        .default('auto'),
    )
    .addOption(
      option('--health-checks <mode>', 'HEALTH_CHECKS', 'MachineHealthChecks; own: in place of Cluster API; auto: if the CRD is ours')
        .choices(HEALTH_CHECK_CHOICES)
        .default('auto'),
    )
    .addOption(
      option(
        '--machine-remediation <mode>',
        'MACHINE_REMEDIATION',
        'remediation of annotated Machines; incident: once per incident; seed-table: the table of the Metal3 design, which loops',
      )
        .choices(MACHINE_REMEDIATION_CHOICES)
        .default('incident'),
    )
    .addOption(
      option('--metal3-remediation <mode>', 'METAL3_REMEDIATION', 'Metal3Remediations; own: in place of Metal3; auto: if the CRD is ours')
        .choices(METAL3_REMEDIATION_CHOICES)
        .default('auto'),
    )
    .addOption(option('--concurrency <count>', 'CONCURRENCY', 'number of nodes worked on at the same time, at most').argParser(count).default(64))
    .addOption(option('--log-level <level>', 'LOG_LEVEL', 'lowest level that is logged').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .addOption(option('--log-format <format>', 'LOG_FORMAT', 'log format; default: pretty on a terminal, else json').choices(['json', 'pretty']))
    .action(async (flags: Flags) => {
      await runController(flags);
    });
  return withMetricsOptions(
    withRemediesOption(
      withKdumpOption(
        withNodeDaemonOptions(withMachineOptions(withSecretFilesOption(withDeviceAddressOption(withProgramOption(withHttpOptions(command)))))),
      ),
    ),
  );
}

async function runController(flags: Flags): Promise<void> {
  const logger = createLogger({
    level: flags.logLevel,
    format: flags.logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json'),
    isColoured: process.stderr.isTTY,
    base: { component: 'controller' },
  });
  const dumps = keepMemoryOutOfDumps();
  if (dumps !== undefined) logger.warn('a core dump would hold passwords: set the limit of core dumps to 0', { reason: dumps });
  const ending: Ending = { stop: () => Promise.resolve() };
  stopOnSignals(ending, logger);
  try {
    await serve(flags, logger, ending);
    keepHeapSmall(new SystemClock());
  } catch (error) {
    const why = { error: error instanceof Error ? error.message : String(error) };
    // What waits for the API server is ended by the stop, which also says how the process ends.
    if (ending.isAsked === true) {
      logger.info('stopped before it was ready', why);
      return;
    }
    logger.error('the controller cannot run', why);
    // Sockets and watches that were opened by then would keep the process: it would look alive, and nobody would lead.
    process.exit(1);
  }
}

async function serve(flags: Flags, logger: Logger, ending: Ending): Promise<void> {
  const [clock, random, rights] = [new SystemClock(), new SystemRandom(), rightsOfController(flags.programs, flags.mode)];
  const server = await loadServerConfig({
    environment: process.env,
    ...{ clock, logger },
    ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
  });
  if (server.isInCluster === true && (flags.ownNode ?? '') === '')
    logger.warn('it is not said which node this process runs on: it may fence that too; name it by --own-node (NODEFENCE_OWN_NODE)');
  const transport = new AnsweredTransport(new HttpsTransport({ server, clock, userAgent: `nodefence/${VERSION}` }), clock);
  const composed: { controller?: ComposedController } = {};
  const watched = (): ComposedController['listers'] => composed.controller?.listers ?? [];
  const telemetry = new Telemetry({
    version: VERSION,
    freshness: () =>
      watched().map(({ name, lister }) => ({ resource: name, isSynced: lister.synced, ageMs: clock.monotonicMs() - lister.freshAtMs })),
  });
  const recorder = createRecorder(transport, flags, logger, telemetry, leaderLease(flags));
  const operations = operationsOf(flags, { transport, telemetry, composed, clock, logger });
  // Whoever asks whether this process lives is answered while it waits.
  const bound = await operations.listen(flags.httpAddress);
  const outOfService = await firstAnswer(transport, { clock, logger, isPatient: server.isInCluster === true });
  const elsewhere = await machinesElsewhere(flags, clock, logger);
  const recorders = [recorder, ...(elsewhere === undefined ? [] : [createRecorder(elsewhere, flags, logger, telemetry)])];
  const controller = composeController(
    {
      transport,
      clock,
      random,
      registry: endingWhenReplaced(standardRegistry(rights), (reason) => endAnew(reason, logger)),
      connect: (kubeconfig) => connectCluster(kubeconfig, clock),
      ...{ host: hostEnvironment(process.env), addresses: flags.deviceAddresses },
      reach: (kubeconfig) => reachCluster(kubeconfig, '(Secret)', clock),
      logger,
      metrics: telemetry.metrics,
      ...{ recorder, load: new LoopLoad() },
      ...(elsewhere === undefined ? {} : { machines: { transport: elsewhere, recorder: recorders[1] ?? recorder } }),
      ...(await nodeDaemonPorts(flags, server.url)),
      ...{ ...(await kdumpPorts(flags)), ...remedyPorts(flags) },
      connectivity: (cluster) => new Probes({ clock, log: logger, cluster }),
      planner: (sources) =>
        new LivePlanner({
          ...sources,
          namespace: flags.fenceNamespace,
          ...{ addresses: flags.deviceAddresses, stores: new HostSecrets({ files: flags.secretFiles, programs: rights, clock }) },
          onClusterProblems: (problems) => logProblems(problems, logger),
        }),
      exit: (reason, how) => {
        if (how === 'handed-over') return void leave(reason, recorders, logger);
        logger.error('the process ends so that nothing acts without a lease', { reason });
        process.exit(1);
      },
    },
    optionsOf(flags, outOfService),
  );
  composed.controller = controller;
  logger.info('starting', { version: VERSION, mode: flags.mode, address: `${bound.host}:${bound.port}`, server: server.url.host });
  const metrics = metricsServer(flags, { transport, clock, logger, scrape: () => telemetry.scrape() });
  ending.stop = () => stopInOrder(controller, recorders, operations).finally(() => metrics?.close());
  await controller.start();
}

interface Served {
  transport: AnsweredTransport;
  telemetry: Telemetry;
  /** As it is once the API server has said its version. */
  composed: { controller?: ComposedController };
  clock: Clock;
  logger: Logger;
}

function operationsOf({ httpNames }: Flags, { transport, telemetry, composed, clock, logger }: Served): OperationsServer {
  const watched = (): ComposedController['listers'] => composed.controller?.listers ?? [];
  return new OperationsServer({
    scrape: () => telemetry.scrape(),
    readiness: () => [
      transport.check(),
      selfCheckOf(composed.controller),
      ...watchChecks(
        watched().map(({ name, lister, lastError }) => ({ name, lister, lastError: lastError() })),
        clock,
      ),
    ],
    problems: () => countedProblems(watched()),
    ...{ names: [hostname(), ...httpNames], clock, logger },
  });
}

function selfCheckOf(controller: ComposedController | undefined): Check {
  const name = 'self-check';
  if (controller === undefined) return { name, ok: false, detail: 'it has not begun: the API server has not said its version yet' };
  return { name, ok: controller.selfCheck.result.kind === 'passed', detail: controller.selfCheck.message() };
}

function logProblems(problems: Plan['problems'], logger: Logger): void {
  for (const { severity, where, message } of problems)
    logger[severity === 'error' ? 'error' : 'warn']('configuration', { configuration: where, problem: message });
}

function optionsOf(flags: Flags, outOfService: boolean): ControllerOptions {
  return {
    mode: flags.mode,
    // As a variable without a value says.
    ownNode: flags.ownNode === '' ? undefined : flags.ownNode,
    outOfService,
    staleAfterMs: FRESH_WITHIN_MS,
    namespace: flags.fenceNamespace,
    ...(flags.nodeLeaseNamespace === '' ? {} : { nodeLeaseNamespace: flags.nodeLeaseNamespace }),
    identity: hostname(),
    concurrency: flags.concurrency,
    programs: flags.programs ?? '',
    deviceAddresses: String(flags.deviceAddresses),
    probes: flags.controllers.has('probes'),
    remediation: flags.controllers.has('remediation'),
    remedies: flags.controllers.has('remedies'),
    preservation: flags.controllers.has('preservation') ? flags.preservation : 'off',
    healthChecks: flags.controllers.has('health-check') ? flags.healthChecks : 'off',
    machineRemediation: flags.controllers.has('machine-remediation') ? flags.machineRemediation : 'off',
    metal3Remediation: flags.controllers.has('metal3-remediation') ? flags.metal3Remediation : 'off',
    ...((flags.machinesNamespace ?? '') === '' ? {} : { machinesNamespace: flags.machinesNamespace }),
    syncDeadlineMs: SYNC_DEADLINE_MS,
  };
}

/** What Events of no other object are about. */
function leaderLease({ fenceNamespace: namespace }: Flags): KubeObject {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: LEADER_LEASE, namespace } };
}

function createRecorder(transport: ApiTransport, flags: Flags, logger: Logger, telemetry: Telemetry, home?: KubeObject): EventRecorder {
  const instance = flags.ownNode === undefined ? hostname() : `${flags.ownNode}/${hostname()}`;
  return new EventRecorder({
    cluster: new ApiClient({ transport }),
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger,
    metrics: telemetry.metrics.event,
    component: 'nodefence-controller',
    instance,
    ...(home !== undefined && { home }),
  });
}

/** Whoever keeps the process running starts it anew, as a candidate that lets others go first. */
async function leave(reason: string, recorders: readonly EventRecorder[], logger: Logger): Promise<void> {
  logger.info('leadership is handed over; the process ends', { reason });
  await Promise.all(recorders.map((recorder) => recorder.close(1_000)));
  process.exit(0);
}

/** As a signal ends it: the lease is handed over. */
function endAnew(reason: string, logger: Logger): void {
  logger.error('the process ends, to be started anew', { reason });
  process.kill(process.pid, 'SIGTERM');
}

async function stopInOrder(controller: ComposedController, recorders: readonly EventRecorder[], operations: OperationsServer): Promise<void> {
  await controller.stop(STOP_DEADLINE_MS);
  await Promise.all(recorders.map((recorder) => recorder.close(1_000)));
  await operations.close();
}

/** What a signal has to stop; nothing before the controller is composed. */
interface Ending {
  stop: () => Promise<void>;
  isAsked?: true;
}

/** Hands the lease over at once; a second signal does not wait. Heard from the start: process 1 of a container dies of no signal by itself. */
function stopOnSignals(ending: Ending, logger: Logger): void {
  let isStopping = false;
  const obey = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    ending.isAsked = true;
    logger.info('stopping', { signal });
    ending.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error('the stop failed', { error: String(error) });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', obey);
  process.on('SIGINT', obey);
}

function count(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1000) throw new InvalidArgumentError('must be a whole number from 1 to 1000.');
  return number;
}
