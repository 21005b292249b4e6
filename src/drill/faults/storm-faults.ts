import { fenceName } from '../../domain/node-fence.ts';
import type { Hold } from '../../domain/node-fence.ts';
import { firstAnswer, pause } from '../run/pause.ts';
import { isOver, readyNodes } from '../run/readiness.ts';
import { WORLD } from './names.ts';
import { panic, strike, tellMachine } from './script.ts';
import type { FaultFindings, FaultScript, FaultStage } from './script.ts';
import { holdEventProblems, slotProblems, touches } from './storm-findings.ts';

const POLL_MS = 50;
const HELD_MS = 30_000;
const BACK_MS = 40_000;
/** Slots of `storm`, as its configuration says. */
export const STORM_SLOTS = 2;

function at(stage: FaultStage, nodes: readonly string[], blow: (stage: FaultStage) => void): void {
  for (const node of nodes) blow({ ...stage, node });
}

/** The first storm policy that holds this node; undefined when none does within half a minute. */
export function untilHeld({ watcher }: FaultStage, node: string, isMeant: (hold: Hold) => boolean = () => true): Promise<Hold | undefined> {
  const held = (): Hold | undefined => {
    const hold = watcher.fences.get(fenceName(node))?.status?.hold;
    return hold !== undefined && isMeant(hold) ? hold : undefined;
  };
  return firstAnswer(held, HELD_MS, POLL_MS);
}

/** Every node of one rack is cut off at once, and back later: that is a switch, and no failure of nodes. */
export const switchLoss: FaultScript = (stage) => ({
  atMs: strike(stage, 'switch', () => at(stage, stage.victims, (each) => tellMachine(each, 'partition'))),
  over: backLater(stage),
  judges: ({ trace }) => [...touches(trace, stage.victims), ...holdEventProblems(trace, stage.victims)],
});

async function backLater(stage: FaultStage): Promise<FaultFindings> {
  const { victims } = stage;
  const holds = await Promise.all(victims.map((node) => untilHeld(stage, node)));
  const problems = victims.filter((_node, index) => holds[index] === undefined).map((node) => `${node} was not held`);
  const policies = [...new Set(holds.flatMap((hold) => hold?.policy ?? []))];
  stage.tell(`nothing is fenced: held by ${policies.join(' and ') || 'nobody'}`);
  await pause(WORLD.watchedMs);
  at(stage, victims, (each) => tellMachine(each, 'heal'));
  stage.tell('the switch is back');
  return { problems, did: `the rack was held by ${policies.join(' and ') || 'nobody'}` };
}

/** Several nodes fail at once in different racks: so many at a time as the policies admit. */
export const storm: FaultScript = (stage) => ({
  atMs: strike(stage, 'storm', () => at(stage, stage.victims, panic)),
  over: someoneWaits(stage),
  judges: ({ trace }) => slotProblems(trace, STORM_SLOTS),
});

async function someoneWaits(stage: FaultStage): Promise<FaultFindings> {
  const { watcher, victims } = stage;
  const waiting = (): string | undefined => {
    for (const node of victims) {
      const hold = watcher.fences.get(fenceName(node))?.status?.hold;
      if (hold?.policy === 'max-concurrent') return node;
    }
    return undefined;
  };
  const found = await firstAnswer(waiting, HELD_MS, POLL_MS);
  if (found === undefined) return { problems: ['nobody had to wait for a slot'] };
  stage.tell(`${found} has to wait for a slot`);
  return { problems: [], did: `${found} had to wait` };
}

/** Of two nodes both are cut off: nobody is fenced. When both are back, one panics, and that one is. */
export const twoNodes: FaultScript = (stage) => {
  const both = stage.session.nodes;
  return { atMs: strike(stage, 'two-nodes', () => at(stage, both, (each) => tellMachine(each, 'partition'))), over: bothThenOne(stage) };
};

async function bothThenOne(stage: FaultStage): Promise<FaultFindings> {
  const { session, watcher, node } = stage;
  const both = session.nodes;
  const hold = await untilHeld(stage, node);
  const problems = hold === undefined ? [`${node} was not held while both were cut off`] : [];
  stage.tell(hold === undefined ? 'nobody holds it' : 'nobody is fenced: of two nodes both are gone');
  await pause(WORLD.watchedMs / 2);
  at(stage, both, (each) => tellMachine(each, 'heal'));
  stage.tell('both nodes are back');
  await watcher.until('both nodes to be Ready', BACK_MS, () => readyNodes(watcher) === both.length);
  const isQuiet = (): boolean => both.every((each) => watcher.fences.get(fenceName(each)) === undefined || isOver(watcher, each));
  await watcher.until('the end of what was held', BACK_MS, isQuiet);
  problems.push(...touches(session.traces(), both));
  await pause(WORLD.afterProbationMs);
  panic(stage);
  stage.tell(`${node} panics`);
  await watcher.until(`a fence of ${node}`, BACK_MS, () => watcher.fences.get(fenceName(node)) !== undefined && !isOver(watcher, node));
  return { problems, did: `both nodes were gone, held by ${hold?.policy ?? 'nobody'}; then ${node} alone` };
}
