import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const BY_FORCE = 'src/controllers/fence/removed-by-force.test.ts';
const LEFT_TAINT = 'src/domain/left-taint.test.ts';
const NAMESAKE = 'src/controllers/fence/run/namesake.test.ts';
const LOST = 'src/controllers/fence/lost-fences.test.ts';
const LOST_FILE = 'src/controllers/fence/lost-fences.ts';
const STORAGE = 'src/domain/storage-opening.test.ts';
const CORDON = 'src/controllers/fence/release/orphan-cordon.test.ts';
const CORDON_FILE = 'src/controllers/fence/release/orphan-cordon.ts';

/** Defects where a NodeFence is taken away by force while it is at work, and another has its name. */
export const REMOVED_BY_FORCE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'sent off the record',
    defect: 'an off is sent whose NodeFence was taken away, with its intent, before it had left',
    file: 'src/controllers/fence/run/permission.ts',
    edits: [['if (!this.#isOnRecord(node, entry)) throw notSent(entry, UNRECORDED);', '']],
    killedBy: byTest(BY_FORCE, 'was made anew before it has left is not sent'),
  },
  {
    name: 'record of another name',
    defect: 'the controller does not say where the intent of a call must stand',
    file: 'src/controllers/fence/controller.ts',
    edits: [['this.#acknowledgements, against, recordOf);', 'this.#acknowledgements, against);']],
    killedBy: byTest(BY_FORCE, 'is gone before it has left is not sent'),
  },
  {
    name: 'begun beside a run',
    defect: 'a NodeFence that was made anew begins while the off of the one before is on its way',
    file: 'src/domain/automaton.ts',
    edits: [["  if (snapshot.inFlight.size > 0) return { row: 'in-flight', events: [], requeueAtMs: snapshot.nowMs + RUN_ENDS_MS };\n", '']],
    killedBy: byTest(LEFT_TAINT, 'a NodeFence that was made anew begins nothing, be it to be let go or of no Node'),
  },
  {
    name: 'unknown run overlooked',
    defect: 'a status that was taken back to before sends a second off while the first is on its way',
    file: 'src/domain/rows/any.ts',
    edits: [
      [
        'applies: ({ snapshot }) => snapshot.inFlight.size > 0,',
        'applies: ({ status, snapshot }) => openEntries(status).some(({ id }) => snapshot.inFlight.has(id)),',
      ],
    ],
    killedBy: byTest(LEFT_TAINT, 'one whose status was taken back to before sends nothing'),
  },
  {
    name: 'released for another fence',
    defect: 'while our watch is late, pods are let go on what was proven for a NodeFence that is gone',
    file: 'src/controllers/fence/release/order.ts',
    edits: [['if (fence?.metadata.uid !== order.fenceUID) throw', 'if (order.fenceUID === order.node) throw']],
    killedBy: byTest(NAMESAKE, 'and was made anew lets nothing go on what was proven for it'),
  },
  {
    name: 'unknown taint not recorded',
    defect: 'a taint of ours that no record knows of keeps its node from every on, for ever',
    file: 'src/domain/journal.ts',
    edits: [['if (report.taintFound !== undefined) next.restore = { ...next.restore, taints: [report.taintFound] };', '']],
    killedBy: byTest(LEFT_TAINT, 'is taken back before the on that it kept from being sent'),
  },
  {
    name: 'taint of somebody found',
    defect: 'a taint of somebody else that keeps a node from an on is put on record as ours',
    file: 'src/controllers/fence/run/permission.ts',
    edits: [["if (taintOwnerOf(standing) === 'ours') this", "if (taintOwnerOf(standing) !== 'nobody') this"]],
    killedBy: byTest(NAMESAKE, 'keeps its node from an on, and is on record from then on'),
  },
  {
    name: 'seen in the one before',
    defect: 'what a NodeFence waits for counts from a sight of the one that had its name',
    file: 'src/controllers/fence/observation.ts',
    edits: [["['position', [status.fenceUID, status.incident,", "['position', [status.incident,"]],
    killedBy: byTest('src/controllers/fence/observation.test.ts', 'is seen anew in a NodeFence that was made anew, however alike'),
  },
  {
    name: 'off forgotten by force',
    defect: 'nobody is told what a NodeFence had switched off that was taken away by force',
    file: 'src/controllers/fence/controller.ts',
    edits: [['if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#lost.gone(before);', '']],
    killedBy: byTest(BY_FORCE, 'is gone once its result stands, and nothing is written of it any more'),
  },
  {
    name: 'last result forgotten by force',
    defect: 'what came of the last run is not told, for its NodeFence is missed before the watch says so',
    file: 'src/controllers/fence/fence-objects.ts',
    edits: [['if (before !== undefined && before.metadata.uid !== fresh?.metadata.uid) this.#lost.missed(before);', '']],
    killedBy: byTest(BY_FORCE, 'is gone, which is heard only when its result cannot be written'),
  },
  {
    name: 'finalizer that stays away',
    defect: 'a NodeFence at work whose finalizer was taken away is deleted with all that it has switched off',
    file: 'src/controllers/fence/controller.ts',
    edits: [[' || isUnclaimed(fence, decision);', ' && !isUnclaimed(fence, decision);']],
    killedBy: byTest(
      'src/controllers/fence/beside-the-fence.test.ts',
      'has it back before it does anything more, but where it is being deleted, or over',
    ),
  },
  {
    name: 'deleted behind its finalizer',
    defect: 'nobody is told of a NodeFence at work whose finalizer was taken away before it was deleted',
    file: LOST_FILE,
    edits: [
      [
        'if (status?.frozen === undefined || !(isOurs',
        "if (status?.frozen === undefined || fence.metadata.finalizers?.includes('nodefence.ha.k8s.io/fence') !== true || !(isOurs",
      ],
    ],
    killedBy: byTest(LOST, 'is told where its finalizer was taken away first, and it was deleted after that'),
  },
  {
    name: 'fence that says another node',
    defect: 'a NodeFence that bears the name of one node and says another fences the one whose name it bears',
    file: 'src/controllers/fence/known-fences.ts',
    edits: [
      ['if (fence === undefined || fence.spec.node === node) return fence;', 'if (fence?.metadata.deletionTimestamp === undefined) return fence;'],
    ],
    killedBy: byTest(
      'src/controllers/fence/misnamed.test.ts',
      'and says another node, fences neither of them, whatever it asks for: that is told once',
    ),
  },
  {
    name: 'deleted from under a request',
    defect: 'a NodeFence that is over is deleted although somebody has asked for it since it was let go',
    file: 'src/controllers/fence/fence-objects.ts',
    edits: [['({ resourceVersion } = free.metadata);', 'if (free.metadata.uid === undefined) ({ resourceVersion } = free.metadata);']],
    killedBy: byTest('src/controllers/fence/fence-objects.test.ts', 'is deleted as it was let go: one that somebody asks for by then stays'),
  },
  {
    name: 'taken for older than it is',
    defect: 'where nobody knows whether a write arrived, the next pass builds on what a watch shows that is behind',
    file: 'src/controllers/fence/fence-objects.ts',
    edits: [['    await this.settle(node);', '    this.#known.forget(node); await this.settle(node);']],
    killedBy: byTest(
      'src/controllers/fence/fence-objects.test.ts',
      'is never taken for older than what was written before, and is read before the next pass',
    ),
  },
  {
    name: 'kept from the off by a word',
    defect: 'an acknowledgement that the API server does not let go keeps its node from every fence, for ever',
    file: 'src/controllers/fence/controller.ts',
    edits: [['await aside(this.#acknowledgements.settle(name, fence, bootID));', 'await this.#acknowledgements.settle(name, fence, bootID);']],
    killedBy: byTest(
      'src/controllers/fence/beside-the-fence.test.ts',
      'is told and tried again, and keeps nobody from the off: a word that was settled long ago',
    ),
  },
  {
    name: 'removed by force twice',
    defect: 'a NodeFence that a write has missed is told again when the watch shows it',
    file: LOST_FILE,
    edits: [["if (!this.#over.delete(watched.metadata.uid ?? '')) this.#keep(known);", 'this.#keep(known);']],
    killedBy: byTest(LOST, 'is told once too where a write found it first'),
  },
  {
    name: 'let go and told as lost',
    defect: 'a NodeFence that this controller let go is told as removed by force',
    file: 'src/controllers/fence/lost-fences.ts',
    edits: [['if (uid !== undefined) this.#over.add(uid);', '']],
    killedBy: byTest(LOST, 'that we let go is nothing to tell'),
  },
  {
    name: 'lost by another leader',
    defect: 'a NodeFence that the leader before has let go is told as removed by force',
    file: LOST_FILE,
    edits: [['if (status?.frozen === undefined || !(isOurs || isCutShort(fence))) return;', 'if (status?.frozen === undefined) return;']],
    killedBy: byTest(LOST, 'that another leader wrote last, and that was over is nothing to tell'),
  },
  {
    name: 'lost between two leaders',
    defect: 'nobody is told of a NodeFence at work that the leader before wrote last, and that was taken away by force',
    file: LOST_FILE,
    edits: [['!(isOurs || isCutShort(fence))', '!isOurs']],
    killedBy: byTest(LOST, 'at work, that another leader wrote last, is told by the one that leads'),
  },
  {
    name: 'let go in vain',
    defect: 'a NodeFence that was to be let go, which was refused, is told by nobody when it is taken away by force later',
    file: LOST_FILE,
    edits: [['if (uid !== undefined) this.#over.delete(uid);', '']],
    killedBy: byTest(LOST, 'is told where it was to be let go, which was refused, and its status was written since'),
  },
  {
    name: 'let go for good',
    defect: 'a NodeFence that was to be let go counts as gone for good, though it was at work again',
    file: 'src/controllers/fence/controller.ts',
    edits: [['      this.#lost.stands(stored);\n', '']],
    killedBy: byTest(BY_FORCE, 'is told of when it is at work again and is removed by force'),
  },
  {
    name: 'last intent of a lost fence',
    defect: 'an off that was on its way when its leader ended is not told where its NodeFence was taken away by force',
    file: LOST_FILE,
    edits: [[', ...open.map((entry) => `${named(entry)} may be off or closed`)]', ']']],
    killedBy: byTest(LOST, 'is told with an off of which nobody has heard the end'),
  },
  {
    name: 'closed storage of a lost fence forgotten',
    defect: 'a NodeFence is taken away by force before its report says to which boot storage is closed, and the next one opens it',
    file: LOST_FILE,
    edits: [['if (isToTell && revokedBy(status) !== undefined &&', 'if (isToTell && revokedBy(status) === undefined &&']],
    killedBy: byTest(
      LOST,
      'has its boot on record whose pods were let go on closed storage, before it is told, and is asked about again where that is refused',
    ),
  },
  {
    name: 'closed storage recorded late',
    defect: 'the report of the node says only once isolation is over to which boot storage is closed, when pods are gone and the NodeFence may be',
    file: 'src/controllers/fence/controller.ts',
    edits: [['isDeleted || revokedBy(stored.status) !== undefined', 'isDeleted']],
    killedBy: byTest(BY_FORCE, 'stands in the report of its node from when the release begins, and the next NodeFence knows of it'),
  },
  {
    name: 'storage opened to the boot of a lost fence',
    defect: 'pods run elsewhere because storage was closed to a boot; the NodeFence was removed by force, and the next one opens it to that boot',
    file: 'src/domain/rows/beginning.ts',
    edits: [['    ...(storageRelease === undefined ? {} : { storageRelease }),\n', '']],
    killedBy: byTest(STORAGE, 'stays closed for the same boot where pods were let go and the NodeFence was removed by force, once it is known'),
  },
  {
    name: 'storage of another boot bound',
    defect: 'a node that has booted anew is power-cycled, for storage was closed to a boot of it long ago',
    file: 'src/domain/rows/beginning.ts',
    edits: [['revoked !== undefined && mayWriteThere(node, { storageRelease: revoked })', 'revoked !== undefined']],
    killedBy: byTest(
      STORAGE,
      'is opened for another boot, and for the same one where nothing was let go, whatever NodeFence was removed by force before',
    ),
  },
  {
    name: 'begun release unrecorded',
    defect: 'a release that had begun when its NodeFence was removed by force counts as none, and storage is opened to its boot',
    file: 'src/domain/incident-record.ts',
    edits: [['return begun?.bootID === undefined ? undefined :', 'return begun?.bootID === undefined || begun.result === undefined ? undefined :']],
    killedBy: byTest(
      STORAGE,
      'stays closed for the same boot where pods were let go and the NodeFence was removed by force, while nobody has said yet what came of the release',
    ),
  },
  {
    name: 'lost in mid-run',
    defect: 'what a NodeFence left is told before its last run has ended, which does more',
    file: LOST_FILE,
    edits: [['if (lost?.fence.status === undefined || inFlight.size > 0) return false;', 'if (lost?.fence.status === undefined) return false;']],
    killedBy: byTest(LOST, 'and that nobody let go is told once, with what of it is left'),
  },
  {
    name: 'older record of a lost fence',
    defect: 'what we wrote last of a NodeFence is not told when it is gone before the watch has shown it',
    file: 'src/controllers/shared/own-writes.ts',
    edits: [['return version(own) > version(watched) ? own : watched;', 'return watched;']],
    killedBy: byTest(LOST, 'is told as we wrote it last, which the watch had not shown'),
  },
  {
    name: 'orphaned cordon for ever',
    defect: 'a cordon of ours that no NodeFence knows of stays, and nobody is told',
    file: 'src/controllers/fence/release/orphan-cordon.ts',
    edits: [['const isLeft = isMarkedByUs(node) && isUnknownTo(fence)', 'const isLeft = node === undefined && isUnknownTo(fence)']],
    killedBy: byTest(CORDON, 'is taken back from a Ready node, with all that came with it'),
  },
  {
    name: 'cordon of a fence at work lifted',
    defect: 'the cordon of a fence that goes on is taken back where the node is Ready',
    file: CORDON_FILE,
    edits: [[" || status.state === 'final' || status.journal.length === 0;", ' || status.journal.length >= 0;']],
    killedBy: byTest(CORDON, 'of a fence that goes on stays, and nothing is told'),
  },
  {
    name: 'cordon left on purpose lifted',
    defect: 'the cordon that a fence was left with is taken back',
    file: CORDON_FILE,
    edits: [['metadata.deletionTimestamp !== undefined || status?.restore?.cordoned === true', 'metadata.deletionTimestamp !== undefined']],
    killedBy: byTest(CORDON, 'of one that was left with it stays, and nothing is told'),
  },
  {
    name: 'cordon of a fence unseen lifted',
    defect: 'while our watch of NodeFences is late, the cordon of a fence of the leader before is taken back',
    file: CORDON_FILE,
    edits: [['node.metadata.uid !== uid || !isUnknownTo(fence) ?', 'node.metadata.uid !== uid ?']],
    killedBy: byTest(CORDON, 'of one that our watch does not show yet stays, and nothing is told'),
  },
  {
    name: 'cordon of a failed node lifted',
    defect: 'a cordon of ours that no NodeFence knows of is taken back from a node that has failed',
    file: CORDON_FILE,
    edits: [[" && isUnknownTo(fence) && readyOf(node)?.status === 'True';", ' && isUnknownTo(fence) && readyOf(node) !== undefined;']],
    killedBy: byTest(CORDON, 'of a node that has failed stays, and nothing is told'),
  },
  {
    name: 'cordon before closed storage lifted',
    defect: 'pods come to a node whose storage may be closed, for its cordon was taken back',
    file: CORDON_FILE,
    edits: [['if (mayHaveClosed(planner.planFor(node))) {', "if (mayHaveClosed(planner.planFor(node)) && name === '') {"]],
    killedBy: byTest(CORDON, 'stays where the fence may have closed storage to the node, which a person is told once'),
  },
];
