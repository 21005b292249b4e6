import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const LEVELS = 'src/domain/several-levels.test.ts';
const PROGRAM = 'src/domain/program.ts';

/** Defects of what one level of power-management leaves to the next. */
export const LEVEL_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'left on behind an off',
    defect: 'what an earlier level switched off is switched on behind a level that is to leave the machine off',
    file: 'src/domain/program.ts',
    edits: [['ons.length === 0 && offs.length > 0 ? [] : left', 'left']],
    killedBy: byTest('src/domain/several-levels.test.ts', 'stays off where the level only switches off, and where the fence is to end so'),
  },
  {
    name: 'left on at any price',
    defect: 'a machine that is back is in error for a supply of an earlier level that cannot be switched on',
    file: 'src/domain/program.ts',
    edits: [["if (operation.phase === 'left' && latest?.result !== undefined && !NEUTRAL.has(latest.result)) continue;", '']],
    killedBy: byTest('src/domain/several-levels.test.ts', 'is tried once: refused keeps the fence from nothing, and is told'),
  },
  {
    name: 'opened for a boot that was never reset',
    defect: 'revoked storage is opened again for the boot that wrote to it, though it speaks behind the reset that a watchdog had proven',
    file: 'src/domain/storage-opening.ts',
    edits: [["provenAtMs === undefined ? ready !== 'Unknown' : lifeAtMs > provenAtMs", 'provenAtMs !== undefined && lifeAtMs > provenAtMs']],
    killedBy: byTest('src/domain/storage-opening.test.ts', 'stays closed for a boot that is Ready though the machine was to be reset'),
  },
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
  {
    name: 'reset, and told as off',
    defect:
      'a machine that was to end in off, or is being deleted, is told as off when its watchdog has reset it: it boots, and whoever asked goes on',
    file: 'src/domain/evidence.ts',
    edits: [["new Set(['watchdog', 'kdump'])", "new Set(['kdump'])"]],
    killedBy: byTest(LEVELS, 'is not told as left off where its Machine is being deleted meanwhile, nor is one of whose supplies one is off'),
  },
  {
    name: 'reset, and not switched off',
    defect: 'the level that would switch a machine off that was to end in off is not tried once its watchdog has reset it',
    file: 'src/domain/level-end.ts',
    edits: [['unheardDump(program, status, plan) ?? notLeftOff(status, plan)', 'unheardDump(program, status, plan)']],
    killedBy: byTest(LEVELS, 'is not off for whoever asked to have it left off: the next level is tried, and without one the fence ends in error'),
  },
  {
    name: 'reset, and asked for for ever',
    defect: 'a fence that somebody asked for, and that a watchdog has served, is begun again and again: the node is reset until it fails',
    file: 'src/domain/health.ts',
    edits: [['if (hasBootedAfterReset(node, plan, status)) return false;', '']],
    killedBy: byTest(LEVELS, 'has served whoever asked for it once its node is Ready on another boot: it is not reset again and again'),
  },
  {
    name: 'well on the boot that had ended',
    defect: 'a node that lives on, on the boot whose pods were let go on the word of its watchdog, is told as recovered beside them',
    file: 'src/domain/health.ts',
    edits: [['!isOnBootThatWasReset(node, status) && ', '']],
    killedBy: byTest(LEVELS, 'is no healthy node on the boot that was told to have ended when its workload was let go'),
  },
  {
    name: 'reset for a supply',
    defect: 'a node that is well again is reset or switched off by the next level, for a supply that the level before has left off',
    file: 'src/domain/rows/running.ts',
    edits: [["edge.state === 'off' && isPlugOf(methods, edge)", "edge.state === 'off'"]],
    killedBy: byTest(LEVELS, 'is not reset by its watchdog for the supply that the level before has left off: that is told'),
  },
  {
    name: 'held and begun again',
    defect:
      'under a hold the watchdog of a second level is begun again each second, in vain: each try begins the hold anew, and no alarm is ever raised',
    file: 'src/domain/rows/running.ts',
    edits: [[' || isHeldProof(status, plan)', '']],
    killedBy: byTest(
      LEVELS,
      'waits where that would only be waited for: once told, with an alarm in time, and the proof is waited for when it is over',
    ),
  },
  {
    name: 'program of a held level',
    defect: 'a program of a second level is begun under a hold that came after the off of the first',
    file: 'src/domain/advance.ts',
    edits: [
      [
        "operation.phase === 'run' && status.step === 'power-management' && held",
        "operation.phase === 'diag' && status.step === 'power-management' && held",
      ],
    ],
    killedBy: byTest(LEVELS, 'lets no program of it run, and what it switches on is switched on'),
  },
  {
    name: 'mended, and not tried',
    defect: 'a machine that could not be switched on is not tried again when its NodeFence is deleted, whoever has mended its device: it stays off',
    file: 'src/domain/rows/closing.ts',
    edits: [['entry.step === UNDO_STEP && entry.operation === operation && isFailure(entry)', 'entry.operation === operation && isFailure(entry)']],
    killedBy: byTest(
      LEVELS,
      'is switched on when its NodeFence is deleted by hand, for somebody may have mended it: each thing has its own tries there',
    ),
  },
  {
    name: 'released, and forgotten',
    defect: 'a fence that fails after a restart says that nothing was released, though its workload had been let go before that',
    file: 'src/domain/rows/error.ts',
    edits: [
      ['wasReleasedBefore(status) && storageRelease === undefined', 'wasReleasedBefore({ ...status, journal: [] }) && storageRelease === undefined'],
    ],
    killedBy: byTest(LEVELS, 'does not say that nothing was released where it was before that'),
  },
];
