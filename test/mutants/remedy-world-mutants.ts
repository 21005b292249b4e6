import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const STORIES = 'test/simulation/remedies/stories.test.ts';
const CORDON = 'src/controllers/remedies/cordon.ts';
const NODES = 'src/controllers/remedies/nodes.ts';

/** Defects of remedies that worlds notice in which controllers die, are followed by others, and people do something else. */
export const REMEDY_WORLD_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'cordon of a dead remedy',
    defect: 'a cordon whose controller died behind it was never set, says the next one, and leaves it for good',
    file: CORDON,
    edits: [['node?.metadata.annotations?.[CORDON_BY_REMEDY] === run;', "run === '';"]],
    killedBy: byTest(
      STORIES,
      'takes the cordon of a remedy back that died behind it, although its condition is over before the next controller looks',
    ),
  },
  {
    name: "somebody else's cordon beside the mark of a remedy",
    defect: 'the recovery takes a cordon away that a person set after the one of the remedy was taken away',
    file: CORDON,
    edits: [['const isLeft = !isCordoned && ', 'const isLeft = isCordoned && ']],
    killedBy: byTest(STORIES, 'leaves a cordon that somebody set after theirs was taken away'),
  },
  {
    name: 'Job by another name',
    defect: 'a new leader gives the Job of a run that was begun before it another name, and begins it once more',
    file: 'src/controllers/remedies/runs/job-runs.ts',
    edits: [
      ['intentOf({ node, position, run }:', 'intentOf({ node, position, run, memory }:'],
      ['run: run.id, attempt', 'run: memory.isInherited(position.threshold) ? `${run.id}+` : run.id, attempt'],
    ],
    killedBy: byTest(STORIES, 'has one Job although its controller dies when it was created'),
  },
  {
    name: 'request of a remedy that is gone',
    defect: 'a fence stays asked for by a threshold that is configured no more',
    file: NODES,
    edits: [['const orphan = isOver ? fence.spec.requestedBy : undefined;', 'const orphan = isOver ? undefined : undefined;']],
    killedBy: byTest(STORIES, 'takes a request back whose threshold was configured away'),
  },
  {
    name: 'isolated until the cooldown',
    defect: 'a node stays isolated when its condition is over and recovered, until its remedies are forgotten',
    file: 'src/controllers/remedies/observe.ts',
    edits: [["position.phase !== 'recovered' && isOfEpisode(", 'isOfEpisode(']],
    killedBy: byTest(STORIES, 'isolates a node no longer than its condition stands, whatever the recovery and the cooldown are'),
  },
  {
    name: 'remedy behind a fence that ended',
    defect: 'storm policies hold no remedy of a node that was fenced before',
    file: 'src/domain/policies/remedied.ts',
    edits: [
      ["node.fence?.state === 'final' ? undefined : node.fence;", 'node.fence;'],
      ['...open, isRequested: true, isRemedy: true };', 'isRequested: true, isRemedy: true, ...open };'],
    ],
    killedBy: byTest('src/domain/policies/remedied.test.ts', 'max-unhealthy: a node that was fenced before is held as any other'),
  },
  {
    name: 'remedy pod at home',
    defect: 'the pod of a remedy may run on the very node that it is for',
    file: 'src/controllers/remedies/job/spec.ts',
    edits: [['keptOff(node, affinity)', "keptOff('nowhere', affinity)"]],
    killedBy: byTest(STORIES, 'answers a condition by one Job on another node, and forgets it when it is over'),
  },
  {
    name: 'acts forgotten at a take-over',
    defect: 'a new leader does not know that something was begun, and recovers nothing',
    file: 'src/controllers/remedies/status.ts',
    edits: [['  if (run === undefined) return position;\n', '  if (run === undefined) return { ...position, hasActed: false };\n']],
    killedBy: byTest(STORIES, 'takes the cordon back by a controller that did not set it'),
  },
];
