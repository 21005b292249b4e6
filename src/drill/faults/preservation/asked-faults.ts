import { MACHINE_PRIORITY, SCALE_DOWN_DISABLED } from '../../../controllers/preservation/names.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { MACHINES } from '../../../ports/machines.ts';
import type { Pod } from '../../../ports/objects.ts';
import { NODE_FENCE_REPORTS } from '../../../ports/resources.ts';
import type { KeptDiagnostic } from '../../../ports/resources.ts';
import { FLEET_NAMESPACE, machineName } from '../../../testbed/operators/fleet.ts';
import type { TraceEvent } from '../../../laws/trace.ts';
import { pause } from '../../run/pause.ts';
import { isOver, isPodReady } from '../../run/readiness.ts';
import { setsOf } from '../device-findings.ts';
import { WORLD } from '../names.ts';
import { strike, tellMachine } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { courseProblems, drainProblems, endProblems, setProblems } from './kept-findings.ts';
import { Keeping } from './keeping.ts';

const MARKED_MS = 20_000;
const KEPT_MS = 60_000;
const GONE_MS = 90_000;
const ENDED_MS = 60_000;
const OVER_MS = 120_000;
const NEVER_ENDED = ['Terminating', 'gone'];

/** A machine that runs is preserved: the autoscaler and a scale-down leave it, and the end of its time lets it go. */
export const preserveNow: FaultScript = async (stage) => {
  const { session, node } = stage;
  const keeping = new Keeping(stage);
  const others = keeping.neighbours(node);
  const annotations = { [MACHINE_PRIORITY]: '1' };
  await session.cluster.mergePatch(MACHINES, machineName(node), { metadata: { annotations } }, { namespace: FLEET_NAMESPACE });
  stage.tell(`the autoscaler marks ${node} as the first to go`);
  const atMs = strike(stage, 'preserve-now', () => undefined);
  const judges = ({ trace }: Seen): string[] => [
    ...courseProblems(trace, node, ['Running:Preserved', 'Running'], [...NEVER_ENDED, 'Failed', 'Failed:Preserved']),
    ...setProblems(trace, node, atMs, Infinity),
    ...others.flatMap((other) => [
      ...courseProblems(trace, other, ['Terminating', 'gone']),
      ...drainProblems(trace, other),
      ...endProblems(trace, other),
    ]),
  ];
  return { atMs, over: scaledDown(stage, keeping, others), judges, others };
};

async function scaledDown(stage: FaultStage, keeping: Keeping, others: readonly string[]): Promise<FaultFindings> {
  const { node } = stage;
  const [other = ''] = others;
  await keeping.preserve(node, 'now');
  await keeping.untilShown(node, 'Running:Preserved', MARKED_MS);
  await keeping.expect(`${node} kept from the autoscaler`, MARKED_MS, async () => {
    const annotations = (await keeping.node(node))?.metadata.annotations;
    return annotations?.[SCALE_DOWN_DISABLED] === 'true';
  });
  await keeping.expect(`the condition of ${node} says so`, MARKED_MS, async () =>
    (await keeping.condition(node)).startsWith('True Preserved by user. Machine preserved until '),
  );
  await keeping.scale(keeping.zoneOf(node), others.length);
  await keeping.untilShown(other, 'gone', GONE_MS);
  await keeping.untilShown(node, 'Running', ENDED_MS);
  await keeping.expect(`no annotation left on ${node}`, MARKED_MS, async () => {
    const annotations = (await keeping.node(node))?.metadata.annotations ?? {};
    return annotations[SCALE_DOWN_DISABLED] === undefined && (await keeping.values(node)).length === 0;
  });
  await keeping.expect(`the condition of ${node} says that it stopped`, MARKED_MS, async () =>
    (await keeping.condition(node)).startsWith('False Preservation stopped.'),
  );
  return { problems: keeping.problems, outcome: keeping.shown(node), did: `${other} was scaled down in its place` };
}

/** Isolated and held: nothing of it is destroyed for as long as somebody wants to look. */
async function isHeld(stage: FaultStage, keeping: Keeping): Promise<void> {
  const { watcher, node } = stage;
  await keeping.untilShown(node, 'Failed:Preserved', KEPT_MS);
  const hold = (): { reason: string; message: string } | undefined => watcher.fences.get(fenceName(node))?.status?.hold;
  const isHeldByIt = await keeping.expect(`the fence of ${node} held for its preservation`, KEPT_MS, () => /preserv/i.test(hold()?.reason ?? ''));
  if (isHeldByIt) stage.tell(`its fence is held: ${hold()?.message ?? ''}`);
}

