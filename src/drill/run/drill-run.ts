import { fenceName } from '../../domain/node-fence.ts';
import { LEASES } from '../../ports/resources.ts';
import { judge } from '../laws/judge.ts';
import { createScene, DEFAULT_SCENE } from '../world/scene.ts';
import type { Child } from './child.ts';
import { ClusterSession, CONTROLLER_USER } from './cluster-session.ts';
import { configure, install } from './installation.ts';
import { operatorSetting } from './operator/setting.ts';
import type { DrillOptions, Expected } from './options.ts';
import { programPath } from './program.ts';
import { devicesOf, exposureOf, listsAfter, requestsOf, timelineOf, usageOf } from './result.ts';
import type { DrillResult } from './result.ts';
import { FENCE_NAMESPACE } from './scene-configuration.ts';
import { ownSetting } from './setting.ts';
import type { DrillSetting } from './setting.ts';
import { Watcher } from './watcher.ts';

const SETTLED_MS = 30_000;
const LEADER_LEASE = 'nodefence-controller';

/** Told what goes on; draws it, or says nothing. */
export interface Audience {
  says(line: string): void;
  /** Everything runs; the fault comes next. */
  opens(session: ClusterSession, watcher: Watcher): void;
  breaks(node: string, faultAtMs: number): void;
  closes(): void;
}

/** One drill from an empty folder to a judged result. Everything is left running until `onResult` resolves. */
export async function runDrill(options: DrillOptions, audience: Audience, onResult: (result: DrillResult) => Promise<void>): Promise<DrillResult> {
  const setting = options.config === undefined ? ownSetting(options) : operatorSetting(options.config, options);
  const session = new ClusterSession(options, setting.machines);
  const watcher = { current: undefined as Watcher | undefined };
  try {
    return await play({ session, setting, options, audience }, watcher, onResult);
  } finally {
    audience.closes();
    watcher.current?.close();
    await session.stop();
  }
}

interface Stage {
  session: ClusterSession;
  setting: DrillSetting;
  options: DrillOptions;
  audience: Audience;
}

async function play(
  { session, setting, options, audience }: Stage,
  held: { current: Watcher | undefined },
  onResult: (result: DrillResult) => Promise<void>,
): Promise<DrillResult> {
  const count = setting.machines.length;
  for (const line of setting.says) audience.says(line);
  audience.says('starting the API server');
  await session.start();
  await install(session);
  audience.says(`starting ${count} machines with their BMCs, and the cluster's controllers`);
  await session.startWorld();
  const watcher = new Watcher(session);
  held.current = watcher;
  await watcher.start();
  await watcher.until('every node to be Ready', SETTLED_MS, () => readyNodes(watcher) === count);
  await createScene(session.cluster, { ...DEFAULT_SCENE, replicas: count });
  const configuration = setting.configuration(session.bmcs, session.credentials);
  for (const line of configuration.says ?? []) audience.says(line);
  await configure(session, configuration);
  audience.says('starting nodefence controller --mode enforce');
  const controller = await startController(session);
  await watcher.until('running pods on every node', SETTLED_MS, () => isSettled(watcher, count));
  await untilLeading(session);
  audience.opens(session, watcher);
  const syncedAtMs = session.now();
  await pause(300 + 1_000 * session.random());
  const node = victim(session, watcher, setting.victims);
  const faultAtMs = session.breakNode(node, options.fault);
  audience.breaks(node, faultAtMs);
  const expected = setting.expected(options.fault);
  const problems: string[] = [];
  await watcher
    .until(`the end of the fence of ${node}`, expected.deadlineMs, () => isOver(watcher, node))
    .catch((error: unknown) => problems.push(String(error)));
  if (expected.released) {
    await watcher
      .until('running pods on healthy nodes', SETTLED_MS, () => isSettled(watcher, count))
      .catch((error: unknown) => problems.push(String(error)));
  }
  await pause(300);
  const usage = usageOf(controller.pid);
  const exposure = exposureOf(controller.pid);
  if (!options.keep) await controller.stop(5_000);
  audience.closes();
  const result = verdict({ session, watcher, options, expected, node, faultAtMs, syncedAtMs, usage, exposure, log: controller.log(), problems });
  await onResult(result);
  return result;
}

