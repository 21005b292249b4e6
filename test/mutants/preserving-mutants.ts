import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const GATED = 'src/manager/preservation/gated-preservation.test.ts';
const PRESERVATION_SHELL = 'test/preservation/shell.test.ts';
const PROOF_READ_ANEW = 'test/preservation/proof-read-anew.test.ts';
const HELD_BACK = 'test/preservation/held-back.test.ts';
const CONSISTENT_PROOF = 'src/controllers/preservation/consistent-proof.test.ts';
const WRITE = 'src/controllers/preservation/write.test.ts';
const FENCING = 'test/preservation/fencing.test.ts';
const TWO_CLUSTERS = 'test/preservation/two-clusters.test.ts';
const FENCED_STOP = 'test/preservation/fenced-stop.test.ts';

/** Defects of the preservation of machines, beside those of preservation-mutants.ts. */
export const PRESERVING_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'released with its Node object',
    defect: 'a Failed machine that its Node asked to be kept is deleted when that Node object is gone',
    file: 'src/controllers/preservation/marks.ts',
    edits: [["marks.machine ?? marks.lastApplied ?? ''", "marks.machine ?? ''"]],
    killedBy: byTest('test/preservation/own-mode.test.ts', 'is kept until its time is over, and said to have lost its node'),
  },
  {
    name: 'Machine deleted against a stop',
    defect: 'a Machine is deleted although a stop stands',
    file: 'src/controllers/preservation/write.ts',
    edits: [['if (stop !== undefined) throw new Error(stop);', '']],
    killedBy: byTest(PRESERVATION_SHELL, 'deletes no Machine and forces no drain while a person’s stop stands'),
  },
  {
    name: 'volumes waited for too early',
    defect: 'the wait for the volumes of a Machine begins before its proof stands',
    file: 'src/controllers/preservation/write.ts',
    edits: [['if (doubt !== undefined) throw new Error(`node', "if (doubt === '') throw new Error(`node"]],
    killedBy: byTest(PROOF_READ_ANEW, 'has these two minutes from when its proof stands'),
  },
  {
    name: 'Machine deleted again and again',
    defect: 'a Machine is deleted again and again while its watch is deaf',
    file: 'src/controllers/preservation/write.ts',
    edits: [['if (await this.#isDeleted(target)) this.#unlessDone', 'if (target.name === "") this.#unlessDone']],
    killedBy: byTest(HELD_BACK, 'does not delete a Machine again and again that its finalizer keeps, and tells it once'),
  },
  {
    name: 'fence asked for again and again',
    defect: 'an Event tells again and again that a machine is switched off while the watch of fences is deaf',
    file: 'src/controllers/preservation/write.ts',
    edits: [['this.#unlessDone(done, ', 'if (done === "") this.#unlessDone(done, ']],
    killedBy: byTest(HELD_BACK, 'does not ask for a fence again and again'),
  },
  {
    name: 'Machine deleted beside its Node',
    defect: 'a Machine is deleted of whose Node nothing was proven',
    file: 'src/controllers/preservation/write.ts',
    edits: [['if (provenOff === undefined && nodeName !== undefined && (await', 'if (provenOff !== undefined && nodeName !== undefined && (await']],
    killedBy: byTest(PRESERVATION_SHELL, 'preserves automatically within the maximum of the pool, and terminates the other on proof'),
  },
  {
    name: 'Machine of any version deleted',
    defect: 'a Machine is deleted although it has changed since it was read',
    file: 'src/controllers/preservation/write.ts',
    edits: [['      ...(resourceVersion !== undefined && { resourceVersion }),\n', '']],
    killedBy: byTest(WRITE, 'is done to the Machine as it was when it was decided upon'),
  },
  {
    name: 'Node of the name switched off',
    defect: 'the Node that took the name is switched off',
    file: 'src/controllers/preservation/write.ts',
    edits: [['if (node?.metadata.uid !== target.uid) throw new Conflict(`another Node', 'if (node === undefined) throw new Conflict(`another Node']],
    killedBy: byTest(WRITE, 'is not done to the Node that has come under the name of the one that is to be switched off'),
  },
  {
    name: 'taken and switched off',
    defect: 'a node that somebody else has is switched off',
    file: 'src/controllers/preservation/write.ts',
    edits: [["if (outcome.kind === 'taken') {", "if (outcome.kind === 'taken' && outcome.by === '') {"]],
    killedBy: byTest(PROOF_READ_ANEW, 'another who has the node is seen though no watch tells it: it is waited for, and told who it is'),
  },
  {
    name: 'written beside a manager',
    defect: 'beside a real MCM everything is written',
    file: 'src/controllers/preservation/write.ts',
    edits: [
      [
        "if (this.#dependencies.mode() === 'observe' && !isRequest(action)) {",
        "if (this.#dependencies.mode() === 'observe' && action.kind === 'power-off') {",
      ],
    ],
    killedBy: byTest('test/preservation/write.test.ts', 'beside a real MCM is refused unless it is a request, whatever was decided'),
  },
  {
    name: 'proof of another boot',
    defect: 'the proof of a boot that is over counts for the next',
    file: 'src/controllers/preservation/fence-proof.ts',
    edits: [['return isOther ? {', 'return isOther && facts.isOpen ? {']],
    killedBy: byTest(PRESERVATION_SHELL, 'does not take the proof of an earlier boot for one of this'),
  },
  {
    name: 'proof of a living Node',
    defect: 'a Node that is Ready counts as proven off',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [["if (ready === 'True') return 'the node is Ready';", '']],
    killedBy: byTest(PROOF_READ_ANEW, 'right before a Machine is deleted a node that is Ready again is seen though no watch tells it'),
  },
  {
    name: 'proof of another Node',
    defect: 'the proof of a Node that is gone counts for the one under its name',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [["if (standing?.metadata.uid !== node.uid) return 'its Node", "if (standing === undefined) return 'its Node"]],
    killedBy: byTest(CONSISTENT_PROOF, 'is not that of a Node whose name another one has now'),
  },
  {
    name: 'renewal after the proof',
    defect: 'a renewal after the proof does not void it',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [['&& renewal !== known.renewal) return RENEWED;', '&& renewal === nowMs.toString()) return RENEWED;']],
    killedBy: byTest(PROOF_READ_ANEW, 'keeps pods from being taken by force, and it is told'),
  },
  {
    name: 'clock of the kubelet',
    defect: 'a kubelet whose clock is ahead has renewed after the proof',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [
      [
        'return isStampedAfter(lease, fence) ?',
        "return isStampedAfter(lease, fence) || (lease?.spec.renewTime ?? '') > (fence.status?.evidence.at(-1)?.observedAt ?? '') ?",
      ],
    ],
    killedBy: byTest(PROOF_READ_ANEW, 'is no sign of life after the proof: the Machine goes at once'),
  },
  {
    name: 'lease not watched',
    defect: 'a process that has not seen the Lease stand still takes it for one that does',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [['return isOfBefore ? undefined : SILENCE;', 'return undefined;']],
    killedBy: byTest(CONSISTENT_PROOF, 'needs a Lease that is seen to stand still for so long that a kubelet would have renewed it'),
  },
  {
    name: 'proof brought late',
    defect: 'a proof that a reopened watch brings counts as told at once',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [['?? -Infinity) > SILENCE_MS;', '?? -Infinity) >= 0;']],
    killedBy: byTest(CONSISTENT_PROOF, 'waits for silence where the watch was opened anew: the proof may be older than what it had of the Lease'),
  },
  {
    name: 'silence of an outage',
    defect: 'the time in which the API server was away counts as silence of the kubelet',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [['Math.max(known.sinceMs, this.#sources.listers.leases.freshSinceMs ?? known.sinceMs)', 'known.sinceMs']],
    killedBy: byTest(CONSISTENT_PROOF, 'does not count the time in which the API server was away'),
  },
  {
    name: 'stamp of the API server',
    defect: 'a renewal that no process of ours has seen is not known by the stamps of the API server',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [['&& renewedMs > fencedMs;', '&& renewedMs < fencedMs;']],
    killedBy: byTest(CONSISTENT_PROOF, 'is void where the API server has stamped the Lease after the last status of the fence'),
  },
  {
    name: 'forced drain unproven',
    defect: 'a machine that may still write is drained by force',
    file: 'src/controllers/preservation/drain.ts',
    edits: [['if (!asked.isForced || isProven) return', 'if (!asked.isForced || asked.isForced) return']],
    killedBy: byTest(FENCING, 'is not forced before a fence has proven that the node can not write'),
  },
  {
    name: 'off though Ready',
    defect: 'a Node that reports Ready counts as off',
    file: 'src/controllers/preservation/drain.ts',
    edits: [["return node.fence?.isOff === true && node.ready !== 'True';", 'return node.fence?.isOff === true;']],
    killedBy: byTest(FENCING, 'counts for nothing where the node reports Ready'),
  },
  {
    name: 'one list too long',
    defect: 'one list of Machines that nobody answers is longer than a fence waits to hear of them, so that a machine that is kept is switched off',
    file: 'src/controllers/preservation/freshness.ts',
    edits: [['FRESH_WITHIN_MS = 45_000', 'FRESH_WITHIN_MS = 30_000']],
    killedBy: byTest(PRESERVATION_SHELL, 'Machines that are not heard leave a guard unknown for a bounded time; what the Node shows counts at once'),
  },
  {
    name: 'blind standby that leads',
    defect:
      'a standby that was told of no Machines takes none for preserved in the moment in which it leads, so that a machine that is kept is switched off',
    file: 'src/controllers/preservation/waiting.ts',
    edits: [['    this.start(true);\n', '    this.#hasLed = true;\n']],
    killedBy: byTest('test/preservation/standby.test.ts', 'leaves unknown from then on, once, what of Machines it was not told'),
  },
  {
    name: 'unanswered standby that leads',
    defect: 'a standby that could not ask whether Machines are preserved takes none for preserved in the moment in which it leads',
    file: 'src/manager/preservation/gated-preservation.ts',
    edits: [['if (this.#parts.base.leadership.isLeading && this.#waiting.leads()) this.#awaitMode();', '']],
    killedBy: byTest(GATED, 'does not know for a minute from when it leads: nobody has waited for a standby that nobody answered'),
  },
  {
    name: 'fence that nobody wakes',
    defect: 'a fence that waits to hear whether its machine is preserved is not looked at when it has waited long enough',
    file: 'src/manager/preservation/gated-preservation.ts',
    edits: [['if (this.#mode === undefined) this.#notifyAll();', 'void this.#mode;']],
    killedBy: byTest(GATED, 'tells all nodes when it waits no longer: no event of a failed node would'),
  },
  {
    name: 'no word without its sets',
    defect:
      'what somebody said on a Machine is no guard until MachineSets and MachineDeployments are heard too, so that a machine that is kept is switched off',
    file: 'src/controllers/preservation/cache.ts',
    edits: [["this.kinds.Machine?.synced === true ? 'machines' : 'nodes'", "'nodes'"]],
    killedBy: byTest(TWO_CLUSTERS, 'what is said on a Machine is a guard for as long as machinesets are not heard'),
  },
  {
    name: 'refused and kept',
    defect: 'a machine whose preservation was refused holds its fence',
    file: 'src/controllers/preservation/fencing.ts',
    edits: [["if (value === 'false') return undefined;", '']],
    killedBy: byTest(PRESERVATION_SHELL, 'Machines that are not heard leave a guard unknown for a bounded time; what the Node shows counts at once'),
  },
  {
    name: 'kept past its time',
    defect: 'a machine is kept past the end of its time',
    file: 'src/controllers/preservation/fencing.ts',
    edits: [[' || isExpired(untilMs, nowMs)) return [];', ') return [];']],
    killedBy: byTest(FENCING, 'its time is over'),
  },
  {
    name: 'kept in hibernation',
    defect: 'a machine is kept while its cluster is hibernated',
    file: 'src/controllers/preservation/fencing.ts',
    edits: [["override === 'hibernated' || ", '']],
    killedBy: byTest(FENCING, 'is not held for hibernation or a rolling update'),
  },
  {
    name: 'request of others taken back',
    defect: 'what somebody else asked to be preserved is taken back',
    file: 'src/controllers/preservation/fencing.ts',
    edits: [["node.annotations[PRESERVE] === 'when-failed' ? { [PRESERVE]: undefined } : {};", '{ [PRESERVE]: undefined };']],
    killedBy: byTest(FENCING, 'what somebody else made of our request stays'),
  },
  {
    name: 'ended under an open fence',
    defect: 'a machine is ended while its fence is open',
    file: 'src/controllers/preservation/own.ts',
    edits: [['if (node?.fence?.isOpen === true) {', "if (node?.fence?.isOpen === true && node.name === '') {"]],
    killedBy: byTest(PRESERVATION_SHELL, 'leaves a node alone for as long as its fence is open, but for the bound of the hold'),
  },
  {
    name: 'old word of the Node under an open fence',
    defect: 'that the word of a Node was taken away is not taken down while its fence is open, so that a later one on its Machine is not heard',
    file: 'src/controllers/preservation/own.ts',
    edits: [['return { ...step, actions: [...step.actions, ...synced(subject)] };', 'return step;']],
    killedBy: byTest(FENCING, 'heeds a word on its Machine that comes after the word of the Node was taken away'),
  },
  {
    name: 'old end under an open fence',
    defect: 'the end of a preservation that was stopped under an open fence stands, so that who asks anew after it is not heard',
    file: 'src/controllers/preservation/own.ts',
    edits: [['const actions = stopUnderFence(subject, why);', 'const actions: Action[] = [];']],
    killedBy: byTest(FENCED_STOP, 'whoever asks anew gets the whole time, though the old end has passed'),
  },
  {
    name: 'no end under an open fence',
    defect: 'a time that is over under an open fence is forgotten, so that the word of it begins another',
    file: 'src/controllers/preservation/stop.ts',
    edits: [["new Set(['unasked', 'refused', 'recovered']);", "new Set(['unasked', 'refused', 'recovered', 'expired']);"]],
    killedBy: byTest(FENCED_STOP, 'because its time is over begins no other'),
  },
  {
    name: 'refused and sent off under an open fence',
    defect: 'a refusal sends a Machine off while its fence is open',
    file: 'src/controllers/preservation/stop.ts',
    edits: [['subject.machine === undefined && GOES.has(why)', 'GOES.has(why)']],
    killedBy: byTest(FENCING, 'is not terminated, and goes on being fenced, when the preservation ends'),
  },
  {
    name: 'word of the Machine lost in silence',
    defect: 'nobody is told that the word of a Machine was removed with that of its Node',
    file: 'src/controllers/preservation/own.ts',
    edits: [['to.machine === undefined ? lostWord(marks) : keptWord(subject, to)', "to.machine === '' ? lostWord(marks) : undefined"]],
    killedBy: byTest(FENCED_STOP, 'nobody can tell which came last where nobody looked in between'),
  },
  {
    name: 'asked for after its time',
    defect: 'nodefence preserve writes a word that counts for nothing, because an old end stands, and says that the machine is kept',
    file: 'src/cli/commands/preserve/order.ts',
    edits: [['if (isAtOnce && forMs === undefined && endMs <= nowMs) {', 'if (isAtOnce && forMs === undefined && endMs < 0) {']],
    killedBy: byTest('src/cli/commands/preserve/order.test.ts', 'now after its time, of a Machine'),
  },
  {
    name: 'surplus of the deleted',
    defect: 'Machines that are being deleted count as replicas that are too many',
    file: 'src/controllers/preservation/own.ts',
    edits: [["|| machine.isDeleting || machine.phase === 'Terminating') continue;", ') continue;']],
    killedBy: byTest('test/preservation/guide.test.ts', 'is the last to be scaled down'),
  },
  {
    name: 'Machine deleted on an old proof',
    defect: 'a Machine is deleted on a proof that is minutes old: its device is not read anew',
    file: 'src/controllers/preservation/write.ts',
    edits: [['provenOff === undefined ? undefined : await this.#readAnew(provenOff)', 'undefined']],
    killedBy: byTest(
      'test/preservation/proof-read-anew.test.ts',
      'keeps the Machine while the device reads on, tells it, and lets it go once the device is read off',
    ),
  },
  {
    name: 'Machine deleted under a stop during the read',
    defect: 'a Machine is deleted against a stop that came while its device was read',
    file: 'src/controllers/preservation/write.ts',
    edits: [['    await this.#unlessStopped(node.name);\n', '']],
    killedBy: byTest('test/preservation/proof-read-anew.test.ts', 'is no proof under a stop that came while the device was read'),
  },
  {
    name: 'write that leaves late',
    defect: 'a Machine is deleted, or pods are taken by force, long after the device was read',
    file: 'src/controllers/shared/release/proof-age.ts',
    edits: [['ageMs > RELEASE_WRITES_WITHIN_MS', 'ageMs < 0']],
    killedBy: byTest(
      'test/preservation/proof-read-anew.test.ts',
      'keeps the Machine while the device was read five seconds ago, tells it, and lets it go once the device is read off',
    ),
  },
  {
    name: 'pods by force on an old proof',
    defect: 'pods are taken by force on a proof that is minutes old: its device is not read anew',
    file: 'src/controllers/preservation/drain-run.ts',
    edits: [
      [
        "const read = await reach.proofs.readAnew(node, 'isIsolated');",
        'const read = (await Promise.resolve({ atMs: reach.clock.monotonicMs() })) as { atMs: number } | { doubt: string };',
      ],
    ],
    killedBy: byTest('test/preservation/proof-read-anew.test.ts', 'keeps pods from being taken by force while the device reads on'),
  },
  {
    name: 'Lease not read after the device',
    defect: 'a Lease that was renewed while the device was read voids nothing',
    file: 'src/controllers/preservation/consistent-proof.ts',
    edits: [['const since = await this.unprovenBecause(node, wanted);', 'const since = undefined;']],
    killedBy: byTest('src/controllers/preservation/consistent-proof.test.ts', 'is void where the Lease was renewed while the device was read (P2)'),
  },
  {
    name: 'own proof of long ago',
    defect: 'a proof that this process has read counts for ever',
    file: 'src/controllers/fence/run/proof-reads.ts',
    edits: [['clock.monotonicMs() - knownAtMs <= RELEASE_BEGINS_WITHIN_MS', 'clock.monotonicMs() >= knownAtMs']],
    killedBy: byTest('src/controllers/fence/run/proof-reads.test.ts', 'is taken as it is for two seconds after this process itself has read it'),
  },
  {
    name: 'word not contradicted',
    defect: 'a device that reads on by now contradicts no word of a person',
    file: 'src/controllers/fence/run/proof-reads.ts',
    edits: [['return message === undefined ?', 'return message !== null ?']],
    killedBy: byTest('src/controllers/fence/run/proof-reads.test.ts', 'is contradicted by a device that reads on by now'),
  },
  {
    name: 'one supply read anew',
    defect: 'of a machine with two supplies only the one is read anew whose off came last',
    file: 'src/controllers/fence/run/proof-reads.ts',
    edits: [
      [
        'const operation = operationOf(source, status);',
        'const known = operationOf(source, status);\n    const operation = known === undefined ? undefined : { ...known, together: [] };',
      ],
    ],
    killedBy: byTest('src/controllers/fence/run/proof-reads.test.ts', 'is none while pdu-1 reads on'),
  },
];
