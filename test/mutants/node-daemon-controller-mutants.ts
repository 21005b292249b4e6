import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const DECISION = 'src/controllers/node-daemons/grant-decision.test.ts';
const GRANTS = 'test/node-daemon/controllers/grants.test.ts';
const ENDINGS = 'test/node-daemon/controllers/endings.test.ts';
const TELLING = 'test/node-daemon/controllers/telling.test.ts';
const WATCHDOG_AGENT = 'agents/watchdog/agent.test.ts';

/** Defects of the controllers' side of the node daemons. */
export const NODE_DAEMON_CONTROLLER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'grant after the ending',
    defect: 'a boot whose grants were ended is granted to go on',
    file: 'src/controllers/node-daemons/grant-decision.ts',
    edits: [["if (isEnded) return 'refusal';", "if (isEnded && !knowsEndings) return 'refusal';"]],
    killedBy: byTest(ENDINGS, 'takes the node down, which nobody grants and nobody vouches for from the turn of the write on'),
  },
  {
    name: 'grant before the endings',
    defect: 'a new leader grants before it has read which grants were ended',
    file: 'src/controllers/node-daemons/grant-decision.ts',
    edits: [["return knowsEndings ? 'grant' : 'silence';", "return 'grant';"]],
    killedBy: byTest(GRANTS, 'are not given by a leader that could not read which were ended'),
  },
  {
    name: 'grant of a standby',
    defect: 'a replica that does not lead grants',
    file: 'src/controllers/node-daemons/receiver.ts',
    edits: [
      ['mayGrant: leadership.isLeading && leadership.mayBegin(0),', 'mayGrant: true,'],
      ['knowsEndings: endings.areReadFor(leadership.epoch),', 'knowsEndings: true,'],
    ],
    killedBy: byTest(GRANTS, 'come from the leader alone, and from the next one when the lease has changed hands'),
  },
  {
    name: 'grant to another boot',
    defect: 'a boot that nobody attests is granted to go on',
    file: 'src/controllers/node-daemons/grant-decision.ts',
    edits: [['bootID === undefined || bootID !== attestedBootID ||', 'bootID === undefined ||']],
    killedBy: byTest(DECISION, 'for another boot than the attested one'),
  },
  {
    name: 'heartbeat replayed',
    defect: 'a heartbeat that somebody repeats counts as a sign of life',
    file: 'src/controllers/node-daemons/heartbeats.ts',
    edits: [["heard.counter <= known.counter) return 'replayed';", "heard.counter < 0) return 'replayed';"]],
    killedBy: byTest(GRANTS, 'answer each heartbeat once: one that is repeated, older, forged, of another boot or of nobody is dropped and counted'),
  },
  {
    name: 'ending forgotten',
    defect: 'an ending is forgotten when its annotation is gone',
    file: 'src/controllers/node-daemons/controller.ts',
    edits: [['if (after !== undefined) this.#endings.see(after);', 'void after;']],
    killedBy: byTest(GRANTS, 'are refused to a boot whose ending stands in the API, also when the annotation is gone afterwards'),
  },
  {
    name: 'ending not remembered',
    defect: 'grants go on until the watch shows that they were ended',
    file: 'src/controllers/node-daemons/grant-ender.ts',
    edits: [['    this.#parts.endings.remember(node, bootID);', '    void [node, bootID];']],
    killedBy: byTest(ENDINGS, 'that was read in the API ends the grants here, before the watch shows it'),
  },
  {
    name: 'ending unasked',
    defect: 'the ending is written without the lease check of the run',
    file: 'src/controllers/node-daemons/grant-ender.ts',
    edits: [['if (standing === undefined) news.call?.beforeSend();', 'void news.call;']],
    killedBy: byTest(ENDINGS, 'sends nothing and remembers nothing where the run may not begin any more'),
  },
  {
    name: 'ending by a standby',
    defect: 'a replica that does not lead any more ends grants',
    file: 'src/controllers/node-daemons/controller.ts',
    edits: [['gatedWrites(notSentUnless(mayWrite))(dependencies.cluster)', 'gatedWrites(notSentUnless(() => true))(dependencies.cluster)']],
    killedBy: byTest(ENDINGS, 'is not written by whoever does not lead any more'),
  },
  {
    name: 'promise of another boot',
    defect: 'a promise about another boot counts',
    file: 'src/controllers/node-daemons/promises.ts',
    edits: [['return `${node} ${bootID}`;', 'return bootID === "" ? "" : node;']],
    killedBy: byTest(ENDINGS, 'counts no promise about another boot, of another node, to another question, or in another’s name'),
  },
  {
    name: 'promise unasked',
    defect: 'a promise counts that answers no question of ours',
    file: 'src/controllers/node-daemons/promises.ts',
    edits: [['if (standing?.asked.get(sender)?.includes(counter) === true) standing', 'if (standing !== undefined && counter > 0) standing']],
    killedBy: byTest(ENDINGS, 'counts no promise about another boot, of another node, to another question, or in another’s name'),
  },
  {
    name: 'peer missing',
    defect: 'a peer that did not answer counts as one that promised',
    file: 'src/controllers/node-daemons/grant-ender.ts',
    edits: [['promised: eligible.filter((peer) => all.has(peer))', 'promised: eligible.filter((peer) => all.has(peer) || all.size > 1)']],
    killedBy: byTest(ENDINGS, 'waits for a peer that does not answer, says who is missing, and goes on in the next run'),
  },
  {
    name: 'peer attested meanwhile',
    defect: 'a peer that the node attests after the ending was written is not asked',
    file: 'src/controllers/node-daemons/grant-ender.ts',
    edits: [['[...(standing?.eligible ?? []), ...attestation.peers,', '[...(standing?.eligible ?? attestation.peers),']],
    killedBy: byTest(ENDINGS, 'asks a peer that attested meanwhile too'),
  },
  {
    name: 'peers of an ended boot',
    defect: 'a boot whose grants were ended is told new peers',
    file: 'src/controllers/node-daemons/peers-assignment.ts',
    edits: [['ended?.bootID !== attestation.bootID && !isEnded(node, attestation.bootID)', 'isEnded(node, "") === false && ended !== null']],
    killedBy: byTest(TELLING, 'is not changed for a boot whose grants were ended'),
  },
  {
    name: 'ending without use',
    defect: 'grants are ended though silence could prove nothing',
    file: 'agents/watchdog/agent.ts',
    edits: [
      [
        "if (daemons === undefined || judgement.decision === 'refused' || judgement.decision === 'after'",
        "if (daemons === undefined || judgement.decision === 'after'",
      ],
      ['daemons.endGrants(identity.node, judgement.bootID,', "daemons.endGrants(identity.node, 'bootID' in judgement ? judgement.bootID : '',"],
    ],
    killedBy: byTest(WATCHDOG_AGENT, 'ends no grants where silence could prove nothing: a watchdog in the kernel'),
  },
  {
    name: 'ending in a confirmation',
    defect: 'a confirmation ends grants',
    file: 'agents/watchdog/agent.ts',
    edits: [
      [
        "const judgement = await this.#judge(call);\n      return judgement.decision === 'after'",
        "const judgement = await this.#judgeEnded(call);\n      return judgement.decision === 'after'",
      ],
    ],
    killedBy: byTest(WATCHDOG_AGENT, 'never ends grants in a confirmation'),
  },
];
