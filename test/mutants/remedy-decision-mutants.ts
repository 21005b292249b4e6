import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const CONDITIONS = 'src/domain/remedy/conditions.ts';
const RUNS = 'src/domain/remedy/rows-run.ts';
const WAITING = 'src/domain/remedy/rows-waiting.ts';
const FENCE = 'src/domain/remedy/rows-fence.ts';
const RENEWED = 'src/domain/remedy/conditions-renewed.test.ts';
const OBSERVED = 'src/domain/remedy/conditions.test.ts';
const RESTORED = 'src/domain/remedy/conditions-restored.test.ts';
const DECIDED = 'src/domain/remedy/decide.test.ts';
const PLAYED = 'src/domain/remedy/remedies.test.ts';
const READ = 'src/config/remedies.test.ts';
const WORLD = 'begin nothing while held, twice, beside another one, under a fence, or before it is written';

/** Defects of what is decided about remedies. */
export const REMEDY_DECISION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'fence ended by a remedy',
    defect: 'the fence of a remedy that is held for an hour is withdrawn, and its node left as it is',
    file: RUNS,
    edits: [["run.kind === 'fence' ? Infinity : state.sinceMs + RUN_MAX_MS", 'state.sinceMs + RUN_MAX_MS']],
    killedBy: byTest('test/remedies/fenced.test.ts', 'a fence that is held for hours is looked at every few seconds, and not ended'),
  },
  {
    name: 'recovery without an end',
    defect: 'a recovery that does not end is waited for without an end, and nobody is asked',
    file: 'src/controllers/remedies/runs/fence-runs.ts',
    edits: [["memory.hasEnded(run) ? 'failed' : 'running'", "'running' as const"]],
    killedBy: byTest('test/remedies/fenced.test.ts', 'a recovery that does not end within an hour is handed to a person'),
  },
  {
    name: 'remedy of another boot',
    defect: 'the age of a condition goes on over a reboot',
    file: CONDITIONS,
    edits: [['return { ...rest, changesMs: [], ', 'return { ...rest, ...(_matched !== undefined && { matchedSinceMs: _matched }), changesMs: [], ']],
    killedBy: byTest(OBSERVED, 'of a new boot counts anew'),
  },
  {
    name: 'remedy by an old heartbeat',
    defect: 'a heartbeat of the boot before is believed',
    file: CONDITIONS,
    edits: [['if (fact.heartbeatMs === heard.oldHeartbeatMs) return undefined;', '']],
    killedBy: byTest(OBSERVED, 'whose heartbeat is of the boot before says nothing about this one'),
  },
  {
    name: 'remedy by a dead monitor',
    defect: 'a condition whose heartbeat stands still goes on to stand',
    file: CONDITIONS,
    edits: [["if (now.monotonicMs > heard.heartbeatSeenMs + 2 * heartbeatPeriodMs) return 'Unknown';", '']],
    killedBy: byTest(OBSERVED, 'whose heartbeat stays the same for twice its period is Unknown'),
  },
  {
    name: 'Unknown by another clock',
    defect: 'a poster whose clock is late makes its condition Unknown',
    file: CONDITIONS,
    edits: [
      [
        'now.wallMs > fact.heartbeatMs + 2 * heartbeatPeriodMs ? undefined : status',
        "now.wallMs > fact.heartbeatMs + 2 * heartbeatPeriodMs ? 'Unknown' : status",
      ],
    ],
    killedBy: byTest(OBSERVED, 'whose heartbeat is old only by the wall clock says nothing, not even Unknown'),
  },
  {
    name: 'renewal nobody watched',
    defect: 'a heartbeat that came behind a break of the watch counts as renewed now, though its monitor may be dead since',
    file: CONDITIONS,
    edits: [['Math.max(now.freshSinceMs ?? 0, ', 'Math.max(0, ']],
    killedBy: byTest(RENEWED, 'whose heartbeat was renewed behind a break of the watch is old by the wall clock still'),
  },
  {
    name: 'renewal of long ago',
    defect: 'a heartbeat that was looked at long ago counts as renewed now, though its monitor may be dead since',
    file: CONDITIONS,
    edits: [['now.monotonicMs - 2 * (threshold.heartbeatPeriodMs ?? 0)', 'now.monotonicMs - Infinity']],
    killedBy: byTest(RENEWED, 'whose heartbeat was not looked at for twice its period may have been renewed long ago'),
  },
  {
    name: 'skewed for ever',
    defect: 'where the clock of a leader is ahead nothing is ever begun',
    file: CONDITIONS,
    edits: [['heard.isRenewed !== true && ', '']],
    killedBy: byTest(RENEWED, 'whose heartbeat is renewed before our eyes stands, however far its clock is behind ours'),
  },
  {
    name: 'NPD restart as recovery',
    defect: 'a latched condition is over after its period, as any other',
    file: CONDITIONS,
    edits: [
      [
        'isLatched ? Math.max(clearPeriodMs, Math.min(stoodMs, LATCHED_CLEAR_MAX_MS)) : clearPeriodMs',
        'isLatched ? Math.min(clearPeriodMs, LATCHED_CLEAR_MAX_MS + stoodMs) : clearPeriodMs',
      ],
    ],
    killedBy: byTest(OBSERVED, 'is not over because its monitor started anew'),
  },
  {
    name: 'Unknown as recovery',
    defect: 'a condition that is Unknown counts as clear',
    file: CONDITIONS,
    edits: [
      [
        "if (status !== undefined && trigger.statuses.includes(status)) return 'match';\n  return status === undefined || status === 'Unknown' ? 'unsure' : 'clear';",
        "if (status !== undefined && trigger.statuses.includes(status)) return 'match';\n  return 'clear';",
      ],
    ],
    killedBy: byTest(OBSERVED, 'that is Unknown neither stands nor is over'),
  },
  {
    name: 'no hysteresis',
    defect: 'a condition is over as soon as it reads clear',
    file: CONDITIONS,
    edits: [['now.monotonicMs >= sinceMs + clearAfterMs(threshold, stoodMs);', 'now.monotonicMs >= sinceMs + 0 * clearAfterMs(threshold, stoodMs);']],
    killedBy: byTest(OBSERVED, 'is over only when it was clear for the same period'),
  },
  {
    name: 'new leader believes at once',
    defect: 'a new leader takes what tripped for standing without having seen it',
    file: CONDITIONS,
    edits: [
      [
        '{ ...NEVER, isTripped: true, matchedSinceWallMs: one.sinceWallMs,',
        '{ ...NEVER, isTripped: true, matchedSinceMs: 0, matchedSinceWallMs: one.sinceWallMs,',
      ],
    ],
    killedBy: byTest(RESTORED, 'goes on from what tripped, sees for itself that it stands, and from nothing else'),
  },
  {
    name: 'remedy begins while held',
    defect: 'what was written down is begun though something holds',
    file: RUNS,
    edits: [['isWritten(facts) && holdOf(facts, isRecovery(facts)) !== undefined', 'isWritten(facts) && holdOf(facts, true) !== undefined']],
    killedBy: byTest(PLAYED, WORLD),
  },
  {
    name: 'recovery against a stop',
    defect: "a person's stop does not keep a recovery from beginning",
    file: RUNS,
    edits: [
      ['holds.find(({ isPolicy }) => !(isRecovery && isPolicy))', 'holds.find(({ isPolicy }) => !isRecovery || (isRecovery && isPolicy && false))'],
    ],
    killedBy: byTest(DECIDED, 'the recovery is written down, and a person said stop'),
  },
  {
    name: 'remedy for what is over',
    defect: 'what was written down is begun though the condition does not stand any more',
    file: RUNS,
    edits: [
      ['applies: (facts) => isWritten(facts) && !isWanted(facts),', 'applies: (facts) => isWritten(facts) && !isWanted(facts) && isRecovery(facts),'],
    ],
    killedBy: byTest(DECIDED, 'the run is written down, and the condition reads clear'),
  },
  {
    name: 'remedy of another name awaited',
    defect: 'a run that is written down, and whose number another remedy has by now, is begun for ever, and never is',
    file: 'src/domain/remedy/position.ts',
    edits: [['return use?.name === remedy && use.remedy.kind === kind ? use : undefined;', 'return use?.remedy.kind === kind ? use : undefined;']],
    killedBy: byTest(DECIDED, 'the run is written down, and another remedy has its number by now'),
  },
  {
    name: 'lost remedy again',
    defect: 'a Job that was there and is gone is begun again',
    file: RUNS,
    edits: [["next: (facts) => afterRun(facts, 'lost'),", "next: ({ position }) => ({ position: { ...position, phase: 'starting' } }),"]],
    killedBy: byTest(PLAYED, WORLD),
  },
  {
    name: 'cleans after a failure',
    defect: 'pods are let go after a remedy that failed',
    file: RUNS,
    edits: [["result === 'succeeded' && run.kind", "result !== 'lost' && run.kind"]],
    killedBy: byTest(DECIDED, 'cleans after a success only'),
  },
  {
    name: 'release by a Job',
    defect: 'the pods of a node without evidence are let go because a Job succeeded',
    file: WAITING,
    edits: [
      [
        "if (presence.kind === 'unproven') return {",
        "if (presence.kind === 'unproven') return { actions: [{ kind: 'release', evidence: 'power-off' }],",
      ],
    ],
    killedBy: byTest(DECIDED, 'lets no pods go without evidence, and says what it waits for'),
  },
  {
    name: 'pods let go while held',
    defect: 'pods are let go though something holds',
    file: WAITING,
    edits: [["((isIn('waiting')(facts) && isDue(facts)) || isCleanDue(facts))", "isIn('waiting')(facts) && isDue(facts)"]],
    killedBy: byTest(PLAYED, WORLD),
  },
  {
    name: 'two remedies at once',
    defect: 'a remedy is written down beside another one of the same node',
    file: WAITING,
    edits: [
      [
        "applies: (facts) => isIn('waiting')(facts) && isDue(facts) && facts.isBusy,",
        "applies: (facts) => isIn('waiting')(facts) && isDue(facts) && facts.isBusy && isLast(facts),",
      ],
    ],
    killedBy: byTest(PLAYED, 'begin one at a time on one node'),
  },
  {
    name: 'attempts without end',
    defect: 'remedies begin anew for ever',
    file: WAITING,
    edits: [['position.attempt < threshold.maxAttempts', 'position.attempt < threshold.maxAttempts + 100']],
    killedBy: byTest(PLAYED, 'escalate, are capped, and are undone when the condition is over'),
  },
  {
    name: 'remedies under a fence',
    defect: 'remedies go on while a fence of the node is open',
    file: FENCE,
    edits: [
      [
        'applies: (facts) => isTakenOver(facts) && !isFenced(facts),',
        'applies: (facts) => isTakenOver(facts) && !isFenced(facts) && isUnderWay(facts.state),',
      ],
    ],
    killedBy: byTest(PLAYED, WORLD),
  },
  {
    name: 'remedy runs on under a fence',
    defect: 'the run of a remedy is not ended when a fence takes over',
    file: FENCE,
    edits: [["actions: [{ kind: 'cancel', run }],", 'actions: [],']],
    killedBy: byTest(DECIDED, 'is ended when a fence takes over, and what was never begun is not left out after it'),
  },
  {
    name: 'overlap decided by chance',
    defect: 'of two Configurations that answer one condition both act',
    file: 'src/domain/remedy/reach.ts',
    edits: [['.some((one) => taken.has(one))', '.every((one) => taken.has(one) && false)']],
    killedBy: byTest('src/domain/remedy/reach.test.ts', 'leave out on both sides what two of them answer, and nothing else'),
  },
  {
    name: 'half a Configuration',
    defect: 'a Configuration with an error acts as far as it was understood',
    file: 'src/config/remedies.ts',
    edits: [
      ["told.some(({ severity }) => severity === 'error') ? [] : [read]", "told.some(({ severity }) => severity !== 'error' && false) ? [] : [read]"],
    ],
    killedBy: byTest(READ, 'refuse no end of attempts'),
  },
  {
    name: 'alarm again and again',
    defect: 'an alarm is told at every look',
    file: 'src/domain/remedy/problem-counters.ts',
    edits: [['!counters.raised.some((one) => isSame(one, alarm))', '!counters.raised.some((one) => isSame(one, alarm) && false)']],
    killedBy: byTest('src/domain/remedy/problem-counters.test.ts', 'is raised once and cleared once, and says when it would be'),
  },
];
