import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SURPLUS = 'test/preservation/surplus.test.ts';
const NEVER_RAN = 'test/preservation/never-ran.test.ts';
const MADE_ANEW = 'test/preservation/made-anew.test.ts';
const UNDONE = 'test/preservation/undone.test.ts';

/** Defects of which machines preservation sends off, lets fail and gives places, and of what it writes again and again. */
export const SENT_OFF_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'surplus by a late watch',
    defect: 'a machine is sent off because the watch of Machines still shows one that went together with its place',
    file: 'src/controllers/preservation/write.ts',
    edits: [['action.isSurplus === true) await this.#unlessWanted(target);', 'action.isSurplus === undefined) await this.#unlessWanted(target);']],
    killedBy: byTest(SURPLUS, 'loses no more machines than that where one went together with its place, and the watch of Machines is behind'),
  },
  {
    name: 'never ran, never fails',
    defect: 'a machine without a phase, whose node is silent from the start, never fails, and is neither preserved nor replaced',
    file: 'src/controllers/preservation/phase.ts',
    edits: [["return nowMs < dueMs ? { phase, dueMs } : { phase: 'Unknown'", "return nowMs < Infinity ? { phase, dueMs } : { phase: 'Unknown'"]],
    killedBy: byTest(NEVER_RAN, 'a machine that nobody has seen running in phase "" is judged as any other when its node had the time to come up'),
  },
  {
    name: 'waits in silence',
    defect: 'nobody is told that a machine does not fail because others of its deployment are being replaced, which may last for ever',
    file: 'src/controllers/preservation/classify.ts',
    edits: [['problem === undefined ? subject : { problem, ...subject }', 'problem === undefined ? subject : { ...subject }']],
    killedBy: byTest(NEVER_RAN, 'says whom it waits for: others of its deployment are replaced, one at a time, and that may last for ever'),
  },
  {
    name: 'share of a lone Machine',
    defect: 'a Machine without a MachineDeployment takes a place from those of its pool, and a preserved machine of theirs is released',
    file: 'src/controllers/preservation/pools.ts',
    edits: [['if (this.#deployed.has(pool)) return', 'if (machine === undefined && this.#deployed.has(pool)) return']],
    killedBy: byTest(NEVER_RAN, 'takes no share of the maximum from those that there are'),
  },
  {
    name: 'deleted Node in silence',
    defect: 'a machine whose Node was deleted stays Running for ever, and nobody is told',
    file: 'src/controllers/preservation/classify.ts',
    edits: [
      ['(isOurs && node === undefined ? unjudged(machine) : undefined)', 'undefined'],
      ['function unjudged(', 'export function unjudged('],
    ],
    killedBy: byTest(MADE_ANEW, 'is told in phase Running: it is neither judged nor sent off any more'),
  },
  {
    name: 'released by a Node made anew',
    defect: 'a preserved machine is released, and goes, because its Node was made anew without the annotation',
    file: 'src/controllers/preservation/subject.ts',
    edits: [['readMarks(machine.annotations, node?.annotations, node?.uid)', 'readMarks(machine.annotations, node?.annotations)']],
    killedBy: byTest(MADE_ANEW, 'stays preserved (now, seen gone in between: true), and the word is on the Machine'),
  },
  {
    name: 'word of a Node made anew lost',
    defect: 'what was taken from a Node that was made anew goes on once, and is forgotten then',
    file: 'src/controllers/preservation/marks.ts',
    edits: [["machine: machine ?? (lastApplied === '' ? undefined : lastApplied), lastApplied: undefined", 'machine, lastApplied: undefined']],
    killedBy: byTest(MADE_ANEW, 'stays preserved (now, seen gone in between: true), and the word is on the Machine'),
  },
  {
    name: 'fight for an annotation',
    defect: 'what somebody undoes each time is written again ten times a second',
    file: 'src/controllers/preservation/controller.ts',
    edits: [['      rateLimiter: new WriteRateLimiter(clock, RATE),\n', '']],
    killedBy: byTest(UNDONE, 'is made again now and then, and not as fast as it can be'),
  },
  {
    name: 'dropped counts in silence',
    defect: 'what the API server drops is written again and again, and nobody is told',
    file: 'src/controllers/preservation/write.ts',
    edits: [['resourceVersion !== undefined && resourceVersion === object', 'resourceVersion === undefined && resourceVersion === object']],
    killedBy: byTest(UNDONE, 'is told where the API server takes it and drops it, and tried again later and later'),
  },
];
