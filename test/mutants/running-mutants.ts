import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const RUNNING = 'src/domain/running-rows.test.ts';
const RUNNING_FILE = 'src/domain/rows/running.ts';
const OPENING = 'src/domain/storage-opening.test.ts';
const TAKEN_BACK = 'src/domain/taken-back.test.ts';
const CLOSING_FILE = 'src/domain/rows/closing.ts';
const ADVANCE_FILE = 'src/domain/advance.ts';
const ADVANCE = 'src/domain/advance.test.ts';

/** Defects of what a running fence waits for, of whose word it weighs, and of what it takes back. */
export const RUNNING_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'off, and nobody meant it',
    defect:
      'a machine that a level switched off and could not switch on again is told as off on purpose, for ever, where a watchdog is the last level',
    file: 'src/domain/program.ts',
    edits: [["const [isOn, isDeleted] = [isTried('on'), ", 'const [isOn, isDeleted] = [false, ']],
    killedBy: byTest('src/domain/levels.test.ts', 'is tried for an on that failed only where it switches on: all is proven off and let go by then'),
  },
  {
    name: 'off in part, and nobody meant it',
    defect: 'the supply of a level that failed in its midst is told as off on purpose, and the node is waited for without an end',
    file: 'src/domain/program.ts',
    edits: [['off.length > 0 && isMeant && ', 'off.length > 0 && ']],
    killedBy: byTest(
      'src/domain/levels.test.ts',
      'that proves what another one has switched off in part leaves nothing off on purpose: the machine is waited for, and what is off is named',
    ),
  },
  {
    name: 'begun by what a budget kept',
    defect: 'a node that flips back before its off stays off in error, where a budget had kept its pods from an earlier release',
    file: 'src/controllers/fence/release/release.ts',
    edits: [['.some((kept) => kept.isUnsure === true)', '.length > 0']],
    killedBy: byTest(
      'src/controllers/fence/release/kept-pods.test.ts',
      'is void, and has begun only where something may have been let go: the pod was kept by its budget in a release before',
    ),
  },
  {
    name: 'waits for what has passed',
    defect: 'a release that a crash cut off waits for ever for Kubernetes to notice the off of a node that is Ready on another boot',
    file: ADVANCE_FILE,
    edits: [[' && !isBootedAnew(context, status))\n    due = Number.POSITIVE_INFINITY', ')\n    due = Number.POSITIVE_INFINITY']],
    killedBy: byTest(
      'src/domain/release-rules.test.ts',
      'goes on with a release that a crash cut off where the node has booted anew: Kubernetes has nothing left to notice',
    ),
  },
  {
    name: 'read in vain for ever',
    defect: 'a proof that was read gone is read again and again before its release, and a node that came back never recovers',
    file: ADVANCE_FILE,
    edits: [['proof !== undefined && !isGone && ', 'proof !== undefined && ']],
    killedBy: byTest('src/domain/release-rules.test.ts', 'is not tried on a proof that was read again and is gone, where the node lives by now'),
  },
  {
    name: 'silence that nobody counts',
    defect: 'a successor waits for ever for the silence of a machine whose device shows no identity: it never reads it, and lets nothing go',
    file: ADVANCE_FILE,
    edits: [['since.firstEvidence ?? provenAtMs;', 'since.firstEvidence ?? provenAtMs ?? nowMs;']],
    killedBy: byTest(
      'src/domain/unverified.test.ts',
      'is read again at once by a successor, which counts the silence from its own read, and lets the workload go',
    ),
  },
  {
    name: 'release that there was none of',
    defect: 'a fence whose node came back before anything was let go on a word says that its workload is released',
    file: RUNNING_FILE,
    edits: [
      [
        "    if (released === undefined) return 'The node came back before its workload was let go on an acknowledgement: nothing is released.';\n",
        '',
      ],
    ],
    killedBy: byTest(
      'src/domain/word-release.test.ts',
      'is none of a node that came back before a successor has looked, which says of no release that there was one',
    ),
  },
  {
    name: 'release of a part as one of all',
    defect: 'a fence that gave up pods which a budget keeps says that its workload is released on a word',
    file: RUNNING_FILE,
    edits: [['const isPartly = leftToRelease(status) > 0;\n    return', 'const isPartly = false;\n    return']],
    killedBy: byTest('src/domain/word-release.test.ts', 'gives up what a budget keeps, release_timeout after it began'),
  },
  {
    name: 'read that was cut off counts as one',
    defect: 'a machine is switched on under a hold although nobody has read what came of its off: that read was cut off by a second hand-over',
    file: ADVANCE_FILE,
    edits: [["runs.findLast(({ action, result }) => !(action === 'confirm' && result === 'interrupted'))", 'runs.at(-1)']],
    killedBy: byTest(ADVANCE, 'only the off is read that was cut off, of several, and again where that read was cut off too'),
  },
  {
    name: 'intent of the leader before',
    defect: 'the first intent of a new leader bears the epoch of the one before it',
    file: ADVANCE_FILE,
    edits: [['epoch: context.snapshot.epoch,', 'epoch: status.epoch,']],
    killedBy: byTest(ADVANCE, 'bears the epoch of the leader that writes it'),
  },
  {
    name: 'taken back under the epoch of before',
    defect: 'what a deleted NodeFence takes back is sent under the epoch of another leader',
    file: CLOSING_FILE,
    edits: [['epoch: snapshot.epoch,', 'epoch: status.epoch,']],
    killedBy: byTest(TAKEN_BACK, 'each thing is tried at once, and again after settle, as another attempt, by the leader that is one then'),
  },
  {
    name: 'switched off because it was started',
    defect: 'a machine that somebody started before it was deleted is switched off by the next level',
    file: ADVANCE_FILE,
    edits: [
      [
        'refusal.mayGoOn ? levelFailed(context, status, step, ends, refusal.why) : ends.failed(status, refusal.why)',
        'levelFailed(context, status, step, ends, refusal.why)',
      ],
    ],
    killedBy: byTest(ADVANCE, 'is none for a machine that somebody has started since it was proven off: nothing switches it off for a deletion'),
  },
  {
    name: 'proof of isolation for the machine',
    defect: 'what a run of isolation has read lets the whole workload go',
    file: ADVANCE_FILE,
    edits: [['(source.step === status.step && source.level', '(source.level']],
    killedBy: byTest('src/domain/release-rules.test.ts', 'of a run of isolation lets nothing of the machine go'),
  },
  {
    name: 'while off of another boot, by a successor',
    defect: 'a successor does what is right only while the machine is off although the Node shows another boot',
    file: ADVANCE_FILE,
    edits: [['return !isAnotherBoot && (provenAtMs', 'return (provenAtMs']],
    killedBy: byTest(
      'src/domain/release-rules.test.ts',
      'is begun by a successor, which has not read the device itself, unless the Node shows another boot',
    ),
  },
  {
    name: 'next level at once',
    defect: 'the next level begins while a late off of the one before may still come',
    file: ADVANCE_FILE,
    edits: [['  if (due > context.snapshot.nowMs) return { status, requeueAtMs: due };\n  const message', '  const message']],
    killedBy: byTest('src/domain/levels.test.ts', 'begins only when no late off of the one before can hit what it does'),
  },
  {
    name: 'late off of a failed set forgotten',
    defect: 'a machine is switched on before an off that nobody has seen to act can hit it no more',
    file: ADVANCE_FILE,
    edits: [["return entry.result !== 'succeeded' || entry.edgeUnseen === true || again;", 'return entry.edgeUnseen === true || again;']],
    killedBy: byTest('src/domain/closing.test.ts', 'is its device, where nobody saw what came of it'),
  },
  {
    name: 'undone before a late off',
    defect: 'a machine whose NodeFence was deleted is switched on where a late off may still hit it, as release_timeout is over',
    file: CLOSING_FILE,
    edits: [
      [
        'Math.max(settledAtMs(context), (snapshot.since.action ?? snapshot.nowMs) + plan.timing.releaseTimeoutMs)',
        '(snapshot.since.action ?? snapshot.nowMs) + plan.timing.releaseTimeoutMs',
      ],
    ],
    killedBy: byTest(TAKEN_BACK, 'waits for pods that are left without a volume, and for a late off where release_timeout is shorter'),
  },
  {
    name: 'undone under a pod',
    defect: 'a machine whose NodeFence was deleted is switched on while a pod that was let go is left on it',
    file: CLOSING_FILE,
    edits: [['snapshot.workload.pods === 0 && snapshot.workload.volumeAttachments === 0', 'snapshot.workload.volumeAttachments === 0']],
    killedBy: byTest(TAKEN_BACK, 'waits for pods that are left without a volume, and for a late off where release_timeout is shorter'),
  },
  {
    name: 'healthy under our taint',
    defect: 'a fence whose Machine is being deleted ends while our taint is on its healthy node, and nobody takes it back',
    file: RUNNING_FILE,
    edits: [['context.healthy && !isReleaseValid(context) && ', 'context.healthy && ']],
    killedBy: byTest(
      RUNNING,
      'loses our taint first after a release on a word, also where its Machine is being deleted meanwhile, which ends the fence as it stands',
    ),
  },
  {
    name: 'healthy on one supply',
    defect: 'a machine that came up on one supply never gets the other one back',
    file: RUNNING_FILE,
    edits: [[' && !isAnythingOff(context),', ',']],
    killedBy: byTest(RUNNING, 'gets its other supply back, which did not answer when it was to be switched on'),
  },
  {
    name: 'taint of half a release',
    defect: 'a hold between two batches of a release on a word ends the release: what is left is never let go',
    file: RUNNING_FILE,
    edits: [['status.released !== undefined && leftToRelease(status) === 0', 'status.released !== undefined']],
    killedBy: byTest(RUNNING, 'lets nothing go under a hold between two batches, and keeps our taint for the pods that are left'),
  },
  {
    name: 'held for no release',
    defect: 'a machine of which nothing is to be released is kept off by a hold',
    file: RUNNING_FILE,
    edits: [[" || plan.release === 'none' || !offBegan", ' || !offBegan']],
    killedBy: byTest(RUNNING, 'delays no on where nothing is to be released'),
  },
  {
    name: 'held off before the off',
    defect: 'a hold before the first off is taken for one after it',
    file: RUNNING_FILE,
    edits: [[' || !offBegan(status) || status.released !== undefined)', ' || status.released !== undefined)']],
    killedBy: byTest(RUNNING, 'is another thing than one before it, which is waited for as long as it stands'),
  },
  {
    name: 'given up for a release that was never sent',
    defect: 'a hold that comes between the intent of a release and its first call has the machine switched on again, its workload not let go',
    file: RUNNING_FILE,
    edits: [["entry.step === 'power-management' && mayHaveReleased(entry);", "entry.step === 'power-management' && entry.action === 'release';"]],
    killedBy: byTest(RUNNING, 'gives nothing up within life_wait where the release was stopped'),
  },
  {
    name: 'given up for what storage let go',
    defect: 'a hold after the first off has a machine switched on again at once of which only pods of revoked storage were let go',
    file: RUNNING_FILE,
    edits: [["entry.step === 'power-management' && mayHaveReleased(entry);", 'mayHaveReleased(entry);']],
    killedBy: byTest(RUNNING, 'gives nothing up within life_wait after what only its storage let go'),
  },
  {
    name: 'word about a living node',
    defect: 'a word is weighed of a node that has come back',
    file: RUNNING_FILE,
    edits: [['word === undefined || !triggered || isHeld', 'word === undefined || isHeld']],
    killedBy: byTest(RUNNING, 'is not weighed of a node that has come back'),
  },
  {
    name: 'word under a hold',
    defect: 'a word is weighed while a hold stands',
    file: RUNNING_FILE,
    edits: [['!triggered || isHeld) return false;', '!triggered) return false;']],
    killedBy: byTest(RUNNING, 'is not weighed under a hold'),
  },
  {
    name: 'word that proves nothing',
    defect: 'a word is weighed, and used up, where minimum_evidence does not admit it',
    file: RUNNING_FILE,
    edits: [[' || inadmissible(plan) !== undefined) return false;', ') return false;']],
    killedBy: byTest(RUNNING, 'is not weighed where it would be no proof'),
  },
  {
    name: 'word after the release',
    defect: 'a word is weighed when the workload was released already',
    file: RUNNING_FILE,
    edits: [['if (status.released !== undefined && !isCutOff(status)) return false;', '']],
    killedBy: byTest(RUNNING, 'is not weighed once the workload was released'),
  },
  {
    name: 'no word on a fence that failed',
    defect: 'a proof that a failed fence has left keeps a person from letting its workload go',
    file: RUNNING_FILE,
    edits: [["status.state === 'running' && validEvidence", 'validEvidence']],
    killedBy: byTest(RUNNING, 'is weighed of a fence that failed with its proof: nothing else is let go on that'),
  },
  {
    name: 'left off with its storage',
    defect: 'a machine stays off because its storage has to stay closed',
    file: CLOSING_FILE,
    edits: [["return state === 'off' || mayOpenStorage", 'return mayOpenStorage']],
    killedBy: byTest(OPENING, 'stays closed, and its machine is switched on all the same, where the boot speaks behind an off that was read back'),
  },
  {
    name: 'closed, told at each pass',
    defect: 'an Event and a write at each pass say that the storage stays closed',
    file: CLOSING_FILE,
    edits: [['  if (status.message === STAYS_CLOSED) return { status };\n', '']],
    killedBy: byTest(OPENING, 'stays closed for a boot that speaks after its off was proven: the device has switched another machine'),
  },
  {
    name: 'release of before',
    defect: 'a release of an earlier restart keeps a machine off whose NodeFence was deleted',
    file: CLOSING_FILE,
    edits: [['entry.restart === status.restarts && mayHaveReleased(entry)', 'mayHaveReleased(entry)']],
    killedBy: byTest(TAKEN_BACK, 'does not wait for volumes of a release of an earlier restart, whose end was waited for before its on'),
  },
  {
    name: 'evacuated for good',
    defect: 'what is true of a machine only until its on is said of one that stays off',
    file: ADVANCE_FILE,
    edits: [['return !held && status.ending === undefined && isStillOff', 'return !held && isStillOff']],
    killedBy: byTest(RUNNING, 'is done where its end is deleted, and not where the machine goes for good'),
  },
  {
    name: 'silence from the last read',
    defect: 'a read before the release begins the silence anew that an unverified identity demands: nothing is ever released',
    file: ADVANCE_FILE,
    edits: [['since.firstEvidence ?? provenAtMs;', 'provenAtMs;']],
    killedBy: byTest(
      'src/domain/automaton.test.ts',
      'demands life_wait of silence after the first off read where the identity is unverified, and reads again before the release',
    ),
  },
  {
    name: 'closed for a deleted machine',
    defect: 'a way that was closed for a machine that is deleted by now stays closed, and nobody is told',
    file: 'src/domain/rows/done.ts',
    edits: [['(kubectl delete node).${leftOff(context.status)}`', '(kubectl delete node).`']],
    killedBy: byTest('src/domain/deletion.test.ts', 'says what of its ways stays closed when its Node is gone: false'),
  },
  {
    name: 'asked for, and never fenced',
    defect: 'a request for a node that nobody is to fence ends as recovered: whoever asked takes it for fenced',
    file: ADVANCE_FILE,
    edits: [["if (plan.trigger === 'never' && step !== 'recovery') return NEVER_FENCED;", '']],
    killedBy: byTest('src/domain/never-fenced.test.ts', 'is not fenced for whoever asks, and no request ends as if it had been'),
  },
  {
    name: 'begun anew, and never fenced',
    defect: 'a machine that is off is forgotten once its node is never to be fenced: the restart has no step, and says nothing of it',
    file: 'src/domain/rows/error.ts',
    edits: [[" || snapshot.plan.trigger === 'never') return true;", ') return true;']],
    killedBy: byTest(
      'src/domain/never-fenced.test.ts',
      'is told as what is left off, and is not begun anew, where that is said while its machine is off',
    ),
  },
];
