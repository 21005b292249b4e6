import { isOver } from '../../run/readiness.ts';
import { pause } from '../../run/pause.ts';
import { strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { PERIODS } from './configurations.ts';
import { beginProblems, cordonedAfterMs, cordonProblems, orderProblems } from './remedy-findings.ts';
import { Remedying } from './remedying.ts';

const DEADLOCK = 'KernelDeadlock';
const STANDS = `${DEADLOCK}=True`;
const REMEDY_MS = 60_000;
const FENCE_MS = 120_000;
/** So long it reads clear: what is due meanwhile is not begun, and it is not over. */
const CLEAR_MS = 7_000;
const STALE_WATCHED_MS = 16_000;
const AGAIN_MS = 1_000;

/** A latched condition on a node that stays Ready: drained first, then fenced, and taken back only when another boot reads clear. */
export const kernelDeadlock: FaultScript = (stage) => {
  const remedying = new Remedying(stage);
  const atMs = strike(stage, 'kernel-deadlock', () => remedying.finds(DEADLOCK));
  const judges = ({ trace }: Seen): string[] => [
    ...cordonProblems(cordonedAfterMs(trace, stage.node, DEADLOCK, PERIODS.deadlock)),
    ...orderProblems(trace, stage.node, ['cordon', 'evict', 'fence', 'off', 'on', 'uncordon']),
    ...beginProblems(trace, stage.node),
  ];
  return { atMs, over: untilCured(stage, remedying), judges };
};

async function untilCured(stage: FaultStage, remedying: Remedying): Promise<FaultFindings> {
  const { session, watcher, node } = stage;
  await remedying.hasEnded('drain succeeded', REMEDY_MS);
  await remedying.isIn('running fence', STANDS, REMEDY_MS);
  await remedying.checking.shows(`${node} is fenced, and back`, FENCE_MS, () => isOver(watcher, node));
  await remedying.hasEnded('uncordon succeeded', REMEDY_MS);
  await remedying.isIn('recovered', STANDS, REMEDY_MS);
  return { problems: remedying.problems, outcome: 'recovered', did: cordonWords(session.traces(), node) };
}

function cordonWords(trace: Seen['trace'], node: string): string {
  const afterMs = cordonedAfterMs(trace, node, DEADLOCK, PERIODS.deadlock);
  return `${DEADLOCK} was posted; cordoned ${afterMs ?? '?'} ms after its period of ${PERIODS.deadlock} s`;
}

/** Its monitor is started anew in the middle and posts that all is well: nothing is over, and nothing is begun, neither anew nor what is due. */
export const npdRestart: FaultScript = (stage) => {
  const remedying = new Remedying(stage);
  const atMs = strike(stage, 'npd-restart', () => remedying.finds(DEADLOCK));
  const judges = ({ trace }: Seen): string[] => [
    ...orderProblems(trace, stage.node, ['repair', 'cordon', 'evict']),
    ...beginProblems(trace, stage.node),
  ];
  return { atMs, over: restarted(stage, remedying), judges };
};

async function restarted(stage: FaultStage, remedying: Remedying): Promise<FaultFindings> {
  const { checking } = remedying;
  await remedying.hasEnded('repair succeeded', REMEDY_MS);
  remedying.detector('restart');
  await checking.shows('it is said that it reads clear, and not for long enough', AGAIN_MS * 5, async () =>
    (await remedying.message(STANDS)).includes('reads clear, not yet for long enough'),
  );
  await pause(CLEAR_MS);
  const seen = await remedying.position(STANDS);
  if (seen !== 'waiting') checking.problems.push(`while it read clear it was ${seen}, and not waiting`);
  stage.tell(`${stage.node}: nothing was begun, and nothing is over`);
  remedying.finds(DEADLOCK);
  stage.tell(`the node-problem-detector of ${stage.node} finds the problem again`);
  await remedying.hasEnded('drain succeeded', REMEDY_MS);
  return { problems: remedying.problems, outcome: 'drained', did: 'node-problem-detector was started anew between two remedies' };
}

/** Its monitor dies: a heartbeat that stands still says nothing, neither True nor False. */
export const staleCondition: FaultScript = (stage) => {
  const remedying = new Remedying(stage);
  const other = stage.session.nodes.find((name) => name !== stage.node) ?? '';
  const atMs = strike(stage, 'stale-condition', () => remedying.finds(DEADLOCK));
  remedying.finds(DEADLOCK, other);
  const judges = ({ trace }: Seen): string[] => [
    ...orderProblems(trace, stage.node, []),
    ...orderProblems(trace, other, ['repair']),
    ...beginProblems(trace, other),
  ];
  return { atMs, over: stale(remedying, other), judges, others: [other] };
};

async function stale(remedying: Remedying, other: string): Promise<FaultFindings> {
  const { checking } = remedying;
  await pause(AGAIN_MS);
  remedying.detector('die');
  await remedying.hasEnded('repair succeeded', REMEDY_MS, other);
  remedying.detector('die', other);
  await checking.shows(`${other}: it is told that nobody can tell now`, STALE_WATCHED_MS, async () =>
    (await remedying.message(STANDS, other)).includes('nobody can tell now'),
  );
  await pause(STALE_WATCHED_MS);
  const left = [await remedying.position(STANDS), await remedying.position(STANDS, other)];
  if (left.join() !== ',waiting') checking.problems.push(`they are ${left.join(' and ')}, and not nowhere and waiting`);
  return { problems: remedying.problems, outcome: 'left alone', did: 'two node-problem-detectors died, with a True before and after its period' };
}
