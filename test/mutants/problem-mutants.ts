import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const COUNTS = 'test/problems/counts.test.ts';

/** Defects of what is counted of nodes, and of the alarms that are told because of it. */
export const PROBLEM_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'problem of a condition twice',
    defect: 'an Event about a condition is counted beside the condition',
    file: 'src/controllers/problems/node-event.ts',
    edits: [["textOf(raw['message']).startsWith(OF_CONDITION)", "textOf(raw['message']).startsWith('No such words')"]],
    killedBy: byTest('src/controllers/problems/node-event.test.ts', 'is not counted when it tells of a condition, which is counted as such'),
  },
  {
    name: 'problem counted by each leader',
    defect: 'a new leader counts again what the report has',
    file: 'src/controllers/problems/controller.ts',
    edits: [['this.#ledger.set(metadata.name, nodeProblems(metadata.name, status.problemCounts));', '']],
    killedBy: byTest(COUNTS, 'goes on from what the reports keep: nothing is counted or told twice'),
  },
  {
    name: 'problem of a clock that was set back',
    defect: 'a new leader counts an incident again that the clock of before has in the future',
    file: 'src/controllers/problems/counting.ts',
    edits: [['(!isNew && isLeftInFuture(known, same, nowMs))', 'false']],
    killedBy: byTest(COUNTS, 'counts no incident twice where the clock was set back since'),
  },
  {
    name: 'problem of an innocent workload',
    defect: 'one broken node raises the alarm of every workload on it',
    file: 'src/domain/remedy/workload-alarms.ts',
    edits: [['const NODES_MIN = 2;', 'const NODES_MIN = 1;']],
    killedBy: byTest('src/domain/remedy/workload-alarms.test.ts', 'is not raised on one node: that is the alarm of the node'),
  },
  {
    name: 'problem of a file',
    defect: 'alarms in files of the controller are checked and never raised',
    file: 'src/manager/problems/setup.ts',
    edits: [[', files: ports.remedyFiles', '']],
    killedBy: byTest(COUNTS, 'an alarm in a file of the controller is one as any other, and so is one that is written there later'),
  },
  {
    name: 'problem that a standby counts',
    defect: 'a replica that does not lead counts what is reported',
    file: 'src/controllers/problems/controller.ts',
    edits: [['if (this.#isLeading() && this.#counting.problem(problem))', 'if (this.#counting.problem(problem))']],
    killedBy: byTest(COUNTS, 'is counted by the leader alone'),
  },
  {
    name: 'problem whose teller sleeps',
    defect: 'an alarm that stands because of one node and is to be told by another is never told',
    file: 'src/controllers/problems/controller.ts',
    edits: [['for (const other of judgement.elsewhere) this.#enqueue(other);', '']],
    killedBy: byTest(COUNTS, 'is told where the last that is counted is not the last that happened'),
  },
  {
    name: 'problem of other nodes counted anew',
    defect: 'an Event about a node that no alarm is for is counted from its begin at each write',
    file: 'src/controllers/problems/counting.ts',
    edits: [['this.#countOther(problem.count - (before?.problem?.count ?? before?.otherWarnings ?? 0));', 'this.#countOther(problem.count);']],
    killedBy: byTest(COUNTS, 'of a node that no alarm is for are counted as other, each once, however often they are written again'),
  },
];
