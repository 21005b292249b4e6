import { fenceName } from '../../domain/node-fence.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_STOPS } from '../../ports/resources.ts';
import type { NodeFenceAcknowledgement } from '../../ports/resources.ts';
import { firstAnswer, pause } from '../run/pause.ts';
import { isOver, isSettled } from '../run/readiness.ts';
import { setsOf } from './device-findings.ts';
import { randomMoment } from './moment.ts';
import { WORLD } from './names.ts';
import { panic, strike, tellBmc } from './script.ts';
import type { FaultFindings, FaultScript, FaultStage } from './script.ts';

const POLL_MS = 50;
const ANSWER_MS = 40_000;
const FAILURE_MS = 90_000;
const STOP = 'drill-stop';

function statusOf({ watcher, node }: FaultStage): NodeFenceStatus | undefined {
  return watcher.fences.get(fenceName(node))?.status;
}

/** A person stops nodefence for this node at a random moment of the fence, and takes the stop back later. That nothing begins meanwhile is law P6. */
export const stop: FaultScript = (stage) => ({ atMs: strike(stage, 'stop', () => panic(stage)), over: stopped(stage) });

async function stopped(stage: FaultStage): Promise<FaultFindings> {
  const { session, watcher, node } = stage;
  const when = await randomMoment(stage, 1);
  const isLate = isOver(watcher, node);
  await session.cluster.create(NODE_FENCE_STOPS, { metadata: { name: STOP }, spec: { node, reason: 'somebody works at the rack' } });
  stage.tell(`a person stops it ${when}: NodeFenceStop ${STOP}`);
  await pause(WORLD.stopMs);
  const problems = isLate ? [] : stopProblems(statusOf(stage));
  await session.cluster.remove(NODE_FENCE_STOPS, STOP);
  stage.tell('the stop is taken back');
  return { did: `it was stopped ${when}${isLate ? ', when all was over' : ''}`, problems };
}

/** While a stop stands its status says so, and what is off because of us. */
export function stopProblems(status: NodeFenceStatus | undefined): string[] {
  if (status === undefined || status.state === 'final') return [];
  const off = (status.restore?.edges ?? []).filter(({ state }) => state === 'off');
  const words = status.message ?? '';
  return [
    ...(status.hold?.policy === 'stop' ? [] : [`${WORLD.stopMs / 1000} s after the stop the fence does not say that it is held by it: ${words}`]),
    ...off.filter(({ device }) => !words.includes(device)).map(({ device }) => `${device} is off, and the stopped fence does not say so: ${words}`),
  ];
}

/** A person's word: refused while the BMC reads on, taken when it is dead; then nothing is switched any more. */
export const ack: FaultScript = (stage) => {
  tellBmc(stage, 'lies');
  return { atMs: strike(stage, 'ack', () => panic(stage)), over: acknowledged(stage) };
};

async function acknowledged(stage: FaultStage): Promise<FaultFindings> {
  const { session, watcher, node } = stage;
  const begun = await firstAnswer(() => (statusOf(stage)?.state === 'running' ? true : undefined), ANSWER_MS, POLL_MS);
  if (begun === undefined) return { problems: ['no fence began'] };
  stage.tell('a person who has not looked acknowledges that it is down');
  const wrong = await say(stage, 'wrong-word', 'the dashboard is red');
  const problems: string[] =
    wrong?.state === 'refused' && /reads on/.test(wrong.message ?? '') ? [] : [`a wrong word was not refused: ${JSON.stringify(wrong)}`];
  stage.tell(`it is ${wrong?.state ?? 'not answered'}: ${wrong?.message ?? ''}`);
  tellBmc(stage, { isSilent: true });
  session.member(node).child.tell({ command: 'power', state: 'off' });
  stage.tell('the BMC dies; somebody goes there and pulls the cables of the machine');
  const hasFailed = await firstAnswer(() => (statusOf(stage)?.state === 'error' ? true : undefined), FAILURE_MS, POLL_MS);
  if (hasFailed === undefined) problems.push('a dead BMC was no failure');
  stage.tell('who has looked acknowledges that it is down');
  const right = await say(stage, 'right-word', 'its cables are in my hand');
  const acceptedMs = session.now();
  if (right?.state !== 'accepted') return { problems: [...problems, `a true word was not accepted: ${JSON.stringify(right)}`] };
  await watcher.until('the release on a person’s word', ANSWER_MS, () => statusOf(stage)?.timeline.releasedAt !== undefined);
  await watcher.until('running pods on the other nodes', ANSWER_MS, () => isSettled(watcher, session.nodes.length));
  tellBmc(stage, {});
  session.member(node).child.tell({ command: 'power', state: 'on' });
  stage.tell('the workload runs elsewhere; the machine is mended and switched on by hand');
  const released = statusOf(stage)?.evidence.find(({ source }) => source === statusOf(stage)?.released?.evidence);
  if (released?.kind !== 'ack') problems.push(`the release does not rest on the word but on ${released?.kind ?? 'nothing'}`);
  return { did: 'a wrong word was refused, a true one taken', problems: [...problems, ...setsAfter(stage, acceptedMs)] };
}

function setsAfter({ session, node }: FaultStage, fromMs: number): string[] {
  return setsOf(session.folder.traceOf(`bmc-${node}`), node).flatMap(({ at, want }) =>
    at > fromMs ? [`it was told to switch ${want ?? '?'} after a person had taken it in hand`] : [],
  );
}

/** Creates an acknowledgement as `nodefence ack` does, and waits for its answer. */
async function say(stage: FaultStage, name: string, reason: string): Promise<NodeFenceAcknowledgement['status']> {
  const { session, watcher, node } = stage;
  const fence = watcher.fences.get(fenceName(node));
  const bootID = fence?.status?.frozen?.bootID;
  const word = {
    node,
    nodeFenceUID: fence?.metadata.uid ?? '',
    incident: fence?.status?.incident ?? 0,
    reason,
    ...(bootID === undefined ? {} : { bootID }),
  };
  await session.cluster.create(NODE_FENCE_ACKNOWLEDGEMENTS, { metadata: { name }, spec: word });
  const answered = async (): Promise<NodeFenceAcknowledgement['status']> => {
    const { status } = (await session.cluster.get(NODE_FENCE_ACKNOWLEDGEMENTS, name)) ?? {};
    return status?.state === undefined ? undefined : status;
  };
  return firstAnswer(answered, ANSWER_MS, POLL_MS);
}
