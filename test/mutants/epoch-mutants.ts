import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const ELECTOR = 'src/kube/leader-records.test.ts';
const LEASE = 'src/kube/leader-elector.test.ts';
const AUTOMATON = 'src/domain/automaton-told.test.ts';

/** Defects of the leader's epoch, and of rows that do nothing and say nothing. */
export const EPOCH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'epoch of a restored Lease',
    defect: 'a leader renews a Lease that was restored from an earlier term of its own under that term',
    file: 'src/kube/lease-record.ts',
    edits: [
      [
        '...lease.spec, renewTime: microTimestamp(clock), leaseTransitions: notBelow(lease, epoch) }',
        '...lease.spec, renewTime: microTimestamp(clock) }',
      ],
    ],
    killedBy: byTest(ELECTOR, 'writes its own epoch into a Lease that was restored from an earlier term of its own: the successor comes after it'),
  },
  {
    name: 'epoch begins anew',
    defect: 'a Lease that was made anew begins below what stands in the NodeFences',
    file: 'src/kube/leader-elector.ts',
    edits: [['this.#highestEpoch = Math.max(this.#highestEpoch, highest);', '']],
    killedBy: byTest(ELECTOR, 'begins above every epoch on record where the Lease was made anew, and the Lease carries it on'),
  },
  {
    name: 'lease restored behind our back',
    defect: 'a Lease that etcd shows as of before a renewal counts as unchanged through the outage, and is taken while its holder acts',
    file: 'src/kube/leader-elector.ts',
    edits: [['if (!(error instanceof ApiStatusError)) this.#answeredSinceMs = undefined;', '']],
    killedBy: byTest(LEASE, 'waits a whole lease from the return of an API server that was away'),
  },
  {
    name: 'gap behind a restore',
    defect: 'a restore that the Lease shows is told to nobody: watches that caught up never see what was written in between',
    file: 'src/kube/leader-elector.ts',
    edits: [['    onWentBack?.(message);\n', '']],
    killedBy: byTest(LEASE, 'tells, leading or not, when the Lease reads older than it was'),
  },
  {
    name: 'watch kept over a gap',
    defect: 'a watch that is to list anew goes on with what it has',
    file: 'src/kube/reflector.ts',
    edits: [['    this.#state.doubt();\n    this.#turn.abort();\n', '']],
    killedBy: byTest('src/kube/went-back.test.ts', 'lists anew when it is told so by somebody who knows'),
  },
  {
    name: 'records of one Lease for another',
    defect: 'records that were read beside another Lease count for a new one',
    file: 'src/kube/leader-elector.ts',
    edits: [['lease.metadata.uid === this.#recordsReadFor', 'this.#recordsReadFor !== undefined']],
    killedBy: byTest(ELECTOR, 'reads the records anew when another Lease stands there'),
  },
  {
    name: 'absence of a Lease that stood',
    defect: 'a candidate that could not create the Lease, because another just had, counts its absence on once it is deleted',
    file: 'src/kube/leader-elector.ts',
    edits: [['error.status === 409) this.wasHeld()', 'error.status === 410) this.wasHeld()']],
    killedBy: byTest(
      'src/kube/leader-absence.test.ts',
      'waits a whole lease for one that another created right before it would have, deleted before it ever read it',
    ),
  },
  {
    name: 'absence of a Lease that was watched',
    defect: 'a Lease that a watch showed held and then deleted, between two looks of a candidate, counts as never there',
    file: 'src/manager/compose.ts',
    edits: [["if ([before, after].some((lease) => (lease?.spec.holderIdentity ?? '') !== '')) elector.wasHeld();", '']],
    killedBy: byTest('test/self-check/composed.test.ts', 'waits a whole lease where its watch saw one held'),
  },
  {
    name: 'heir of a deleted Lease at once',
    defect: 'a Lease that is gone is made anew at once, while a paused leader may still believe in it',
    file: 'src/kube/lease-record.ts',
    edits: [['return Math.max(0, sinceMs + ownDurationMs - nowMs);', 'return 0;']],
    killedBy: byTest(LEASE, 'waits a whole lease when the Lease is deleted under its eyes, and never reuses an epoch'),
  },
  {
    name: 'first Lease at once',
    defect: 'a fresh process creates the Lease at its first look, though a restore of etcd may have taken away one whose holder still acts',
    file: 'src/kube/leader-elector.ts',
    edits: [['const waitMs = isOurs ? 0 :', 'const waitMs = isOurs || (lease === undefined && this.#highestEpoch === 0) ? 0 :']],
    killedBy: byTest(LEASE, 'creates the Lease where there is none after a whole lease, and leads with epoch 1'),
  },
  {
    name: 'taken in the moment of the stop',
    defect: 'a candidate that stops while its claim is answered leaves its name in the Lease: the successor waits a whole lease for nobody',
    file: 'src/kube/leader-elector.ts',
    edits: [['    if (!this.#mayBeNamed) return;\n', '    if (this.#actsFromMs === Number.POSITIVE_INFINITY) return;\n']],
    killedBy: byTest('src/kube/leader-stop.test.ts', 'empties a Lease that it took in the moment of its release'),
  },
  {
    name: 'given back below the records',
    defect: 'a leader that found a higher epoch gives its Lease back with its own',
    file: 'src/kube/leader-elector.ts',
    edits: [['this.#options.clock, this.#highestEpoch)', 'this.#options.clock)']],
    killedBy: byTest(ELECTOR, 'says in the Lease that it gives back which epoch it found above its own'),
  },
  {
    name: 'deposed in silence',
    defect: 'a leader that finds a higher epoch leads on, decides nothing and says nothing',
    file: 'src/domain/rows/any.ts',
    edits: [
      [
        "return { stepDown: { epoch: epochOf(status), message }, events: [event('Warning', 'NewerLeaderFound', message)] };",
        'return message === "" ? { status } : {};',
      ],
    ],
    killedBy: byTest(AUTOMATON, 'does nothing when a newer leader has written, says so and gives up its Lease'),
  },
  {
    name: 'stands aside by word only',
    defect: 'what the automaton says of a newer leader is told and not carried out',
    file: 'src/controllers/fence/controller.ts',
    edits: [['this.#dependencies.stepDown?.(found);', '']],
    killedBy: byTest('src/controllers/fence/stand-aside.test.ts', 'gives up its Lease, once, counts the problem and writes nothing'),
  },
  {
    name: 'records not read',
    defect: 'the controller is composed without the records of earlier leaders',
    file: 'src/controllers/fence/records.ts',
    edits: [['Math.max(highest, epochOf(status))', 'Math.min(highest, epochOf(status))']],
    killedBy: byTest('src/controllers/fence/records.test.ts', 'is the highest epoch of all fences, wherever it stands among them'),
  },
  {
    name: 'explained under another epoch',
    defect: 'explain decides under an epoch that the leader does not have',
    file: 'src/cli/commands/explanation.ts',
    edits: [['leader.isAlive ? leader.epoch :', '']],
    killedBy: byTest('src/cli/commands/explanation.test.ts', 'uses the epoch of the leader, as the leader does'),
  },
  {
    name: 'slip of a hand as a leader',
    defect: 'an epoch that no Lease can count to ends all fencing',
    file: 'src/domain/epoch.ts',
    edits: [['epoch <= EPOCH_MAX ? epoch : 0', 'epoch <= EPOCH_MAX ? epoch : epoch']],
    killedBy: byTest(AUTOMATON, 'takes an epoch that no Lease can count to for a slip of a hand, not for a leader'),
  },
  {
    name: 'kept by another in silence',
    defect: 'a NodeFence that a foreign finalizer keeps is waited for without a word',
    file: 'src/domain/rows/closing.ts',
    edits: [['if (status.message === KEPT_BY_ANOTHER) return {};', 'if (status.message !== KEPT_BY_ANOTHER) return {};']],
    killedBy: byTest(AUTOMATON, 'tells that a finalizer of somebody else keeps a NodeFence that is being deleted, once'),
  },
  {
    name: 'cordon left in silence',
    defect: 'what a deleted NodeFence leaves behind in observe mode is not told',
    file: 'src/domain/rows/closing.ts',
    edits: [["if (left === '') return { removeFinalizer: true };", 'if (left.length >= 0) return { removeFinalizer: true };']],
    killedBy: byTest(AUTOMATON, 'tells what stays cordoned when --mode observe lets a deleted NodeFence go'),
  },
];
