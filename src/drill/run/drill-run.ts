import { assetsOf, versionOf } from '../../testbed/control-plane/assets.ts';
import { createFleet } from '../../testbed/operators/fleet.ts';
import { createHostFleet } from '../../testbed/operators/host-fleet.ts';
import { createScene, DEFAULT_SCENE } from '../../testbed/cluster/scene.ts';
import { withoutGiven } from './cloud-machines.ts';
import { ClusterSession } from './cluster-session.ts';
import type { Blow, FaultFindings, FaultScript } from '../faults/script.ts';
import { SCRIPTS } from '../faults/scripts.ts';
import { filerTemplate } from './filer.ts';
import { bindWorkloads, configure, install } from './installation.ts';
import { operatorSetting } from '../operator/setting.ts';
import type { Api, DrillOptions } from './options.ts';
import type { Expected } from '../faults/names.ts';
import { sceneOf, victimsOf } from '../faults/scenes.ts';
import { pause } from './pause.ts';
import { isOver, isSettled, readyNodes, untilLeading } from './readiness.ts';
import { Replicas } from './replicas.ts';
import { Exposure } from './exposure.ts';
import { usageOf } from './result.ts';
import type { DrillResult } from './result.ts';
import { ownSetting } from './setting.ts';
import type { DrillSetting } from './setting.ts';
import { verdict } from './verdict.ts';
import { Watcher } from './watcher.ts';

/** Pods of a Node that was deleted wait for a round of the garbage collector, its quarantine and another round: 80 s before they may start anew. */
const SETTLED_MS = 120_000;
const STOP_GRACE_MS = 5_000;

/** Where no MCM is, its part is nodefence's. */
function controllerFlags({ fleet, manager, hosts }: ClusterSession): string[] {
  const preservation = fleet.length === 0 ? [] : ['--preservation', manager === undefined ? 'own' : 'observe'];
  return [...preservation, ...(hosts?.flags ?? [])];
}

/** Told what goes on; draws it, or says nothing. */
export interface Audience {
  says(line: string): void;
  /** Everything runs; the fault comes next. */
  opens(session: ClusterSession, watcher: Watcher, replicas: Replicas): void;
  breaks(victims: readonly string[], faultAtMs: number): void;
  /** Something that the fault, or a controller, does later on. */
  tells(line: string): void;
  closes(): void;
}

interface Stage {
  session: ClusterSession;
  replicas: Replicas;
  exposed: Exposure;
  setting: DrillSetting;
  options: DrillOptions;
  audience: Audience;
  script: FaultScript;
}

/** One drill from an empty folder to a judged result. Everything is left running until `onResult` resolves. `script`: in the place of the fault's own. */
export async function runDrill(
  options: DrillOptions,
  audience: Audience,
  onResult: (result: DrillResult) => Promise<void>,
  script = SCRIPTS[options.fault],
): Promise<DrillResult> {
  const setting = options.config === undefined ? ownSetting(options) : operatorSetting(options.config, options);
  const session = new ClusterSession(options, setting.machines, setting);
  const replicas = new Replicas(session, (line) => audience.tells(line), controllerFlags(session));
  const exposed = new Exposure(() => replicas.running);
  const watcher = { current: undefined as Watcher | undefined };
  exposed.start();
  try {
    return await play({ session, replicas, exposed, setting, options, audience, script }, watcher, onResult);
  } finally {
    exposed.end();
    audience.closes();
    watcher.current?.close();
    await replicas.stop(STOP_GRACE_MS);
    await session.stop();
  }
}

async function play(stage: Stage, held: { current: Watcher | undefined }, onResult: (result: DrillResult) => Promise<void>): Promise<DrillResult> {
  const { session, replicas, exposed, setting, options, audience, script } = stage;
  const watcher = await build(stage, held);
  audience.opens(session, watcher, replicas);
  const syncedAtMs = session.now();
  await pause(300 + 1_000 * session.random());
  const node = victim(session, watcher, setting.victims);
  const victims = victimsOf(sceneOf(options.fault), node, setting.machines);
  const blow = await script({ session, replicas, watcher, node, victims, tell: (line) => audience.tells(line) });
  audience.breaks(victims, blow.atMs);
  const expected = setting.expected(options.fault);
  const problems: string[] = [];
  const findings = await ended({ watcher, victims, expected, blow, pods: session.nodes.length, problems });
  await pause(300);
  const usage = usageOf(leading(watcher, replicas));
  exposed.end();
  for (const replica of replicas.running) await exposed.readPages(replica.name, replicas.addressOf(replica) ?? '');
  const exposure = withoutGiven(exposed.texts, session.cloudOfMachines?.environment ?? {});
  audience.closes();
  if (!options.keep) await replicas.stop(STOP_GRACE_MS);
  const played = {
    session,
    watcher,
    replicas,
    options,
    expected,
    victims,
    blow,
    syncedAtMs,
    usage,
    exposure,
    processes: exposed.processes,
    dumps: [...exposed.dumps],
    problems,
    findings,
  };
  const result = verdict(played);
  await onResult(result);
  return result;
}