async function startController(session: ClusterSession): Promise<Child> {
  const command = [
    process.execPath,
    programPath('../../main'),
    'controller',
    '--mode',
    'enforce',
    '--kubeconfig',
    session.kubeconfig(CONTROLLER_USER),
    '--http-address',
    '127.0.0.1:0',
  ];
  const at = session.now();
  const controller = await session.run('controller', command, false);
  session.record({ kind: 'controller', at, id: String(controller.pid), what: 'start' });
  return controller;
}

interface Played {
  session: ClusterSession;
  watcher: Watcher;
  options: DrillOptions;
  expected: Expected;
  node: string;
  faultAtMs: number;
  syncedAtMs: number;
  usage: DrillResult['controller'];
  exposure: Record<string, string>;
  log: string;
  problems: string[];
}

/** Judged from outside: devices, audit, disk, power; the fence's own status only says which outcome it claims. */
function verdict(played: Played): DrillResult {
  const { session, watcher, options, expected, node, faultAtMs, problems } = played;
  const trace = session.traces();
  const status = watcher.fences.get(fenceName(node))?.status;
  const timing = status?.frozen?.plan.timing;
  const judgement = judge(trace, {
    controllerUser: CONTROLLER_USER,
    leaseName: LEADER_LEASE,
    secrets: session.secrets,
    texts: { log: played.log, ...played.exposure },
    ...(timing === undefined ? {} : { offStableMs: timing.offStableMs, settleMs: timing.settleMs, releaseTimeoutMs: timing.releaseTimeoutMs }),
  });
  const outcome = status?.outcome ?? (status === undefined ? 'no fence' : `${status.state} in ${status.step}`);
  const listed = listsAfter(trace, CONTROLLER_USER, played.syncedAtMs);
  if (outcome !== expected.outcome) problems.push(`outcome ${outcome} instead of ${expected.outcome}`);
  if ((status?.timeline.releasedAt !== undefined) !== expected.released)
    problems.push(expected.released ? 'nothing was released' : 'something was released');
  if (judgement.writers.overlaps > 0) problems.push(`${judgement.writers.overlaps} times two writers had one volume`);
  for (const resource of Object.keys(listed).filter((name) => !name.startsWith('nodefencestops')))
    problems.push(`${resource} was listed again after the first sync`);
  for (const [law, { violations }] of Object.entries(judgement.laws)) problems.push(...violations.map((violation) => `${law} ${violation}`));
  return {
    fault: options.fault,
    seed: options.seed,
    nodes: session.nodes.length,
    agent: options.agent,
    node,
    outcome,
    expected: problems.length === 0,
    problems,
    timeline: timelineOf(status, faultAtMs),
    laws: judgement.laws,
    devices: devicesOf(trace, faultAtMs),
    writers: judgement.writers,
    api: requestsOf(trace, CONTROLLER_USER),
    listsAfterSync: listed,
    controller: played.usage,
    message: status?.message ?? '',
  };
}

function isSettled(watcher: Watcher, replicas: number): boolean {
  const pods = [...watcher.pods.all()].filter((pod) => pod.metadata.name.startsWith('db-'));
  return pods.length === replicas && pods.every((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined);
}

function readyNodes(watcher: Watcher): number {
  return [...watcher.nodes.all()].filter((node) =>
    node.status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  ).length;
}

function isReady(pod: { status?: { phase?: string; conditions?: { type: string; status: string }[] } }): boolean {
  return (
    pod.status?.phase === 'Running' && (pod.status.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True')
  );
}

/** The node of one of the writing pods, chosen by the seed. */
function victim(session: ClusterSession, watcher: Watcher, candidates: readonly string[]): string {
  const running = [...watcher.pods.all()].flatMap((pod) => pod.spec.nodeName ?? []);
  const hosts = [...new Set(running)].filter((host) => candidates.includes(host)).sort();
  const node = hosts[Math.floor(session.random() * hosts.length)];
  if (node === undefined) throw new Error(`no pod runs on any of ${candidates.join(', ')}`);
  return node;
}

/** Leading, and every node's identity on record. */
async function untilLeading(session: ClusterSession): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const lease = await session.cluster.get(LEASES, LEADER_LEASE, FENCE_NAMESPACE);
    const reports = await session.reports();
    if ((lease?.spec.holderIdentity ?? '') !== '' && session.nodes.every((node) => reports.includes(node))) return;
    await pause(100);
  }
  throw new Error('the controller does not lead after 20 s; see its log');
}

function isOver(watcher: Watcher, node: string): boolean {
  const status = watcher.fences.get(fenceName(node))?.status;
  return status?.state === 'final' || (status?.state === 'error' && status.outcome === 'failed');
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
