import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const HOLD = 'src/domain/kdump/hold.test.ts';
const HEARD = 'src/controllers/kdump/kdump.test.ts';
const STORY = 'test/kdump/dump.test.ts';
const AGENT = 'agents/kdump/agent.test.ts';

/** Defects of what is heard of crash kernels, and of what waits for them. */
export const KDUMP_MUTANTS: readonly SourceMutant[] = [
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
    edits: [['byAddress.set(key, byAddress.has(key) ? undefined : node.metadata.name);', 'byAddress.set(key, node.metadata.name);']],
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
    defect: 'messages for a node that is Ready hold its fence',
    file: 'src/domain/kdump/dump.ts',
    edits: [["  if (node.ready === 'True' && node.silence === undefined) return false;\n", '']],
    killedBy: byTest(HOLD, 'a node that is Ready is not dumping, whoever says so'),
  },
  {
    name: 'kdump of a live kubelet',
    defect: 'messages count though the kubelet renews its lease',
    file: 'src/domain/kdump/dump.ts',
    edits: [[' && nowMs >= node.lifeAtMs + LEASE_STALE_MS', '']],
    killedBy: byTest(HOLD, 'nothing is held for a kubelet whose lease is fresh: its node lives, whoever sends messages'),
  },
  {
    name: 'kdump limit extended',
    defect: 'each message moves the first one, and with it the limit',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['? { ...known, source, lastMs: nowMs,', '? { ...known, source, firstMs: nowMs, lastMs: nowMs,']],
    killedBy: byTest(STORY, 'is held no longer than kdump_max_duration after the first message, however many come'),
  },
  {
    name: 'kdump limit of each leader',
    defect: 'a replica that has just begun counts the limit from when it began',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [
      ['const firstMs = Math.min(firstSeenMs, ageMs > 0 ? nowMs - ageMs : firstSeenMs);', 'const firstMs = ageMs > 0 ? firstSeenMs : firstSeenMs;'],
    ],
    killedBy: byTest(HEARD, 'of another replica is as old as that replica says, whenever this process began: no restart extends the limit'),
  },
  {
    name: 'kdump silence of each replica',
    defect: 'what another replica heard is as new as our sight of it',
    file: 'src/controllers/kdump/ledger.ts',
    edits: [['lastMs: isMore ? nowMs - ageMs : known.lastMs,', 'lastMs: isMore ? nowMs - 0 * ageMs : known.lastMs,']],
    killedBy: byTest(HEARD, 'of another replica is silent since its last message, not since it was read here'),
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
    edits: [['      ...dumpingAgainst(dependencies, this.newest(node), entry, this.lifeAtMs(node)),\n', '']],
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
    file: 'src/domain/advance.ts',
    edits: [['const unheard = unheardDump(compiled, status);', 'const unheard = step === undefined ? unheardDump(compiled, status) : undefined;']],
    killedBy: byTest(HOLD, 'that hears none leaves the machine to the next level'),
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
