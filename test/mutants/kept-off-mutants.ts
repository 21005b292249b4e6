import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const KEPT_OFF = 'test/machine-remediation/kept-off.test.ts';
const STILL_THERE = 'test/metal3-remediation/still-there.test.ts';
const LEFT_HOLDS = 'test/metal3-remediation/left-holds.test.ts';
const HELD = 'test/metal3-remediation/held.test.ts';

/** Defects of how remediations wait for a host that somebody keeps off, and of what they leave off themselves. */
export const KEPT_OFF_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'late on a host that is kept off',
    defect: 'a Machine is deleted because its Node is not back on a host that a person keeps off',
    file: 'src/controllers/machine-remediation/incident.ts',
    edits: [['isMarked && keptBecause(host, HOLD) !== undefined', 'isMarked && keptBecause(host, HOLD) === null']],
    killedBy: byTest(KEPT_OFF, 'on a host that somebody else holds off has its whole time when that is over: its Machine is not deleted meanwhile'),
  },
  {
    name: 'late without a limit',
    defect: 'a Machine is deleted after twenty minutes although its health check gives a node all the time that it likes',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [['?.nodeStartupTimeoutMs === 0', '?.nodeStartupTimeoutMs === -1']],
    killedBy: byTest(KEPT_OFF, 'keeps its Machine where its health check gives a node all the time that it likes, and a person is told'),
  },
  {
    name: 'late by what was said before',
    defect: 'a health check is not asked again before a Machine is deleted',
    file: 'src/controllers/machine-remediation/observe.ts',
    edits: [['(isUnobserved || isOver || timeOf', '(isUnobserved || timeOf']],
    killedBy: byTest(
      'test/machine-remediation/rights.test.ts',
      'is enough to see that a health check gives a node all the time that it likes, also where that is said late',
    ),
  },
  {
    name: 'late by the check of another Cluster',
    defect: 'a Machine is deleted by the startup time of a health check of another Cluster',
    file: 'src/controllers/machine-remediation/reprovision.ts',
    edits: [[' && isOfCluster(clusterName)', '']],
    killedBy: byTest(KEPT_OFF, 'has the time of a health check of another Cluster'),
  },
  {
    name: 'late while paused',
    defect: 'the time of a node runs while its Machine is paused, and the Machine is deleted when that is over',
    file: 'src/controllers/machine-remediation/first-seen-deadlines.ts',
    edits: [['if (machine.isPaused) this', 'if (machine.isPaused && nowMs < 0) this']],
    killedBy: byTest('test/machine-remediation/clock-set.test.ts', 'less what its Machine was paused: no time runs then'),
  },
  {
    name: 'left off by a host of nobody',
    defect: 'a host that we hold off stays off when it belongs to nobody any more',
    file: 'src/controllers/machine-remediation/decide.ts',
    edits: [['    if (!isHeld) return wait(', '    if (isHeld || !isHeld) return wait(']],
    killedBy: byTest(KEPT_OFF, 'is let on where it belongs to nobody, or the Machine does not name it any more'),
  },
  {
    name: 'hold of another machine is let go',
    defect: 'a host that belongs to another machine by now is let on, though the hold may be that one’s',
    file: 'src/controllers/machine-remediation/decide.ts',
    edits: [['const isAnothers = host.consumer !== undefined', 'const isAnothers = host.consumer === undefined']],
    killedBy: byTest(KEPT_OFF, 'and is another’s by now stays as it is, loudly: the hold may be that one’s'),
  },
  {
    name: 'kept off is late',
    defect:
      'a host that a person keeps off, or that its operator was told to leave alone, is late: it is power-cycled again, and its Machine replaced',
    file: 'src/controllers/metal3-remediation/waiting.ts',
    edits: [['if (kept !== undefined && !isFoundWell(snapshot))', 'if (kept !== undefined && isFoundWell(snapshot))']],
    killedBy: byTest(
      HELD,
      'does not run while a person keeps its host off by reboot.metal3.io/firmware: it is not power-cycled again, nor its Machine replaced',
    ),
  },
  {
    name: 'time while kept off',
    defect: 'the time of a host that a person keeps off runs meanwhile, and is over when that is',
    file: 'src/controllers/metal3-remediation/situation.ts',
    edits: [['  if (kept !== undefined) return true;\n', '']],
    killedBy: byTest(
      HELD,
      'does not run while a person keeps its host off by reboot.metal3.io/firmware: it is not power-cycled again, nor its Machine replaced',
    ),
  },
  {
    name: 'uncordoned by deletion',
    defect: 'a Node that an administrator cordoned takes pods again after its machine was power-cycled',
    file: 'src/controllers/shared/baremetal-host/node-backup.ts',
    edits: [["changesTo(keeper, isCordoned ? { [CORDON_BACKUP]: 'true' } : {})", 'changesTo(keeper, isCordoned ? {} : {})']],
    killedBy: byTest('test/machine-remediation/cordon.test.ts', 'is there again when the Node is back, and nothing of it is left on the Machine'),
  },
  {
    name: 'cordon of a fence is kept',
    defect: 'a Node that a fence of ours cordoned is cordoned for ever after its machine was power-cycled',
    file: 'src/controllers/shared/baremetal-host/node-backup.ts',
    edits: [['isUnschedulable === true && annotations[CORDON_MARK] === undefined', 'isUnschedulable === true && annotations[CORDON_MARK] !== null']],
    killedBy: byTest('test/machine-remediation/cordon.test.ts', 'is not where a fence of ours had set it, nor where there was none'),
  },
  {
    name: 'left by a remediation that is gone',
    defect: 'a host stays off for ever whose Metal3Remediation was removed by force, or has another uid since it was moved',
    file: 'src/controllers/metal3-remediation/left-holds.ts',
    edits: [['  return holdsOn(host).filter((key) => !uids.has(', '  return holdsOn(host).filter((key) => uids.has(undefined) && !uids.has(']],
    killedBy: byTest(LEFT_HOLDS, 'is let on'),
  },
  {
    name: 'back as soon as it is on',
    defect: 'a Node that stayed, with a machine that still boots, is told to be back, and its lock given away',
    file: 'src/controllers/metal3-remediation/waiting.ts',
    edits: [
      ['if (hasBackup(remediation.annotations)) return true;', 'if (remediation.annotations[RELEASE] === undefined) return true;'],
      ["import { POLL_MS } from './names.ts';", "import { POLL_MS, RELEASE } from './names.ts';"],
    ],
    killedBy: byTest(STILL_THERE, 'is back when it is heard behind the power-on, and not as soon as its host is on (else deleted)'),
  },
  {
    name: 'kept of a Node that stays',
    defect: 'what is kept under a storm has the Node that is not deleted counted as one that is back',
    file: 'src/controllers/metal3-remediation/running.ts',
    edits: [['return unlessHeld(snapshot, { actions: [keep], dueInMs: SHORT_POLL_MS });', 'return { actions: [keep], dueInMs: SHORT_POLL_MS };']],
    killedBy: byTest(STILL_THERE, 'is back when it is heard behind the power-on, and not as soon as its host is on (else deleted)'),
  },
  {
    name: 'left by one that is there',
    defect: 'a host is let on while its Metal3Remediation holds it off, because the watch does not show that',
    file: 'src/controllers/metal3-remediation/left-holds.ts',
    edits: [
      [
        'const left = leftOn(host, new Set(standing.map(({ metadata }) => metadata.uid)));',
        'const left = leftOn(host, new Set(standing.map(({ metadata }) => metadata.name)));',
      ],
    ],
    killedBy: byTest(LEFT_HOLDS, 'and none is of one that is there'),
  },
  {
    name: 'let on under a taint',
    defect: 'a host is let on whose Node is out of service',
    file: 'src/controllers/metal3-remediation/left-holds.ts',
    edits: [['taints?.some(({ key }) => key === OUT_OF_SERVICE.key) === true)', 'taints?.some(({ key }) => key === OUT_OF_SERVICE.key) === false)']],
    killedBy: byTest(LEFT_HOLDS, 'stays off while its Node is tainted out of service, loudly, and no longer'),
  },
  {
    name: 'let on against a stop',
    defect: 'a host that nobody remediates any more is let on against the stop of a person',
    file: 'src/controllers/metal3-remediation/left-holds.ts',
    edits: [['  if (stop !== undefined) return told(', '  if (stop === null) return told(']],
    killedBy: byTest(LEFT_HOLDS, 'stays off while a person’s stop stands, loudly, and no longer'),
  },
  {
    name: 'done is under way',
    defect: 'remediations that are done, and that nobody deletes, take the places of all others',
    file: 'src/controllers/metal3-remediation/in-flight.ts',
    edits: [
      [
        "status?.phase === 'Waiting' && (metadata.finalizers ?? []).length > 0",
        "status?.phase === 'Waiting' && (metadata.finalizers ?? []).length >= 0",
      ],
    ],
    killedBy: byTest('test/metal3-remediation/in-flight.test.ts', 'does not wait for those whose nodes are back, and that nobody has deleted'),
  },
  {
    name: 'unread is ill',
    defect: 'a machine whose Node may not be read is power-cycled again though its health check finds it healthy',
    file: 'src/controllers/metal3-remediation/waiting.ts',
    edits: [["node === 'forbidden' || (typeof node", '(typeof node']],
    killedBy: byTest(
      'test/metal3-remediation/found-well.test.ts',
      'is tried again by the word of its health check alone where its Node may not be read: healthy',
    ),
  },
  {
    name: 'left off for a contradiction',
    defect: 'a host that we hold off stays off when its Node names another one',
    file: 'src/controllers/metal3-remediation/decide.ts',
    edits: [[', ...wayBack(snapshot, host) };', ' };']],
    killedBy: byTest(
      'test/metal3-remediation/contradiction.test.ts',
      'a host that is off, and is another’s by what its Node says now, is not left off, and nothing more is done',
    ),
  },
];
