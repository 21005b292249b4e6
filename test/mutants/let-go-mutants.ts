import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const STEPS = 'src/domain/release-steps.test.ts';
const WAITED = 'src/domain/waited-proof.test.ts';
const OBSERVATION = 'src/controllers/fence/observation.test.ts';
const ISOLATION = 'src/controllers/fence/release/isolation.test.ts';
const BATCHES = 'src/controllers/fence/release/batches.test.ts';
const PODS = 'src/controllers/shared/release/pods.test.ts';
const END = 'src/controllers/fence/release/end.test.ts';
const EVICTIONS = 'src/controllers/remedies/evictions.test.ts';
const END_FILE = 'src/controllers/fence/release/end.ts';
const RELEASE_FILE = 'src/controllers/fence/release/release.ts';
const PODS_FILE = 'src/controllers/shared/release/pods.ts';

/** Defects of what a release rests on, and of what it makes of pods and volumes. */
export const LET_GO_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'release that nobody could read back',
    defect:
      'a release that a crash cut off, and that could not be read back, is on no record: on a sign of life its machine is switched on by itself',
    file: END_FILE,
    edits: [['return { ...failureOf(error), ...mayHaveGone };', 'return failureOf(error);']],
    killedBy: byTest(END, 'counts as begun where nobody can read what came of it: auto'),
  },
  {
    name: 'volumes kept and forgotten',
    defect: 'a volume that was refused once is never asked for again: it stays attached to a machine that is off, and the on waits for it',
    file: 'src/domain/program.ts',
    edits: [['(released?.left ?? 0) + (released?.keptVolumes?.length ?? 0)', 'released?.left ?? 0']],
    killedBy: byTest(STEPS, 'gives up volumes that are kept, release_timeout after the last pod was let go, and says of each once what keeps it'),
  },
  {
    name: 'volumes kept asked for at each pass',
    defect: 'a volume that is kept is asked for without a pause, its device read each time',
    file: 'src/domain/advance.ts',
    edits: [['areVolumesKept ? workload.volumeAttachments === 0 : workload.pods === 0', 'workload.pods === 0']],
    killedBy: byTest(STEPS, 'gives up volumes that are kept, release_timeout after the last pod was let go, and says of each once what keeps it'),
  },
  {
    name: 'word void for a volume',
    defect: 'a word counts no more because one volume is kept behind the pods that it let go: a critical alarm for nothing',
    file: 'src/domain/acknowledgement.ts',
    edits: [['leftIn(released) === 0', '(released.left ?? 0) === 0']],
    killedBy: byTest('src/domain/acknowledgement.test.ts', 'is weighed anew by the workload that it was let go on, while a volume is kept'),
  },
  {
    name: 'detached again while it goes',
    defect: 'a volume that is being detached is asked for again with each volume that is kept',
    file: 'src/domain/release-plan.ts',
    edits: [['attachments.filter(({ isTerminating }) => isTerminating !== true)', 'attachments']],
    killedBy: byTest('src/controllers/fence/release/detach.test.ts', 'are not asked for again while they are being detached'),
  },
  {
    name: 'proof of another level',
    defect: 'a level lets the workload go on what an earlier one has proven, and reads something else before it',
    file: 'src/domain/advance.ts',
    edits: [["(isHere || proof.kind === 'ack')", "(isHere || proof.kind !== 'kdump')"]],
    killedBy: byTest(WAITED, 'permits nothing either on what an earlier level has proven, for this one does not read that anew'),
  },
  {
    name: 'time of what is not admitted',
    defect: 'a release counts its time from a later read that its plan does not admit as a proof',
    file: 'src/controllers/fence/observation.ts',
    edits: [['const proof = proofIn(evidence);', 'const proof = evidence.findLast(({ voidedAt }) => voidedAt === undefined);']],
    killedBy: byTest(OBSERVATION, 'is not that of what the plan does not admit, which came after it'),
  },
  {
    name: 'silence of a dump',
    defect: 'a device of unverified identity is believed sooner because the kernel had dumped before its off',
    file: 'src/controllers/fence/observation.ts',
    edits: [['item.grade === proof?.grade && ', '']],
    killedBy: byTest(OBSERVATION, 'has no silence from before the off: a kernel that dumps is silent anyway (["power-off","kdump"])'),
  },
  {
    name: 'bound to no boot',
    defect: 'the boot whose pods were let go by revoked storage is not recorded, and another one stays shut out of it too',
    file: RELEASE_FILE,
    edits: [['storages: all, ...(bootID === undefined ? {} : { bootID }) }', 'storages: all }']],
    killedBy: byTest(ISOLATION, 'frees that alone, of the pods that the API server has now, and binds this boot to its storage'),
  },
  {
    name: 'first storage forgotten',
    defect: 'a storage by which an earlier batch was let go is bound to its boot no more',
    file: RELEASE_FILE,
    edits: [['...(storageRelease?.storages ?? []), ...storages', '...storages']],
    killedBy: byTest(ISOLATION, 'adds to what was let go before, and keeps its storages: the boot stays bound to all of them'),
  },
  {
    name: 'one refused binds nothing',
    defect: 'a pod that revoked storage let go is not recorded where another one was refused',
    file: RELEASE_FILE,
    edits: [['freed.length + kept.length === 0', 'freed.length - kept.length === 0']],
    killedBy: byTest(ISOLATION, 'binds this boot where of two pods one was let go and one was refused'),
  },
  {
    name: 'batch in vain',
    defect: 'a batch that let nothing go counts, and puts the end of a release off for ever',
    file: RELEASE_FILE,
    edits: [['(isFurther ? 1 : 0)', '1']],
    killedBy: byTest(BATCHES, 'that only asks in vain is none: it does not put off the end of the release'),
  },
  {
    name: 'too many kept',
    defect: 'more kept pods are told than a NodeFence takes, and its status is refused',
    file: RELEASE_FILE,
    edits: [['{ kept: kept.slice(0, LIMITS.podNames) }', '{ kept }']],
    killedBy: byTest(BATCHES, 'tells no more of those that were kept than a NodeFence takes'),
  },
  {
    name: 'deleted twice',
    defect: 'pods that batches have let go are deleted again behind the taint',
    file: RELEASE_FILE,
    edits: [['what.taken.filter((pod) => !progress.freed.includes(pod) && !progress.gone.includes(pod))', 'what.taken']],
    killedBy: byTest(BATCHES, 'of one pod that a finalizer keeps, or that is gone, asks for nothing again'),
  },
  {
    name: 'late though it stands',
    defect: 'a pod that nobody answered for counts as released although it still stands',
    file: RELEASE_FILE,
    edits: [['isUnsure === true && !standing.has(pod)', 'isUnsure === true']],
    killedBy: byTest(BATCHES, 'counts of those nobody had answered for the ones that are gone, and no others'),
  },
  {
    name: 'refused for ever remembered',
    defect: 'pods that were refused are remembered after they are gone',
    file: RELEASE_FILE,
    edits: [['    order.asked.keepOnly([...what.pods, ...what.attachments]);\n', '']],
    killedBy: byTest(BATCHES, 'forgets those that it was refused once they are gone'),
  },
  {
    name: 'taint that nobody heeds',
    defect: 'an old Kubernetes gets an out-of-service taint, which lets nothing go there',
    file: RELEASE_FILE,
    edits: [["(hasOutOfService ? 'out-of-service' : 'delete-pods')", "'out-of-service'"]],
    killedBy: byTest(BATCHES, 'a release deletes pods where Kubernetes knows no out-of-service taint'),
  },
  {
    name: 'sent for what is over',
    defect: 'a deletion that waited for a socket leaves after its operation has ended, for which alone its intent stood',
    file: PODS_FILE,
    edits: [['if (!waitedFor.has(pod))', 'if (pod.name === "")']],
    killedBy: byTest(PODS, 'outlives its operation, and one that had not left by then never does'),
  },
  {
    name: 'still running is released',
    defect: 'a pod that was to go by force, and whose kubelet was only asked to end it, counts as released',
    file: PODS_FILE,
    edits: [['(isGraceful || deletionGracePeriodSeconds === 0)', '(isGraceful || deletionGracePeriodSeconds !== undefined)']],
    killedBy: byTest(PODS, 'because of an error, and it is deleted with a grace (force)'),
  },
  {
    name: 'namesake for the pod',
    defect: 'another pod that took the name of the one that was deleted counts as that one, refused',
    file: PODS_FILE,
    edits: [['(uid !== undefined && standing.metadata.uid !== uid)', '(uid === undefined && standing.metadata.uid !== uid)']],
    killedBy: byTest(PODS, 'because of a conflict with another of its name (force)'),
  },
  {
    name: 'detaching goes on',
    defect: 'deletions of VolumeAttachments go on behind a release that ended with the refusal of one',
    file: 'src/controllers/fence/release/detach.ts',
    edits: [['  await Promise.allSettled(calls);\n', '']],
    killedBy: byTest('src/controllers/fence/release/detach.test.ts', 'are all answered for before the release ends, though one of them is refused'),
  },
  {
    name: 'no pace while none answers',
    defect: 'pods go without any pace where each deletion takes longer than it is waited for',
    file: RELEASE_FILE,
    edits: [['freed.length > 0 || isUnderWay ||', 'freed.length > 0 ||']],
    killedBy: byTest(BATCHES, 'that is not answered yet has had its turn in the pace, once'),
  },
  {
    name: 'pace of answered evictions',
    defect: 'an eviction whose answer takes long is not counted by pods_per_minute',
    file: 'src/controllers/remedies/evictions.ts',
    edits: [['course.freed.includes(pod) || memory.asked.isAwaited(pod)', 'course.freed.includes(pod)']],
    killedBy: byTest(EVICTIONS, 'pods_per_minute is kept where each answer takes longer than it is waited for'),
  },
  {
    name: 'refused taint for set',
    defect: 'a taint that the API server refused counts as one that may have been set: its pods as released',
    file: 'src/controllers/fence/release/out-of-service.ts',
    edits: [['if (isUnanswered(error)) taintMayBeSet();', 'taintMayBeSet();']],
    killedBy: byTest(END, 'a taint that the API server refuses lets nothing go'),
  },
  {
    name: 'storages of before a crash',
    defect: 'a release in isolation that a crash cut off forgets the storages of its batches before',
    file: END_FILE,
    edits: [['...(storageRelease?.storages ?? []), ...(proof.storages ?? [])', '...(proof.storages ?? [])']],
    killedBy: byTest(END, 'in isolation binds the storages of before as well, and every boot where none is known'),
  },
  {
    name: 'timed out, and detached',
    defect: 'a release whose last volume was detached is recorded as one that timed out',
    file: END_FILE,
    edits: [['left === undefined ? { volumesDetachedAt: timestamp(clock) } : { timedOut: true }', '{ timedOut: true }']],
    killedBy: byTest(END, 'says when the last volume was detached, beside what was released'),
  },
  {
    name: 'gentle by force',
    defect: 'a pod whose kubelet lives is evicted without the grace that it asks for',
    file: PODS_FILE,
    edits: [['    ...(isForced ? { gracePeriodSeconds: 0 } : {}),', '    gracePeriodSeconds: 0,']],
    killedBy: byTest(PODS, 'by evict, as {}, is asked for in no other way'),
  },
  {
    name: 'tolerated for no time',
    defect: 'a pod that tolerates our taint for no second at all is left to the next round of the garbage collector',
    file: 'src/controllers/shared/release/pod-facts.ts',
    edits: [['seconds !== undefined && seconds > 0', 'seconds !== undefined']],
    killedBy: byTest(
      'src/controllers/shared/release/pod-facts.test.ts',
      'a pod stays behind the out-of-service taint no: {"key":"node.kubernetes.io/out-of-service","operator":"Exists","tolerationSeconds":0}',
    ),
  },
  {
    name: 'detached against a stop',
    defect: 'a VolumeAttachment is deleted without asking in the turn of its send for a stop, a sign of life or the lease',
    file: 'src/controllers/fence/release/detach.ts',
    edits: [['{ ...how, uid }', '{ uid }']],
    killedBy: byTest('src/controllers/fence/release/detach.test.ts', 'stay when a stop comes before their deletion leaves'),
  },
  {
    name: 'taint of a fence that the watch does not show',
    defect: 'our taint is taken back in the midst of a release whose NodeFence a watch that is late does not show',
    file: 'src/controllers/fence/release/orphan-taint.ts',
    edits: [['!this.#isUnrecorded(standing, fence)) return;', '!this.#isUnrecorded(standing, undefined)) return;']],
    killedBy: byTest(
      'src/controllers/fence/release/orphan-taint.test.ts',
      'is left to a fence that the API server has, and our watch does not show yet',
    ),
  },
  {
    name: 'orphaned taint for ever',
    defect: 'the time after which a taint of ours that no fence knows of goes in any case begins anew with each look',
    file: 'src/controllers/fence/release/orphan-taint.ts',
    edits: [['if (!isOrphan) this.#seenAtMs', 'this.#seenAtMs']],
    killedBy: byTest('src/controllers/fence/release/orphan-taint.test.ts', 'waits for volumes, and no longer than release_timeout'),
  },
  {
    name: 'old read for a new one',
    defect: 'what rests on a read of a device leaves however long ago that was',
    file: 'src/controllers/shared/release/proof-age.ts',
    edits: [['ageMs > RELEASE_WRITES_WITHIN_MS', 'ageMs > 2 * RELEASE_WRITES_WITHIN_MS']],
    killedBy: byTest(
      'src/controllers/shared/release/proof-age.test.ts',
      'what rests on a read of a device leaves within four seconds of it, and not later',
    ),
  },
  {
    name: 'a batch for each that is made anew',
    defect: 'pods that somebody makes anew on the node have a batch each: the release has no end, and the machine stays off',
    file: 'src/domain/release-plan.ts',
    edits: [['isToGo(pod) && !isMadeSince(pod)', 'isToGo(pod)']],
    killedBy: byTest(
      BATCHES,
      'is for no pod that was made on this very node since the release began: whoever makes it anew would have one for each, without an end',
    ),
  },
  {
    name: 'let go as it was seen last',
    defect: 'where the watch of pods hangs, pods that it does not show are neither let go nor waited for, and the release is told as complete',
    file: 'src/controllers/fence/workload.ts',
    edits: [['if (!isWorkloadUnsure(dependencies))', 'if (!isWorkloadUnsure(dependencies) || node !== undefined)']],
    killedBy: byTest(
      'src/controllers/fence/release/hanging-watch.test.ts',
      'where the watch of pods hangs a release lets go what the API server has, not what was seen last',
    ),
  },
  {
    name: 'over, as far as it was seen',
    defect: 'a release ends because watches that hang show nothing: the machine is switched on while its pods are still being deleted',
    file: 'src/domain/advance.ts',
    edits: [['if (workload.isUnsure === true) return isOver;', '']],
    killedBy: byTest(STEPS, 'a release whose watches hang is not over because they show nothing: it ends with release_timeout'),
  },
  {
    name: 'come since it recovered',
    defect:
      'pods that have come to a node since it recovered are not let go when its storage is closed again: an older release had begun before them',
    file: 'src/controllers/fence/release/release.ts',
    edits: [['entry.step === step && entry.restart === restarts && entry.finishedAt', 'entry.step === step && entry.finishedAt']],
    killedBy: byTest(
      ISOLATION,
      'is for what has come to the node since it recovered, and for nothing that is made there anew and anew since the release began',
    ),
  },
];
