import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const WELL = 'src/domain/node-daemon/found-well.ts';
const WELL_TEST = 'src/domain/node-daemon/found-well.test.ts';
const VERDICT = 'src/node/checks/mount-verdict.ts';
const LOOK = 'src/node/checks/file-systems.ts';
const LOOK_TEST = 'src/node/checks/file-systems.test.ts';
const DAEMON_TEST = 'test/node-daemon/checks.test.ts';
const SHELL_TEST = 'test/remedies/shell.test.ts';

/** Defects of how a node's daemon finds that a condition of somebody else is over. */
export const FOUND_WELL_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'well in another boot',
    defect: 'what was found well in another boot ends a condition of this one',
    file: WELL,
    edits: [[' || attested.bootID !== bootID', '']],
    killedBy: byTest(
      SHELL_TEST,
      'a latched condition that a monitor takes back when it starts anew is over once the daemon of the node has looked since, and no sooner',
    ),
  },
  {
    name: 'well before it was ill',
    defect: 'a look at a file system ends a condition that came after it',
    file: WELL,
    edits: [[' && secondOf(Date.parse(found.at)) > secondOf(changedMs)', '']],
    killedBy: byTest(
      SHELL_TEST,
      'a latched condition that a monitor takes back when it starts anew is over once the daemon of the node has looked since, and no sooner',
    ),
  },
  {
    name: 'well in the same second',
    defect: 'a look within the second in which the condition changed counts as one after it',
    file: WELL,
    edits: [['> secondOf(changedMs)', '>= secondOf(changedMs)']],
    killedBy: byTest(WELL_TEST, 'is not clear where that was within the second in which it changed'),
  },
  {
    name: 'well unnoticed',
    defect: 'the controller of remedies hears of a look only when the Node changes',
    file: 'src/controllers/remedies/nodes.ts',
    edits: [['? nowMs + LOOKED_MS : Infinity', '? Infinity : Infinity']],
    killedBy: byTest(
      SHELL_TEST,
      'a latched condition that a monitor takes back when it starts anew is over once the daemon of the node has looked since, and no sooner',
    ),
  },
  {
    name: 'well by the writes alone',
    defect: 'a file system that is mounted read-only is overlooked where another one takes writes',
    file: VERDICT,
    edits: [['  if (first !== undefined) {', '  if (first !== undefined && folders.length === 0) {']],
    killedBy: byTest(LOOK_TEST, 'are not where one was remounted read-only'),
  },
  {
    name: 'emergency of ext4 overlooked',
    defect: 'an ext4 that takes no writes any more and is not called ro counts as well',
    file: VERDICT,
    edits: [["'ro', 'emergency_ro', 'shutdown'", "'ro'"]],
    killedBy: byTest(LOOK_TEST, 'are not where one takes no writes since Linux 6.12'),
  },
  {
    name: 'well by memory',
    defect: 'a folder in memory is written to, and the disks count as well',
    file: VERDICT,
    edits: [['  if (astray !== undefined) return', '  if (astray === undefined && folders.length === 0) return']],
    killedBy: byTest(LOOK_TEST, 'say nothing where what was written to is none of them'),
  },
  {
    name: 'well where it is full',
    defect: 'a write that found no room counts as one that was done',
    file: LOOK,
    edits: [
      ["find(({ outcome }) => outcome.kind !== 'answered')", "find(({ outcome }) => outcome.kind !== 'answered' && outcome.kind !== 'refused')"],
    ],
    killedBy: byTest(LOOK_TEST, 'tells nothing to be over where the write finds no room'),
  },
  {
    name: 'well by a later clock',
    defect: 'a wall clock that is set forward makes a look later than it was',
    file: 'src/node/core/checks.ts',
    edits: [['lookedAt(Math.min(wallMs, bootedAtMs + bootMs))', 'lookedAt(bootedAtMs + bootMs)']],
    killedBy: byTest(DAEMON_TEST, 'attests no later time where the wall clock was set forward meanwhile'),
  },
];
