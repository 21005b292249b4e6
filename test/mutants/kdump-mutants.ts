import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const HOLD = 'src/domain/kdump/hold.test.ts';
const HEARD = 'src/controllers/kdump/kdump.test.ts';
const TOLD = 'src/controllers/kdump/telling.test.ts';
const STORY = 'test/kdump/dump.test.ts';
const AGENT = 'agents/kdump/agent.test.ts';

/** Defects of what is heard of crash kernels, and of what waits for them. */
export const KDUMP_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'dump that a clock makes older',
    defect: 'a dump counts as up to 22 s older where the clock of the leader was set forward, and is cut before its limit',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['isClockSet && !isGuessed ?', 'isClockSet && isGone ?']],
    killedBy: byTest(
      'src/controllers/kdump/ledger-clocks.test.ts',
      'makes it no older where our clock on the wall was set forward: its limit does not end sooner, and cuts no dump',
    ),
  },
  {
    name: 'dump of an earlier boot',
    defect: 'a dump that another replica heard, by a clock that is ahead, is a proof about the boot after it, whose workload runs',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['return boot !== undefined && now !== undefined && boot !== now;', 'return boot !== undefined && now === undefined && boot !== now;']],
    killedBy: byTest(HEARD, 'of another replica is past once the node shows another boot than at its begin, whatever clocks say'),
  },
  {
    name: 'dump that is waited for again and again',
    defect: 'a proof by a dump that a successor does not hear any more stands, and the fence reads it, waits for it and reads it for ever',
    file: 'src/domain/journal.ts',
    edits: [['if (isUnproven(entry, report)) next.evidence', 'if (isUnproven(entry, report) && entry.finishedAt !== undefined) next.evidence']],
    killedBy: byTest(
      'src/domain/kdump/proof-anew.test.ts',
      'proves nothing once it was waited for anew: the next level switches the machine off, and nothing waits for ever',
    ),
  },
  {
    name: 'dump heard once for all',
    defect: 'a level that waited for a dump in vain counts as done because an earlier wait had heard one: no other level switches the machine off',
    file: 'src/domain/level-end.ts',
    edits: [
      [
        "runs.findLast(({ operation, action, result }) => operation === key && action === 'run'",
        "runs.find(({ operation, action, result }) => operation === key && action === 'run'",
      ],
    ],
    killedBy: byTest(
      'src/domain/kdump/proof-anew.test.ts',
      'proves nothing once it was waited for anew: the next level switches the machine off, and nothing waits for ever',
    ),
  },
  {
    name: 'kdump.conf of our own saved',
    defect: 'the second kdump-setup saves its own lines over the kdump.conf that somebody may want back',
    file: 'src/node/kdump/kdump-setup.ts',
    edits: [['if (before !== undefined && !isOurs(before)) await', 'if (before !== undefined) await']],
    killedBy: byTest('src/node/kdump/kdump-setup.test.ts', 'keeps the kdump.conf that stood there before its first call, whatever it writes later'),
  },
  {
    name: 'kdump message of a pod',
    defect: 'a pod sends messages for a node whose address it was given',
    file: 'src/controllers/kdump/sources.ts',
    edits: [['    if (isWithin(pods, number)) return POD_NETWORK;\n', '']],
    killedBy: byTest(HEARD, '10.244.1.5'),
  },
  {
    name: 'kdump message for two nodes',
    defect: 'an address of two Nodes is one of them',
    file: 'src/controllers/kdump/sources.ts',
    edits: [['return others.length === 0 ? { node }', 'return others.length >= 0 ? { node }']],
    killedBy: byTest(HEARD, '192.0.2.9'),
  },
  {
    name: 'kdump by one message',
    defect: 'a single message holds a fence',
    file: 'src/domain/kdump/dump.ts',
    edits: [['export const MESSAGES_MIN = 2;', 'export const MESSAGES_MIN = 1;']],
    killedBy: byTest(HOLD, 'a single message holds nothing'),
  },
  {
    name: 'kdump of a node that is Ready',
    defect: 'messages for a node that is Ready are evidence',
    file: 'src/domain/kdump/dump.ts',
    edits: [['return countsAsFailed(node) && isSilent(', 'return isSilent(']],
    killedBy: byTest(HOLD, 'messages count for no node that Kubernetes calls Ready and whose daemon is not silent'),
  },
  {
    name: 'kdump that Kubernetes has not noticed',
    defect: 'the dump of a node whose fence somebody asked for is cut while Kubernetes still calls the node Ready',
    file: 'src/domain/kdump/dump.ts',
    edits: [[': isSilent(heard, node, nowMs);', ': isCredible(heard, node, nowMs);']],
    killedBy: byTest(HOLD, 'a fence that somebody asked for is held too while Kubernetes has not noticed the failure, by a node that is silent'),
  },
  {
    name: 'kdump of a live kubelet',
    defect: 'messages count though the kubelet renews its lease',
    file: 'src/domain/kdump/dump.ts',
    edits: [[' && nowMs >= lifeAtMs + LEASE_STALE_MS', '']],
    killedBy: byTest(HOLD, 'nothing is held for a kubelet whose lease is fresh: its node lives, whoever sends messages'),
  },
  {
    name: 'kdump limit extended',
    defect: 'each message moves the first one, and with it the limit',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['? { ...known, source, lastWallMs: wallMs, lastMs: nowMs,', '? { ...known, source, firstMs: nowMs, lastWallMs: wallMs, lastMs: nowMs,']],
    killedBy: byTest(STORY, 'is held no longer than kdump_max_duration after the first message, however many come'),
  },
  {
    name: 'kdump limit of each leader',
    defect: 'a replica that has just begun counts the limit from when it began',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [
      ['firstMs: isFound ? Math.min(lastedFromMs, onTheWallMs) : lastedFromMs', 'firstMs: isFound ? Math.max(nowMs, onTheWallMs) : lastedFromMs'],
    ],
    killedBy: byTest(HEARD, 'of another replica is as old as that replica says, whenever this process began: no restart extends the limit'),
  },
  {
    name: 'kdump silence of each replica',
    defect: 'what another replica heard is as new as our sight of it',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [[': Math.min(sinceMs, WRITTEN_WITHIN_MS));', ': 0 * Math.min(sinceMs, WRITTEN_WITHIN_MS));']],
    killedBy: byTest(HEARD, 'of another replica is silent since its last message, not since it was read here'),
  },
  {
    name: 'kdump limit by clocks on the wall',
    defect: 'a replica whose clock is hours behind ends a dump for all of them',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['firstMs: isFound ? Math.min(lastedFromMs, onTheWallMs) : lastedFromMs', 'firstMs: Math.min(lastedFromMs, onTheWallMs)']],
    killedBy: byTest(HEARD, 'of another replica is as long as that replica counted, however its clock on the wall is set'),
  },
  {
    name: 'kdump that is over revived',
    defect: 'a controller that begins holds a fence for a dump that was over',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [["const silentMs = record.state === 'FINISHED' ?", "const silentMs = record.state === 'FINISHED' && known !== undefined ?"]],
    killedBy: byTest(HEARD, 'of another replica that was over before this process began is over'),
  },
  {
    name: 'kdump over and begun anew',
    defect:
      'a dump that another replica says is over, in a watch that was behind, holds a fence anew for as long as if its last message had just come',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['const isOverNow = silentMs > 0 &&', 'const isOverNow = silentMs > 1e9 &&']],
    killedBy: byTest('src/controllers/kdump/ledger-clocks.test.ts', 'makes no dump begin anew that the other one says is over'),
  },
  {
    name: 'kdump older and older',
    defect: 'replicas hand each other what they estimate of each other, and a limit comes nearer with each message',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [[' || (isGone && !isFound)', '']],
    killedBy: byTest(HEARD, 'is not made older by two replicas that read each other'),
  },
  {
    name: 'kdump limit forgotten with its replica',
    defect: 'the first message is lost with the record of the process that heard it',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['this.#sightsOf(node, this.#lifeAtMs(node), { isGone: true }).reduce(joined, own)', 'own']],
    killedBy: byTest(HEARD, 'is written with the first message that anybody heard, so that the limit outlives whoever wrote it'),
  },
  {
    name: 'kdump kept out by a flood',
    defect: 'messages forged for many healthy nodes leave no room for a dump',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['lifeAtMs > lastMs || nowMs < lifeAtMs + LEASE_STALE_MS', 'lifeAtMs > lastMs || nowMs < lifeAtMs']],
    killedBy: byTest(HEARD, 'of a silent node has room beside a flood for healthy ones'),
  },
  {
    name: 'kdump kept out by dumps that are over',
    defect: 'machines that crashed and stay off leave no room for one that crashes now',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['const [leaving] = idle ?? this.#longestOver(nowMs) ?? [];', 'const [leaving] = idle ?? [];']],
    killedBy: byTest(HEARD, 'of a kernel that begins to dump has room where nothing but dumps that are over fill it'),
  },
  {
    name: 'kdump told again and again',
    defect: 'the end of a dump that nobody hears is told at each look until the watch shows it',
    file: 'src/controllers/kdump/controller.ts',
    edits: [['if (!nodes.has(node) && !this.#standing.has(node)) this.#toldOf', 'if (!nodes.has(node)) this.#toldOf']],
    killedBy: byTest(TOLD, 'tells once that a dump is over that it has not heard itself'),
  },
  {
    name: 'kdump forgotten by a new process',
    defect: 'a process that has just begun takes the node for alive, cuts its dump and says that it is over',
    file: 'src/domain/kdump/dump.ts',
    edits: [['return node.isOnlySeen === true ?', 'return node.lifeAtMs < 0 ?']],
    killedBy: byTest(STORY, 'is held by a process that has only begun to listen, also where somebody asked for its fence'),
  },
  {
    name: 'kdump over before it is read',
    defect: 'a leader says that a dump is over before it has read what the others hear',
    file: 'src/controllers/kdump/controller.ts',
    edits: [['if (heard === undefined && !this.#hasRead) return;', '']],
    killedBy: byTest(TOLD, 'tells of no end before it has read what the others hear'),
  },
  {
    name: 'kdump address claimed by another node',
    defect: "a node takes another one's address by an annotation of its own, and its dump is heard no more",
    file: 'src/controllers/kdump/sources.ts',
    edits: [['claims.byStatus.length > 0 ? claims.byStatus : claims.byAnnotation', '[...claims.byStatus, ...claims.byAnnotation]']],
    killedBy: byTest(HEARD, 'is that of its status, whatever other nodes claim in their annotations'),
  },
  {
    name: 'kdump Lease cleared of others',
    defect: 'annotations that are not ours are removed from the Lease',
    file: 'src/controllers/kdump/records.ts',
    edits: [['if (isRecordKey(key) && key !== this.#key', 'if (key !== this.#key']],
    killedBy: byTest(HEARD, 'loses what a replica wrote that is gone, and nothing that is not ours'),
  },
  {
    name: 'kdump of replicas that are gone',
    defect: 'what replicas left that are gone hides what those say that live',
    file: 'src/domain/kdump/record.ts',
    edits: [['all.toSorted((one, other) => lastIn(other.records) - lastIn(one.records)).slice', 'all.slice']],
    killedBy: byTest(HEARD, 'is read of those that wrote last, where a replica that starts again and again has left more than are read'),
  },
  {
    name: 'endless kdump',
    defect: 'a dump holds for as long as messages come',
    file: 'src/domain/kdump/dump.ts',
    edits: [
      [
        '  return Math.min(lastMs + finishedTimeoutMs, firstMs + maxDurationMs);',
        '  return Math.max(lastMs + finishedTimeoutMs, Math.min(firstMs + maxDurationMs, 0));',
      ],
    ],
    killedBy: byTest(HOLD, 'messages for ever hold no longer than kdump_max_duration after the first'),
  },
  {
    name: 'kdump not asked before the off',
    defect: 'a dump that is heard after the decision does not hold the off',
    file: 'src/controllers/fence/controller.ts',
    edits: [['      ...dumpingAgainst(dependencies, recordOf(node), entry, this.lifeOf(node)),\n', '']],
    killedBy: byTest(STORY, 'is not switched off where it is heard in the turn before the off would have left'),
  },
  {
    name: 'kdump looked at too late',
    defect: 'nobody looks again when a dump is over',
    file: 'src/domain/automaton.ts',
    edits: [['earliest(transition.requeueAtMs, endsAtMs, dumpEndsAtMs)', 'earliest(transition.requeueAtMs, endsAtMs)']],
    killedBy: byTest(HOLD, 'power-management is held, and goes on when no message has come for kdump_finished_timeout'),
  },
  {
    name: 'kdump awaited for ever',
    defect: 'an armed node is waited for until it speaks',
    file: 'src/domain/kdump/hold.ts',
    edits: [[' || endsAtMs <= nowMs) return undefined;\n  const message', ') return undefined;\n  const message']],
    killedBy: byTest(HOLD, 'attested: a first message is waited for'),
  },
  {
    name: 'kdump without admission',
    defect: 'pods are released by evidence that minimum_evidence does not name',
    file: 'src/domain/evidence.ts',
    edits: [
      [
        '      plan.minimumEvidence.includes(item.kind) &&\n      EVIDENCE_RULES[item.kind].permitsForcedDeletion &&',
        "      (plan.minimumEvidence.includes(item.kind) || item.kind === 'kdump') &&\n      EVIDENCE_RULES[item.kind].permitsForcedDeletion &&",
      ],
    ],
    killedBy: byTest(HOLD, 'proves what minimum_evidence admits: false'),
  },
  {
    name: 'unheard kdump is done',
    defect: 'a level that heard no dump counts as done, and nothing is switched off',
    file: 'src/domain/level-end.ts',
    edits: [['return unheardDump(program, status, plan) ?? notLeftOff(status, plan);', 'return notLeftOff(status, plan);']],
    killedBy: byTest(HOLD, 'that hears none leaves the machine to the next level'),
  },
  {
    name: 'unadmitted kdump is done',
    defect: 'a level whose dump may prove nothing counts as done, and nothing is switched off',
    file: 'src/domain/level-end.ts',
    edits: [["if (isHeard && minimumEvidence.includes('kdump')) return undefined;", 'if (isHeard && minimumEvidence.length > 0) return undefined;']],
    killedBy: byTest(HOLD, 'that may prove nothing leaves the machine to the next level, whose off waits until the dump is over'),
  },
  {
    name: 'kdump proven of a Ready node',
    defect: 'the agent does not read the Node by quorum',
    file: 'agents/kdump/agent.ts',
    edits: [["    if (ready === 'True') return { ...recognised, doubt: 'the Node is Ready' };\n", '']],
    killedBy: byTest(AGENT, 'a Node that is Ready by now proves nothing, and stops no fence unless it shall'),
  },
  {
    name: 'kdump record of each message',
    defect: 'each message is written to the API',
    file: 'src/controllers/kdump/records.ts',
    edits: [['const restMs = words === this.#writtenWords ? REFRESH_MS : REST_MS;', 'const restMs = words === this.#writtenWords ? 0 : REST_MS;']],
    killedBy: byTest(HEARD, 'of 100,000 datagrams costs no write, no wake and no line of log for each'),
  },
];
