import { NODE_FENCE_REPORTS } from '../../ports/resources.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import { isOver } from '../run/readiness.ts';
import { firstAnswer, pause } from '../run/pause.ts';
import { EDITS } from './edits.ts';
import { randomMoment } from './moment.ts';
import { EXPECTED, WORLD } from './names.ts';
import { panic, strike, tellBmc, tellMachine } from './script.ts';
import type { FaultFindings, FaultScript, FaultStage } from './script.ts';

const POLL_MS = 20;
const REPORTED_MS = 10_000;

/** The API server is gone at a random moment of the fence; whether calls hang, or it ends and is started anew, is chosen by the seed. */
export const apiOutage: FaultScript = (stage) => {
  const how = stage.session.random() < 0.5 ? 'silent' : 'refuse';
  const over = outage(stage, how);
  return { atMs: strike(stage, 'api-outage', () => panic(stage)), over, ...(how === 'refuse' && { listsAnew: true }) };
};

async function outage(stage: FaultStage, how: 'silent' | 'refuse'): Promise<FaultFindings> {
  const { session } = stage;
  const when = await randomMoment(stage);
  stage.tell(`the API server ${how === 'silent' ? 'stops answering' : 'ends'}, ${when}`);
  session.controlPlane.pause(how);
  await pause(WORLD.apiOutageMs);
  const startedAnewAt = session.now();
  session.controlPlane.resume();
  stage.tell(how === 'silent' ? 'the API server answers again' : 'the API server was started anew');
  const did = `the API server ${how === 'silent' ? 'stopped answering for a while' : 'ended, and was started anew'}, ${when}`;
  return { did, problems: [], ...(how === 'refuse' && { startedAnewAt }) };
}

/** Cut off, and back as soon as the BMC has been told to switch off, which takes a while. */
export const flap: FaultScript = (stage) => {
  tellBmc(stage, { offDelayMs: WORLD.flapOffMs });
  return { atMs: strike(stage, 'flap', () => tellMachine(stage, 'partition')), over: healWhenSet(stage) };
};

async function healWhenSet(stage: FaultStage): Promise<FaultFindings> {
  const { session, node } = stage;
  const toldOff = (): TraceEvent | undefined =>
    session.folder.traceOf(`bmc-${node}`).find((event) => event.kind === 'device' && event.action === 'set' && event.want === 'off');
  const isTold = await firstAnswer(toldOff, EXPECTED.flap.deadlineMs, POLL_MS);
  if (isTold === undefined) return { problems: ['the node was never told to switch off'] };
  tellMachine(stage, 'heal');
  stage.tell(`${node} reaches the API again, while its BMC switches it off`);
  return { problems: [], did: `${node} was back while it was being switched off` };
}

/** The configuration changes in the middle of the fence; how is chosen by the seed. */
export const configEdit: FaultScript = (stage) => ({ atMs: strike(stage, 'config-edit', () => panic(stage)), over: edit(stage) });

async function edit(stage: FaultStage): Promise<FaultFindings> {
  const { session, watcher, node } = stage;
  const change = EDITS[Math.floor(session.random() * EDITS.length)];
  if (change === undefined) throw new Error('there is no edit');
  const when = await randomMoment(stage, 1);
  await change.make(stage);
  stage.tell(`${change.what}, ${when}`);
  await watcher.until(`the end of the fence of ${node}`, EXPECTED['config-edit'].deadlineMs, () => isOver(watcher, node));
  const did = `${change.what}, ${when}`;
  if (!change.isReported) return { did, problems: [] };
  const problem = async (): Promise<object | undefined> => {
    const report = await session.cluster.get(NODE_FENCE_REPORTS, node);
    return report?.status?.problems?.find(({ severity }) => severity === 'error');
  };
  if ((await firstAnswer(problem, REPORTED_MS, POLL_MS)) !== undefined) return { did, problems: [] };
  return { did, problems: [`the report of ${node} says nothing of it: ${change.what}`] };
}