/** When it is over the machine is as any other: recovered by its fence, and preserved by nobody. */
async function isReleased(stage: FaultStage, keeping: Keeping): Promise<void> {
  const { watcher, node } = stage;
  await keeping.expect(`the end of the fence of ${node}`, OVER_MS, () => isOver(watcher, node));
  await keeping.untilShown(node, 'Running', ENDED_MS);
  await keeping.expect(`no preserve annotation on ${node}`, MARKED_MS, async () => (await keeping.values(node)).length === 0);
}

function firstSetMs(trace: readonly TraceEvent[], node: string): number {
  return setsOf(trace, node)[0]?.at ?? Infinity;
}

/** Its kubelet hangs while its workload writes on. It is kept as it is until the operator is done; then the fence goes on. */
export const preserveWhenFailed: FaultScript = async (stage) => {
  const { node } = stage;
  const keeping = new Keeping(stage);
  await keeping.preserve(node, 'when-failed');
  const atMs = strike(stage, 'preserve-when-failed', () => tellMachine(stage, 'hang'));
  const stopped = { ms: Infinity };
  const judges = ({ trace }: Seen): string[] => [
    ...courseProblems(trace, node, ['Failed:Preserved', 'Running'], NEVER_ENDED),
    ...setProblems(trace, node, atMs, stopped.ms),
  ];
  return { atMs, over: untilStopped(stage, keeping, stopped), judges };
};

async function untilStopped(stage: FaultStage, keeping: Keeping, stopped: { ms: number }): Promise<FaultFindings> {
  const { session, node } = stage;
  await isHeld(stage, keeping);
  const diagnostics = async (): Promise<KeptDiagnostic[]> => (await session.cluster.get(NODE_FENCE_REPORTS, node))?.status?.exhibits ?? [];
  // By IPMI the drill's machines have recorded nothing.
  if (session.agent === 'redfish') {
    const isShown = await keeping.expect(`diagnostics of ${node} in its report`, MARKED_MS, async () => (await diagnostics()).length > 0);
    if (isShown) stage.tell(`its report keeps what its BMC shows: ${(await diagnostics()).map(({ name }) => name).join(', ')}`);
  }
  await pause(WORLD.inspectedMs);
  stage.tell('the operator has seen enough');
  stopped.ms = session.now();
  await keeping.preserve(node, 'stop');
  await isReleased(stage, keeping);
  return { problems: keeping.problems };
}

/** Alive, writing and out of reach: shut out of its storage, which frees its pods, and kept on until its time is over. */
export const preserveFence: FaultScript = async (stage) => {
  const { node } = stage;
  const keeping = new Keeping(stage);
  await keeping.preserve(node, 'when-failed');
  const atMs = strike(stage, 'preserve-fence', () => tellMachine(stage, 'partition'));
  const expiry = { ms: Infinity };
  const judges = ({ trace }: Seen): string[] => [
    ...courseProblems(trace, node, ['Failed:Preserved', 'Running'], NEVER_ENDED),
    ...setProblems(trace, node, atMs, expiry.ms),
    ...(firstSetMs(trace, node) === Infinity ? [`${node} was never switched off, though its time was over`] : []),
  ];
  return { atMs, over: podsMove(stage, keeping, expiry), judges };
};

async function podsMove(stage: FaultStage, keeping: Keeping, expiry: { ms: number }): Promise<FaultFindings> {
  const { session, watcher, node } = stage;
  await isHeld(stage, keeping);
  expiry.ms = Date.parse(keeping.machine(node)?.status?.currentStatus?.preserveExpiryTime ?? '');
  // A real kube-controller-manager leaves the volumes attached for six minutes: the pods are let go, placed, and wait.
  const isPlaced = (pod: Pod): boolean => (pod.spec.nodeName ?? node) !== node && (session.apiServer === 'real' || isPodReady(pod));
  const areElsewhere = (): boolean => [...watcher.pods.all()].filter(isPlaced).length === session.nodes.length;
  const haveMoved = await keeping.expect(`every pod on other nodes than ${node}`, KEPT_MS, areElsewhere);
  const nowMs = session.now();
  if (nowMs > expiry.ms) keeping.problems.push('the pods moved only when its time was over');
  else if (haveMoved) stage.tell(`its pods run elsewhere, and ${node} stays on for ${Math.round((expiry.ms - nowMs) / 1000)} s more`);
  await isReleased(stage, keeping);
  return { problems: keeping.problems };
}