/** A cluster in which everything runs, nodefence too. */
async function build({ session, replicas, setting, options, audience }: Stage, held: { current: Watcher | undefined }): Promise<Watcher> {
  const count = session.nodes.length;
  for (const line of setting.says) audience.says(line);
  audience.says(startOf(options.api));
  await session.start();
  const kubectl = await session.kubectl();
  audience.says(
    kubectl === undefined ? 'sending the files of config/ (no kubectl 1.30 or newer)' : 'installing by kubectl apply -k config/crd, config/rbac',
  );
  await install(session, kubectl && ((folders) => kubectl.install(folders)));
  await session.bindController();
  const machines =
    options.cloud === undefined ? 'machines with their BMCs' : `instances of an emulated ${options.cloud}, no ConfigMap for any of them`;
  audience.says(`starting ${count} ${machines}, and the cluster's controllers`);
  await session.startWorld();
  const watcher = new Watcher(session);
  held.current = watcher;
  await watcher.start();
  await watcher.until('every node to be Ready', SETTLED_MS, () => readyNodes(watcher) === count);
  await createScene(session.cluster, { ...DEFAULT_SCENE, replicas: count });
  if (session.fleet.length > 0) {
    audience.says(`a worker pool: one Machine for each of the ${count} nodes`);
    await createFleet(session.cluster, session.fleet, pause);
  }
  if (session.hosts !== undefined) await createHosts(session, audience);
  const cloud = session.cloudOfMachines;
  const configuration = setting.configuration(session.bmcs, session.credentials, {
    filer: () => filerTemplate(session.folder),
    ...(cloud === undefined ? {} : { cloud: cloud.settings }),
  });
  for (const line of configuration.says ?? []) audience.says(line);
  await configure(session, configuration);
  audience.says(`starting ${options.replicas} × nodefence controller --mode enforce`);
  await replicas.start(options.replicas);
  await watcher.until('running pods on every node', SETTLED_MS, () => isSettled(watcher, count));
  await untilLeading(session, replicas);
  await replicas.untilReady();
  return watcher;
}

/** Which control plane it is. */
function startOf(api: Api): string {
  if (api === 'embedded') return 'starting the API server';
  const folder = assetsOf(process.env);
  return `starting etcd, kube-apiserver and kube-controller-manager: ${versionOf(folder)} in ${folder}`;
}

async function createHosts(session: ClusterSession, audience: Audience): Promise<void> {
  audience.says(`Cluster API: one Machine on a BareMetalHost for each of the ${session.nodes.length} nodes`);
  await createHostFleet(session.cluster, session.nodes, Date.now());
  await bindWorkloads(session);
  if (session.hosts?.operator === undefined) return;
  audience.says('starting the baremetal-operator, which minds the hosts by their BMCs');
  await session.startOperator(session.hosts.operator);
}

interface Course {
  watcher: Watcher;
  victims: readonly string[];
  expected: Expected;
  blow: Blow;
  /** How many pods must run at the end. */
  pods: number;
  problems: string[];
}

/** Waits for the end of the fault and of the fence; what is missing is added to `problems`. */
async function ended({ watcher, victims, expected, blow, pods, problems }: Course): Promise<FaultFindings> {
  const miss = (error: unknown): void => void problems.push(String(error));
  const findings = await blow.over.catch((error: unknown): FaultFindings => ({ problems: [String(error)] }));
  const areOver = (): boolean => victims.every((node) => isOver(watcher, node));
  if (expected.outcome !== 'judged') await watcher.until(`the end of the fence of ${victims.join(', ')}`, expected.deadlineMs, areOver).catch(miss);
  if (expected.released !== false) {
    await watcher.until('running pods on healthy nodes', SETTLED_MS, () => isSettled(watcher, pods)).catch(miss);
  }
  return findings;
}

/** The leader's process, or any other when there is none. */
function leading(watcher: Watcher, replicas: Replicas): number {
  const leader = replicas.named(watcher.leaderLease?.spec.holderIdentity ?? '');
  return (leader ?? replicas.running[0])?.child.pid ?? 0;
}

/** The node of one of the writing pods, chosen by the seed. */
function victim(session: ClusterSession, watcher: Watcher, candidates: readonly string[]): string {
  const running = [...watcher.pods.all()].flatMap((pod) => pod.spec.nodeName ?? []);
  const hosts = [...new Set(running)].filter((host) => candidates.includes(host)).sort();
  const node = hosts[Math.floor(session.random() * hosts.length)];
  if (node === undefined) throw new Error(`no pod runs on any of ${candidates.join(', ')}`);
  return node;
}
