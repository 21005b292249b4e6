import { NODES } from '../../../ports/resources.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../testbed/cluster/kinds.ts';
import { firstAnswer, pause } from '../../run/pause.ts';
import { leaderOf } from '../leader-faults.ts';
import { strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { WEDGED_DEADLINE_SECONDS } from './configurations.ts';
import { beginProblems, deedsOf, hostsOf, orderProblems } from './remedy-findings.ts';
import { Remedying } from './remedying.ts';

const DEADLOCK = 'KernelDeadlock';
const READ_ONLY = 'ReadonlyFilesystem';
const REMEDY_MS = 60_000;
const POLL_MS = 20;
/** How long somebody is watched who must not be pushed out. */
const KEPT_MS = 8_000;
/** After the run was written down: about when its Job is created, in every other run, or while that runs. */
const CREATING_MS = 400;
const RUNNING_MS = 4_000;
const BUDGET = { namespace: 'default' };

/** Three pods one after the other: one is wedged and ended by its deadline, one fails, one helps; and a fourth when it is over. */
export const readonlyFs: FaultScript = (stage) => {
  const remedying = new Remedying(stage);
  const atMs = strike(stage, 'readonly-fs', () => remedying.finds(READ_ONLY));
  const judges = ({ trace }: Seen): string[] => [
    ...orderProblems(trace, stage.node, ['remount', 'repair', 'check', 'welcome']),
    ...beginProblems(trace, stage.node),
    ...placeProblems(trace, stage.node),
  ];
  return { atMs, over: untilWritable(stage, remedying), judges };
};

async function untilWritable(stage: FaultStage, remedying: Remedying): Promise<FaultFindings> {
  const { checking } = remedying;
  await remedying.hasEnded('remount failed', REMEDY_MS);
  const wedged = (await remedying.written())?.runs?.find(({ remedy }) => remedy === 'remount')?.message ?? '';
  if (!wedged.includes('DeadlineExceeded')) checking.problems.push(`remount was not ended by its deadline: ${wedged}`);
  await remedying.hasEnded('repair failed', REMEDY_MS);
  await remedying.hasEnded('check succeeded', REMEDY_MS);
  stage.tell(`the file system of ${stage.node} is mounted anew`);
  remedying.detector('restart');
  await remedying.hasEnded('welcome succeeded', REMEDY_MS);
  await remedying.isIn('recovered', `${READ_ONLY}=True`, REMEDY_MS);
  return {
    problems: remedying.problems,
    outcome: 'recovered',
    did: `remount was wedged for ${WEDGED_DEADLINE_SECONDS} s, repair failed, check succeeded`,
  };
}

/** On the sick node where it says so, and on any other where it does not. */
function placeProblems(trace: Seen['trace'], node: string): string[] {
  const wanted = { remount: true, repair: false, check: true, welcome: false };
  return Object.entries(wanted).flatMap(([remedy, isThere]) => {
    const hosts = hostsOf(trace, remedy);
    const isRight = hosts.length > 0 && hosts.every((host) => (host === node) === isThere);
    return isRight ? [] : [`${remedy} ran on ${hosts.join(', ') || 'no node'}, ${isThere ? 'and not on' : 'which must not be'} ${node}`];
  });
}

/** The leader dies at a random moment of the first remedy: there is one Job, whoever leads. */
export const remedyCrash: FaultScript = (stage) => {
  const remedying = new Remedying(stage);
  const atMs = strike(stage, 'remedy-crash', () => remedying.finds(DEADLOCK));
  const judges = ({ trace }: Seen): string[] => [...orderProblems(trace, stage.node, ['repair']), ...beginProblems(trace, stage.node)];
  return { atMs, over: crash(stage, remedying), judges };
};

async function crash(stage: FaultStage, remedying: Remedying): Promise<FaultFindings> {
  const { session, replicas, node } = stage;
  const leader = await leaderOf(stage);
  const isWritten = async (): Promise<true | undefined> => ((await remedying.position(`${DEADLOCK}=True`)).endsWith('repair') ? true : undefined);
  if ((await firstAnswer(isWritten, REMEDY_MS, POLL_MS)) === undefined) remedying.checking.problems.push('no remedy was written down');
  const place = 2 * session.random();
  const delayMs = Math.round(place < 1 ? place * CREATING_MS : (place - 1) * RUNNING_MS);
  await pause(delayMs);
  const jobs = deedsOf(session.traces(), node).length;
  replicas.kill(leader);
  const when = `${delayMs} ms after repair was written down, with ${jobs === 0 ? 'no Job' : 'its Job there'}`;
  stage.tell(`${leader.name} is killed ${when}`);
  await remedying.hasEnded('repair succeeded', REMEDY_MS);
  const runs = await remedying.runs();
  if (runs.length !== 1) remedying.checking.problems.push(`its end was counted ${runs.length} times: ${runs.join(', ')}`);
  return { problems: remedying.problems, outcome: 'remedied', did: `${leader.name} was killed ${when}` };
}

/** A PodDisruptionBudget that allows nothing: the drain says what it waits for and forces nobody, until the budget allows it. */
export const drainBlocked: FaultScript = async (stage) => {
  const remedying = new Remedying(stage);
  await budget(stage, 0);
  const atMs = strike(stage, 'drain-blocked', () => remedying.finds(DEADLOCK));
  const judges = ({ trace }: Seen): string[] => [...orderProblems(trace, stage.node, ['cordon', 'evict']), ...beginProblems(trace, stage.node)];
  return { atMs, over: blocked(stage, remedying), judges };
};

async function blocked(stage: FaultStage, remedying: Remedying): Promise<FaultFindings> {
  const { session, node } = stage;
  const { checking } = remedying;
  const threshold = `${DEADLOCK}=True`;
  await checking.shows(`${node} is cordoned`, REMEDY_MS, async () => (await session.cluster.get(NODES, node))?.spec.unschedulable === true);
  await checking.expect('the drain to say what keeps it', REMEDY_MS, async () =>
    /incomplete, 1 of 1 pods are kept: .*db/.test(await remedying.message(threshold)),
  );
  stage.tell(`${node}: ${await remedying.message(threshold)}`);
  await pause(KEPT_MS);
  const gone = deedsOf(session.traces(), node).filter(({ what }) => what !== 'cordon');
  if (gone.length > 0) checking.problems.push(`its budget allowed nothing, and there was ${gone.map(({ what }) => what).join(', ')}`);
  await budget(stage, 1);
  await remedying.hasEnded('drain succeeded', REMEDY_MS);
  return { problems: remedying.problems, outcome: 'drained', did: `its PodDisruptionBudget allowed nothing for ${KEPT_MS / 1_000} s and more` };
}

async function budget(stage: FaultStage, maxUnavailable: number): Promise<void> {
  await stage.session.cluster.mergePatch(POD_DISRUPTION_BUDGETS, 'db', { spec: { maxUnavailable } }, BUDGET);
  stage.tell(`an admin lets PodDisruptionBudget db allow ${maxUnavailable} of its pods to be away`);
}
