import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const LEVELS = 'src/domain/several-levels.test.ts';
const PROGRAM = 'src/domain/program.ts';

/** Defects of what one level of power-management leaves to the next. */
export const LEVEL_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'never deleted for an on',
    defect:
      'a machine that could not be switched on again is not deleted by the level that is there for it: its workload has one node less, in error',
    file: PROGRAM,
    edits: [["switchesOn(method) || method.action === 'delete' ||", 'switchesOn(method) ||']],
    killedBy: byTest(LEVELS, 'may delete what the one before could not switch on again'),
  },
  {
    name: 'not deleted, and nobody said so',
    defect: 'a machine that could not be deleted is told as off on purpose, for ever, where a watchdog is the last level',
    file: PROGRAM,
    edits: [['(!isOn && (!isDeleted || switchesOff(method)))', '!isOn']],
    killedBy: byTest(LEVELS, 'is not one that only proves, where the one before could not delete the machine: nobody meant it to stay off'),
  },
];
