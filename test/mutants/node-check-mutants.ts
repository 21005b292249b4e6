import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const CHILDREN = 'src/node/checks/children.test.ts';
const STORAGE = 'src/node/checks/storage.test.ts';
const KDUMP = 'src/node/checks/kdump.test.ts';
const HARDWARE = 'src/node/checks/hardware.test.ts';
const PREVIOUS = 'src/node/checks/previous-boot.test.ts';
const WATCHDOG = 'src/node/checks/watchdog.test.ts';

/** Defects of the checks of a node. */
export const NODE_CHECK_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'hung child forgotten',
    defect: 'a child that hangs is not noted, so that each call adds another one',
    file: 'src/node/checks/children.ts',
    edits: [['      this.#hung.add(key, child.pid, clock.bootMs());\n', '']],
    killedBy: byTest(CHILDREN, 'is started once for each path, be it by another process'),
  },
  {
    name: 'hung children without end',
    defect: 'children that hang are not counted',
    file: 'src/node/checks/children.ts',
    edits: [["if (standing.length >= most) return { kind: 'too-many', count: standing.length };", '']],
    killedBy: byTest(CHILDREN, 'is not started where too many hang already'),
  },
  {
    name: 'named storage not tried',
    defect: 'of many named devices only the first are tried, and the others count as unknown',
    file: 'src/node/checks/children.ts',
    edits: [['return Math.max(MOST, targets + OTHERS);', 'return Math.max(MOST, Math.min(targets, OTHERS));']],
    killedBy: byTest(CHILDREN, 'is started for each of those that are named, though all of them hang'),
  },
  {
    name: 'hung child awaited',
    defect: 'what SIGKILL does not end is waited for',
    file: 'src/node/checks/children.ts',
    edits: [["        cancel = clock.after(KILL_MS, () => conclude({ kind: 'late', isGone, output: said.output }));\n", '']],
    killedBy: byTest(CHILDREN, 'that not even SIGKILL ends is abandoned at its deadline and counted'),
  },
  {
    name: 'number of another process',
    defect: 'a process that has the number of a child that ended is taken for it',
    file: 'src/node/checks/hung-children.ts',
    edits: [['this.#startTicks(child.pid) === child.startTicks', 'this.#startTicks(child.pid) !== undefined']],
    killedBy: byTest(CHILDREN, 'is forgotten where its number is another process now'),
  },
  {
    name: 'probe of the disk below',
    defect: 'a mount that is not mounted is probed, and the disk below answers',
    file: 'src/node/checks/storage-probe.ts',
    edits: [["return { ...target, outcome: { kind: 'not-mounted' } };", ';']],
    killedBy: byTest(STORAGE, 'is lost when nothing is mounted there: the disk below would answer'),
  },
  {
    name: 'hosts of somebody else',
    defect: 'kdump-setup takes away hosts that it did not write',
    file: 'src/node/kdump/kdump-config.ts',
    edits: [['.filter((host) => !ours.includes(host));', '.filter((host) => ours.length > 0 && !ours.includes(host));']],
    killedBy: byTest('src/node/kdump/kdump-config.test.ts', 'keeps the hosts that somebody else wrote, in their line, with what is said of them'),
  },
  {
    name: 'controllers that are none any more',
    defect: 'kdump-setup never takes a controller away',
    file: 'src/node/kdump/kdump-config.ts',
    edits: [['.filter((host) => !ours.includes(host));', ';']],
    killedBy: byTest('src/node/kdump/kdump-config.test.ts', 'loses controllers that are none any more, and no host of somebody else'),
  },
  {
    name: 'unit of somebody else',
    defect: 'kdump-setup writes over a unit that somebody else wrote',
    file: 'src/node/kdump/kdump-setup.ts',
    edits: [['if (foreign !== undefined) throw', "if (foreign?.path === '') throw"]],
    killedBy: byTest('src/node/kdump/kdump-setup.test.ts', 'refuses where somebody else wrote'),
  },
  {
    name: 'files of the pod',
    defect: 'a pod takes its own files for those of the node, and finds that its crash kernel notifies nobody',
    file: 'src/node/checks/daemon-checks.ts',
    edits: [['...(seesFiles ? [', "...(seesFiles || root !== '' ? ["]],
    killedBy: byTest(
      'src/node/checks/daemon-checks.test.ts',
      'is none of kdump and of the previous boot where it is not shown the files of the node',
    ),
  },
  {
    name: 'storage of a busy machine',
    defect: 'a probe that did not get to run counts as one that was not answered',
    file: 'src/node/checks/storage-probe.ts',
    edits: [["result.output === BEGINS ? { kind: 'silent', forMs: deadlineMs } : NOT_BEGUN", "{ kind: 'silent', forMs: deadlineMs }"]],
    killedBy: byTest(STORAGE, 'of a probe that is late tells a storage that hangs from a machine that is too busy'),
  },
  {
    name: 'first page of a file',
    defect: 'a file of /proc is read once, which is a page: mounts behind it seem to be lost',
    file: 'src/node/checks/reading.ts',
    edits: [['    length += bytesRead;\n', '    length += mostBytes;\n']],
    killedBy: byTest('src/node/checks/reading.test.ts', 'of /proc is read to its end, though each read is answered with a page at most'),
  },
  {
    name: 'unused map loses storage',
    defect: 'paths of a map that nobody named make storage lost that answered',
    file: 'src/node/checks/storage.ts',
    edits: [
      [
        'if (readings.length === 0) return judgePaths(paths);',
        "if (readings.length === 0 || judgePaths(paths).reach === 'lost') return judgePaths(paths);",
      ],
    ],
    killedBy: byTest(STORAGE, 'of a named target is not changed by the paths of maps that nobody named'),
  },
  {
    name: 'kdump for anybody',
    defect: 'kdump is right whomever it notifies',
    file: 'src/node/checks/kdump.ts',
    edits: [['(address) => !notified.includes(address)', '(address) => notified.length === 0 && address !== ""']],
    killedBy: byTest(KDUMP, 'is a problem where a controller is not notified'),
  },
  {
    name: 'counter that was reset',
    defect: 'errors since a reset of the counter are not counted',
    file: 'src/node/checks/hardware.ts',
    edits: [['return now >= before ? now - before : now;', 'return Math.max(0, now - before);']],
    killedBy: byTest(HARDWARE, 'are counted anew after a counter fell: it was reset'),
  },
  {
    name: 'crash of long ago',
    defect: 'a record of an earlier boot is one of the previous boot, in each boot anew',
    file: 'src/node/checks/previous-boot.ts',
    edits: [['if (seenIn !== undefined) return seenIn === bootID;', 'if (seenIn === bootID) return true;']],
    killedBy: byTest(PREVIOUS, 'crashed by a record of days ago, where the machine stood still since and somebody looked before'),
  },
  {
    name: 'softdog for hardware',
    defect: 'a software watchdog counts where one of hardware was asked for',
    file: 'src/node/checks/watchdog.ts',
    edits: [["if (isHardware && identity === 'Software Watchdog') return", "if (isHardware && identity === '') return"]],
    killedBy: byTest(WATCHDOG, 'of software will not do for hardware'),
  },
];
