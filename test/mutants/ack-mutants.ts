import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const ACK_AGENT = 'agents/ack/agent.test.ts';
const DOMAIN = 'src/domain/acknowledgement.test.ts';
const WORDS = 'src/controllers/fence/acknowledgements.test.ts';

/** Defects of the agent ack, and of how a person's word is weighed. */
export const ACK_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'ack of a refused word',
    defect: 'a word that was refused counts',
    file: 'agents/ack/agent.ts',
    edits: [["word.status?.state === 'refused' ? (word.status.message ?? 'refused') : refusalOf", 'refusalOf']],
    killedBy: byTest(ACK_AGENT, 'what was refused'),
  },
  {
    name: 'taint behind a program',
    defect: 'a node that came back when the word was void keeps our taint, for its level begins with a program that no node that is well is to see',
    file: 'src/domain/advance.ts',
    edits: [["new Set(['run', 'diag', 'off'])", "new Set(['off'])"]],
    killedBy: byTest(
      'src/domain/acknowledgement.test.ts',
      'is void in the midst of the release: our taint goes from a node that came back, whatever else its level would begin with',
    ),
  },
  {
    name: 'ack of another node',
    defect: 'a word about another node counts',
    file: 'agents/ack/agent.ts',
    edits: [['all.filter(({ spec }) => spec.node === name)', "all.filter(({ spec }) => spec.node !== '')"]],
    killedBy: byTest(ACK_AGENT, 'another node'),
  },
  {
    name: 'ack as evidence',
    defect: 'the agent itself weighs what a word proves',
    file: 'agents/ack/agent.ts',
    edits: [
      [
        "return { result: 'accepted', detail: `${word.metadata.name} is valid",
        "return { result: 'accepted', evidence: { kind: 'ack' } as never, detail: `${word.metadata.name} is valid",
      ],
    ],
    killedBy: byTest(ACK_AGENT, 'waits for the word on this very incident, and says on the Node what is to be done'),
  },
  {
    name: 'ack of any age',
    defect: 'a word of any age counts',
    file: 'agents/ack/agent.ts',
    edits: [['return Math.max(0, this.#context.clock.wallMs() - createdMs);', 'return 0;']],
    killedBy: byTest(ACK_AGENT, 'long ago'),
  },
  {
    name: 'ack without an Event',
    defect: 'who may write no Events gives up',
    file: 'agents/ack/agent.ts',
    edits: [['await Promise.allSettled([call.create(EVENTS, event)]);', 'await call.create(EVENTS, event);']],
    killedBy: byTest(ACK_AGENT, 'waits also where it may write no events, and ends when it is given up'),
  },
  {
    name: 'ack confirmed for ever',
    defect: 'any fence that is open confirms a word',
    file: 'agents/ack/agent.ts',
    edits: [
      [
        'async (call) => (await this.#acknowledgements(call)).valid !== undefined);',
        'async (call) => (await this.#acknowledgements(call)).incident !== undefined);',
      ],
    ],
    killedBy: byTest(ACK_AGENT, 'another incident'),
  },
  {
    name: 'ack without boot',
    defect: 'a word about another boot counts',
    file: 'agents/ack/agent.ts',
    edits: [
      [
        'refusalOf(facts, open, { bootID: node?.status.nodeInfo?.bootID });',
        'refusalOf({ ...facts, bootID: undefined }, open, { bootID: node?.status.nodeInfo?.bootID });',
      ],
    ],
    killedBy: byTest(ACK_AGENT, 'another boot'),
  },
  {
    name: 'ack of an unread record',
    defect: 'a word that carries a status of its own counts unread',
    file: 'agents/ack/agent.ts',
    edits: [
      ["if (status?.state === 'accepted' || Number.isNaN(createdMs)) return 0;", 'if (status !== undefined || Number.isNaN(createdMs)) return 0;'],
    ],
    killedBy: byTest(ACK_AGENT, 'weighs the age of a word until the core has accepted it'),
  },
  {
    name: 'accepted word too old',
    defect: 'a word that the core has accepted is refused for its age',
    file: 'agents/ack/agent.ts',
    edits: [["if (status?.state === 'accepted' || Number.isNaN", 'if (Number.isNaN']],
    killedBy: byTest(ACK_AGENT, 'weighs the age of a word until the core has accepted it'),
  },
  {
    name: 'ack of another fence',
    defect: 'a word for another NodeFence counts',
    file: 'agents/ack/agent.ts',
    edits: [['{ nodeFenceUID, incident, bootID, ageMs', '{ nodeFenceUID: open?.uid, incident, bootID, ageMs']],
    killedBy: byTest(ACK_AGENT, 'another fence'),
  },
  {
    name: 'ack asks again',
    defect: 'the person is asked although the word stands',
    file: 'agents/ack/agent.ts',
    edits: [['if (first.valid !== undefined) return outcomeOf(first.valid);\n      await this.#ask', 'await this.#ask']],
    killedBy: byTest(ACK_AGENT, 'asks nobody when the word stands already'),
  },
  {
    name: 'ack says nothing of refusals',
    defect: 'why the words that stand do not count is not told',
    file: 'agents/ack/agent.ts',
    edits: [['refusals.push(`${word.metadata.name}: ${why}`);', '']],
    killedBy: byTest(ACK_AGENT, 'another incident'),
  },
  {
    name: 'ack first word only',
    defect: 'one word that does not count hides those behind it',
    file: 'agents/ack/agent.ts',
    edits: [['refusals.push(`${word.metadata.name}: ${why}`);', 'refusals.push(`${word.metadata.name}: ${why}`);\n      break;']],
    killedBy: byTest(ACK_AGENT, 'takes the word that counts, whatever stands before it'),
  },
  {
    name: 'ack words once',
    defect: 'the words are not read again while the agent waits',
    file: 'agents/ack/agent.ts',
    edits: [['words = await this.#acknowledgements(call);\n      if (words.valid', 'if (words.valid']],
    killedBy: byTest(ACK_AGENT, 'waits for the word on this very incident, and says on the Node what is to be done'),
  },
  {
    name: 'word older than life',
    defect: 'a word counts although the kubelet has renewed its Lease since, while no controller ran that could have heard it',
    file: 'src/controllers/fence/acknowledgements.ts',
    edits: [['|| BigInt(later) <= BigInt(earlier)) return false;', '|| BigInt(later) !== BigInt(earlier)) return false;']],
    killedBy: byTest(WORDS, 'is refused where the kubelet has renewed its Lease after it'),
  },
  {
    name: 'first sight as life',
    defect: 'a word that was given while no controller ran is refused, because the controller that starts sees the node for the first time',
    file: 'src/controllers/fence/acknowledgements.ts',
    edits: [['&& hasSpoken && lifeAtMs', '&& lifeAtMs']],
    killedBy: byTest(WORDS, 'that this controller sees the node for the first time is no sign of life'),
  },
  {
    name: 'life after a word',
    defect: 'a word counts although the node was heard since it was given',
    file: 'src/controllers/fence/acknowledgements.ts',
    edits: [['&& hasSpoken && lifeAtMs > firstSeenMs', '&& hasSpoken && lifeAtMs < 0']],
    killedBy: byTest(WORDS, 'is refused where the node is heard while this controller runs'),
  },
  {
    name: 'versions of another store',
    defect: 'no word counts where Leases have a store of their own, for its versions are higher',
    file: 'src/controllers/fence/acknowledgements.ts',
    edits: [['return !(renewedMs < givenMs - CLOCKS_APART_MS);', 'return !(renewedMs < givenMs - Infinity);']],
    killedBy: byTest(WORDS, 'is no older than a Lease whose versions are counted elsewhere'),
  },
  {
    name: 'word for one batch',
    defect: 'a release at a pace on a word ends behind its first batch, and the devices of the node are switched',
    file: 'src/domain/acknowledgement.ts',
    edits: [['!isReleasingOn(facts, status)) return', 'facts !== undefined) return']],
    killedBy: byTest(DOMAIN, 'is weighed anew by the workload that it is let go on, between two batches'),
  },
  {
    name: 'word for a second release',
    defect: 'a word counts again for a workload that was let go on it, or on another',
    file: 'src/domain/acknowledgement.ts',
    edits: [['plug === uid && result', "plug !== '' && result"]],
    killedBy: byTest(DOMAIN, 'is weighed anew by the workload of which another word lets go'),
  },
  {
    name: 'silent end of a word',
    defect: 'a word that counts no more between two batches of its release is no alarm, and devices are switched under the hands of whoever gave it',
    file: 'src/domain/journal.ts',
    edits: [
      [
        "report.result === 'refused') Object.assign(next, lifeInMidRelease(next, report, isCutOff(status)));",
        "report.result === 'refused') next.evidence = voidEvidence(next.evidence, report.finishedAt, bounded(report.message));",
      ],
    ],
    killedBy: byTest(DOMAIN, 'that counts no more between two batches ends the release loudly'),
  },
  {
    name: 'word removed in mid-release',
    defect: 'a word is removed after an hour although the release that rests on it goes on or is held, and counts as taken back',
    file: 'src/controllers/fence/acknowledgements.ts',
    edits: [['> KEPT_MS && !isRestedOn(word, fence?.status)) await', '> KEPT_MS) await']],
    killedBy: byTest(WORDS, 'stays as long as its fence rests on it'),
  },
  {
    name: 'word used by a forgotten run',
    defect: 'a release in many batches ends when the run that used its word first is evicted from the journal',
    file: 'src/controllers/fence/acknowledgements.ts',
    edits: [["(id === usedBy || (plug === uid && result === 'succeeded'))", 'id === usedBy']],
    killedBy: byTest(WORDS, 'counts before each batch of its release, also when the run that used it first'),
  },
  {
    name: 'no word behind a lost proof',
    defect: 'what waits behind a release whose proof was lost is let go by nobody: a fence that asks for a word refuses it',
    file: 'src/domain/acknowledgement.ts',
    edits: [['(released.voidedAt !== undefined || leftIn(released) > 0)', 'leftIn(released) > 0']],
    killedBy: byTest(
      'src/domain/word-release.test.ts',
      'lets go what waits where the proof was lost behind the last of it, and the node is silent again',
    ),
  },
  {
    name: 'word for the rest refused',
    defect: 'the rest of a release that its device cut off is let go by nobody: a fence that asks for a word refuses it',
    file: 'src/domain/acknowledgement.ts',
    edits: [['(released.voidedAt !== undefined || leftIn(released) > 0)', 'released.voidedAt !== undefined']],
    killedBy: byTest('src/domain/word-release.test.ts', 'lets go the rest where the device fell silent between two batches'),
  },
  {
    name: 'word that ends at once',
    defect: 'a word on a release that was cut off is followed by none: the proof of before counts as lost again',
    file: 'src/domain/rows/error.ts',
    edits: [['if (isCutOff(status)) delete next.released;', '']],
    killedBy: byTest(
      'src/domain/word-release.test.ts',
      'lets go what waits where the proof was lost in the middle of it, and the node is silent again',
    ),
  },
  {
    name: 'refused word for a lost proof',
    defect: 'a word that is refused counts as a sign of life against what was let go on a proof: nothing is tried again by itself',
    file: 'src/domain/journal.ts',
    edits: [['lifeInMidRelease(next, report, isCutOff(status))', 'lifeInMidRelease(next, report)']],
    killedBy: byTest('src/domain/word-release.test.ts', 'that is refused says nothing against what was let go on that proof'),
  },
  {
    name: 'released in a life before',
    defect: 'what was let go before its node recovered counts for the failure after that: a word on it is refused',
    file: 'src/domain/rows/final.ts',
    edits: [['delete next.released;', '']],
    killedBy: byTest('src/domain/word-release.test.ts', 'counts for a node that recovered and failed again, whose restarts are used up'),
  },
];
