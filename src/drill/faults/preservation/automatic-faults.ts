import { SCALE_DOWN_DISABLED } from '../../../controllers/preservation/names.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { pause } from '../../run/pause.ts';
import { sceneOf } from '../scenes.ts';
import type { ScenePool } from '../scenes.ts';
import { panic, strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { courseProblems, drainProblems, endProblems, setProblems } from './kept-findings.ts';
import { Keeping } from './keeping.ts';

const KEPT = 'Failed:Preserved';
const KEPT_MS = 60_000;
const DRAINED_MS = 40_000;
const GONE_MS = 90_000;
const BACK_MS = 30_000;
/** The newer one fails so long before the older one. */
const APART_MS = 1_500;
const NEVER_ENDED = ['Terminating', 'gone'];

/** Of the victims, the one whose Machine was made first. */
function byAge({ session, victims }: FaultStage): { older: string; newer: string } {
  const [older = '', newer = ''] = session.fleet.map(({ node }) => node).filter((node) => victims.includes(node));
  return { older, newer };
}

function poolOf(fault: 'preserve-decrease'): ScenePool {
  const { pool } = sceneOf(fault);
  if (pool === undefined) throw new Error(`${fault} is played without a pool`);
  return pool;
}

/** Failed, kept, and everything that the guide says of it: cordoned, drained, kept from the autoscaler, told in the condition. */
async function isKept(keeping: Keeping, stage: FaultStage, node: string): Promise<void> {
  await keeping.untilShown(node, KEPT, KEPT_MS);
  await keeping.expect(`${node} cordoned`, DRAINED_MS, async () => (await keeping.node(node))?.spec.unschedulable === true);
  const isDrained = await keeping.expect(`${node} drained, and the condition says so`, DRAINED_MS, async () =>
    (await keeping.condition(node)).startsWith('True Preserved by MCM. Preserved node drained successfully. Machine preserved until '),
  );
  if (isDrained) stage.tell(`${node} is cordoned, drained, and kept for whoever wants to look`);
  await keeping.expect(
    `${node} kept from the autoscaler`,
    BACK_MS,
    async () => (await keeping.node(node))?.metadata.annotations?.[SCALE_DOWN_DISABLED] === 'true',
  );
  const left = [...stage.watcher.pods.all()].filter(({ spec }) => spec.nodeName === node);
  if (left.length > 0)
    keeping.problems.push(`${left.map(({ metadata }) => metadata.name).join(', ')} is still on ${node}, which is said to be drained`);
}

/** A zone may keep one machine, and two of it fail: the newer is kept, and the older is recovered, found ill, and ended. */
export const autoPreserve: FaultScript = async (stage) => {
  const keeping = new Keeping(stage);
  const { older, newer } = byAge(stage);
  await keeping.ill(older, true);
  const atMs = strike(stage, 'auto-preserve', () => panic({ ...stage, node: newer }));
  const judges = ({ trace }: Seen): string[] => [
    ...courseProblems(trace, newer, [KEPT], NEVER_ENDED),
    ...setProblems(trace, newer, atMs, Infinity),
    ...courseProblems(trace, older, ['Failed', 'Terminating', 'gone'], [KEPT]),
    ...endProblems(trace, older),
  ];
  return { atMs, over: oneIsKept(stage, keeping), judges };
};

async function oneIsKept(stage: FaultStage, keeping: Keeping): Promise<FaultFindings> {
  const { watcher } = stage;
  const { older, newer } = byAge(stage);
  await pause(APART_MS);
  panic({ ...stage, node: older });
  stage.tell(`${older}, the older one, panics too; its kernel was ill before`);
  await keeping.untilShown(newer, KEPT, KEPT_MS);
  await keeping.expect(`the automatic annotation on ${newer}`, BACK_MS, async () => (await keeping.values(newer)).includes('auto-preserve'));
  await keeping.expect(`the fence of ${newer} held for its preservation`, BACK_MS, () =>
    /preserv/i.test(watcher.fences.get(fenceName(newer))?.status?.hold?.reason ?? ''),
  );
  await keeping.untilShown(older, 'gone', GONE_MS);
  if (keeping.shown(newer) !== KEPT) keeping.problems.push(`in the end the Machine of ${newer} is ${keeping.shown(newer)}`);
  return { problems: keeping.problems, outcome: keeping.shown(newer), did: `${newer} was kept, ${older} was switched off for good` };
}

/** At the end of its time a kept machine is ended: off by its own plan, read back, and only then its Machine goes. */
export const preserveExpiry: FaultScript = async (stage) => {
  const { node } = stage;
  const keeping = new Keeping(stage);
  const atMs = strike(stage, 'preserve-expiry', () => undefined);
  await keeping.ill(node, true);
  const expiry = { ms: Infinity };
  const judges = ({ trace }: Seen): string[] => [
    ...courseProblems(trace, node, [KEPT, 'Terminating', 'gone']),
    ...drainProblems(trace, node),
    ...setProblems(trace, node, atMs, expiry.ms),
    ...endProblems(trace, node),
  ];
  return { atMs, over: untilExpiry(stage, keeping, expiry), judges };
};

async function untilExpiry(stage: FaultStage, keeping: Keeping, expiry: { ms: number }): Promise<FaultFindings> {
  const { node } = stage;
  await keeping.untilShown(node, KEPT, KEPT_MS);
  expiry.ms = Date.parse(keeping.machine(node)?.status?.currentStatus?.preserveExpiryTime ?? '');
  await isKept(keeping, stage, node);
  await keeping.untilShown(node, 'gone', GONE_MS);
  return { problems: keeping.problems, outcome: keeping.shown(node) };
}

/** Two are kept; then one only may be. */
export const preserveDecrease: FaultScript = async (stage) => {
  const keeping = new Keeping(stage);
  const { older, newer } = byAge(stage);
  const atMs = strike(stage, 'preserve-decrease', () => undefined);
  await keeping.ill(newer, true);
  await keeping.ill(older, true);
  const lowered = { ms: Infinity };
  const judges = ({ trace }: Seen): string[] => [
    ...courseProblems(trace, older, [KEPT, 'Failed', 'Terminating', 'gone']),
    ...setProblems(trace, older, atMs, lowered.ms),
    ...endProblems(trace, older),
    ...courseProblems(trace, newer, [KEPT], NEVER_ENDED),
    ...setProblems(trace, newer, atMs, Infinity),
    ...drainProblems(trace, older),
  ];
  return { atMs, over: lower(stage, keeping, lowered), judges };
};

async function lower(stage: FaultStage, keeping: Keeping, lowered: { ms: number }): Promise<FaultFindings> {
  const { older, newer } = byAge(stage);
  await isKept(keeping, stage, newer);
  await isKept(keeping, stage, older);
  lowered.ms = stage.session.now();
  await keeping.pool(poolOf('preserve-decrease'), { autoPreserveFailedMachineMax: 1 });
  stage.tell('an admin lowers autoPreserveFailedMachineMax from 2 to 1');
  await keeping.untilShown(older, 'gone', GONE_MS);
  if (keeping.shown(newer) !== KEPT) keeping.problems.push(`in the end the Machine of ${newer} is ${keeping.shown(newer)}`);
  return { problems: keeping.problems, outcome: keeping.shown(newer), did: `${older}, the older one, was released and ended` };
}

/** What gets well again runs on; only what is ours is undone. */
export const preserveRecover: FaultScript = async (stage) => {
  const { victims } = stage;
  const keeping = new Keeping(stage);
  const [, cordoned = ''] = victims;
  await keeping.cordon(cordoned);
  stage.tell(`an admin cordons ${cordoned}`);
  const atMs = strike(stage, 'preserve-recover', () => undefined);
  for (const node of victims) await keeping.ill(node, true);
  const judges = ({ trace }: Seen): string[] =>
    victims.flatMap((node) => [...courseProblems(trace, node, [KEPT, 'Running'], NEVER_ENDED), ...setProblems(trace, node, atMs, Infinity)]);
  return { atMs, over: recovered(stage, keeping, cordoned), judges };
};

async function recovered(stage: FaultStage, keeping: Keeping, cordoned: string): Promise<FaultFindings> {
  const { victims, node } = stage;
  for (const each of victims) await isKept(keeping, stage, each);
  for (const each of victims) await keeping.ill(each, false);
  for (const each of victims) {
    await keeping.untilShown(each, 'Running', BACK_MS);
    await keeping.expect(`no preserve annotation on ${each}`, BACK_MS, async () => (await keeping.values(each)).length === 0);
    await keeping.expect(`the condition of ${each} says that it stopped`, BACK_MS, async () =>
      (await keeping.condition(each)).startsWith('False Preservation stopped.'),
    );
  }
  for (const each of victims) {
    const isCordoned = each === cordoned;
    const words = isCordoned ? `${each} still under the admin’s cordon` : `${each} open for pods again`;
    const isAsItMust = await keeping.expect(words, BACK_MS, async () => ((await keeping.node(each))?.spec.unschedulable === true) === isCordoned);
    if (isAsItMust) stage.tell(words);
  }
  return { problems: keeping.problems, outcome: keeping.shown(node) };
}
