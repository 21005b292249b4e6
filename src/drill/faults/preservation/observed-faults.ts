import { PRESERVE, REQUEST_MARK } from '../../../controllers/preservation/names.ts';
import { isOver } from '../../run/readiness.ts';
import { panic, strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { courseProblems } from './kept-findings.ts';
import { Keeping } from './keeping.ts';
import { observedProblems } from './observed-findings.ts';

const ASKED_MS = 30_000;
const KEPT_MS = 60_000;
const OVER_MS = 120_000;
const TAKEN_BACK_MS = 30_000;

/** Beside an MCM that deletes the VM of a failed machine: asked to keep it for as long as the fence is at work, and no longer. */
export const preserveObserve: FaultScript = (stage) => {
  const { node } = stage;
  const keeping = new Keeping(stage);
  const atMs = strike(stage, 'preserve-observe', () => panic(stage));
  const judges = ({ trace }: Seen): string[] => [
    ...courseProblems(trace, node, ['Failed:Preserved', 'Running'], ['Terminating', 'gone']),
    ...observedProblems(trace, node),
  ];
  return { atMs, over: isShielded(stage, keeping), judges };
};

async function isShielded(stage: FaultStage, keeping: Keeping): Promise<FaultFindings> {
  const { watcher, node } = stage;
  const marks = async (): Promise<Record<string, string>> => (await keeping.node(node))?.metadata.annotations ?? {};
  const isAsked = await keeping.expect(`when-failed asked for on ${node}`, ASKED_MS, async () => (await marks())[REQUEST_MARK] !== undefined);
  if (isAsked) stage.tell(`nodefence asks MCM to keep ${node} while it is being fenced: ${PRESERVE}=when-failed`);
  const isKept = await keeping.untilShown(node, 'Failed:Preserved', KEPT_MS);
  if (isKept) stage.tell(`MCM gives ${node} up, and keeps its VM`);
  await keeping.expect(`the end of the fence of ${node}`, OVER_MS, () => isOver(watcher, node));
  await keeping.untilShown(node, 'Running', TAKEN_BACK_MS);
  const isTakenBack = await keeping.expect(`the request taken back from ${node}`, TAKEN_BACK_MS, async () => {
    const { [PRESERVE]: value, [REQUEST_MARK]: mark } = await marks();
    return value === undefined && mark === undefined;
  });
  if (isTakenBack) stage.tell(`${node} is back, and nodefence has taken its request back`);
  return { problems: keeping.problems };
}
