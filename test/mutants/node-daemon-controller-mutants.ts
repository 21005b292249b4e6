import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const DECISION = 'src/controllers/node-daemons/grant-decision.test.ts';
const GRANTS = 'test/node-daemon/controllers/grants.test.ts';
const ENDINGS = 'test/node-daemon/controllers/endings.test.ts';
const TELLING = 'test/node-daemon/controllers/telling.test.ts';
const FORGOTTEN = 'test/node-daemon/controllers/forgotten.test.ts';
const TABLE = 'src/domain/node-daemon/fast-detection.test.ts';
const FAST = 'test/node-daemon/controllers/fast-detection.test.ts';
const FAST_FENCE = 'test/node-daemon/controllers/fast-fence.test.ts';
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
    edits: [[' && this.#questions.askedAtMs(datagram, standing.open) !== undefined) standing', ') standing']],
    killedBy: byTest(ENDINGS, 'counts no promise about another boot, of another node, to another question, or in another’s name'),
  },
  {
    name: 'peer missing',
    defect: 'a peer that did not answer counts as one that promised',
    file: 'src/controllers/node-daemons/grant-ender.ts',
    edits: [['promised: eligible.filter((peer) => all.has(peer))', 'promised: eligible.filter((peer) => all.has(peer) || all.size > 1)']],
    killedBy: byTest(ENDINGS, 'is over after three seconds where those that do not answer cannot keep the node up'),
  },
  {
    name: 'peer attested meanwhile',
    defect: 'a peer that the node attests after the ending was written is not asked',
    file: 'src/controllers/node-daemons/grant-ender.ts',
    edits: [['[...(standing?.eligible ?? []), ...attestation.peers,', '[...(standing?.eligible ?? attestation.peers),']],
    killedBy: byTest(ENDINGS, 'asks a peer that attested meanwhile too'),
  },
  {
    name: 'peers of removed nodes',
    defect: 'a node is told peers whose Nodes are gone, which can promise nothing',
    file: 'src/controllers/node-daemons/peers-assignment.ts',
    edits: [['const entry = node && entryOf(', 'const entry = entryOf(']],
    killedBy: byTest(TELLING, 'has no peer in it whose Node is gone, however many Leases of such nodes are left'),
  },
  {
    name: 'replica hidden by the dead',
    defect: 'addresses that replicas left which are gone keep those out that live',
    file: 'src/controllers/node-daemons/replica-addresses.ts',
    edits: [['const SIGHTS_MAX = 256;', 'const SIGHTS_MAX = 15;']],
    killedBy: byTest(TELLING, 'is where the replicas are that live, however many have left their address without a word'),
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
  {
    name: 'suspected by one loss',
    defect: 'a node is suspected when one heartbeat is lost',
    file: 'src/domain/node-daemon/fast-detection.ts',
    edits: [['nowMs < heard.lastMs + timeoutMs', 'nowMs < heard.lastMs + timeoutMs / 3 + 500']],
    killedBy: byTest(FAST, 'is not suspected for one lost heartbeat, or two'),
  },
  {
    name: 'fast on a new leader',
    defect: 'a leader that has just begun takes nodes for failed that it has hardly heard',
    file: 'src/controllers/node-daemons/fast/fast-detection.ts',
    edits: [['this.#leads?.sinceMs ?? Number.POSITIVE_INFINITY', 'Number.NEGATIVE_INFINITY']],
    killedBy: byTest(FAST, 'is not judged by a leader that has just begun, nor one whose daemon was never heard'),
  },
  {
    name: 'fast on a deaf leader',
    defect: 'nodes are taken for failed though many fell silent at once',
    file: 'src/domain/node-daemon/fast-detection.ts',
    edits: [['silent > Math.max(1, SILENT_SHARE_MAX * expected)', 'silent > Math.max(expected, SILENT_SHARE_MAX * expected)']],
    killedBy: byTest(FAST, 'is held where many fall silent at once, for it may be our own network: no peer is asked, and it is said'),
  },
  {
    name: 'fast though reached',
    defect: 'a node is taken for failed though a peer reaches it',
    file: 'src/domain/node-daemon/fast-detection.ts',
    edits: [['peers.reachedBy.length > 0', 'peers.reachedBy.length > 1 && !peers.isUnreached']],
    killedBy: byTest(TABLE, 'where one peer reaches it'),
  },
  {
    name: 'fast without peers',
    defect: 'peers that say nothing count as if they did not reach the node',
    file: 'src/domain/node-daemon/fast-detection.ts',
    edits: [['applies: ({ peers }) => !peers.isUnreached', 'applies: ({ peers }) => !peers.isUnreached && peers.reachedBy.length > 0']],
    killedBy: byTest(FAST, 'is taken for failed no sooner than enough failure domains have said so: silent peers say nothing'),
  },
  {
    name: 'fast on a live kubelet',
    defect: 'a node whose kubelet lives is taken for failed when its daemon is killed',
    file: 'src/controllers/node-daemons/fast/fast-detection.ts',
    edits: [
      ['kubeletLeases.freshAtMs < lastMs + KUBELET_RENEWAL_MS) return false;', 'kubeletLeases.freshAtMs < 0) return false;'],
      ['return nowMs >= Math.max(lastMs,', 'return nowMs < Infinity || nowMs >= Math.max(lastMs,'],
    ],
    killedBy: byTest(FAST, 'is not taken for failed while its kubelet lives: its daemon was killed'),
  },
  {
    name: 'fast after a clean stop',
    defect: 'a daemon that said that it stops is taken for lost',
    file: 'src/controllers/node-daemons/fast/fast-detection.ts',
    edits: [['attestation.isEnding === true || (heard.signs & SIGNS.leaving) !== 0,', 'attestation.isEnding === true,']],
    killedBy: byTest(FAST, 'is left alone where its daemon was stopped as it should be, also while the API server is away'),
  },
  {
    name: 'fast after an attested stop',
    defect: 'a daemon is taken for lost though it attested that it stops',
    file: 'src/controllers/node-daemons/fast/fast-detection.ts',
    edits: [['attestation.isEnding === true || (heard.signs & SIGNS.leaving) !== 0,', '(heard.signs & SIGNS.leaving) !== 0,']],
    killedBy: byTest(FAST, 'is left alone where only the API server heard that its daemon stops'),
  },
  {
    name: 'fast on one read',
    defect: 'one read of off is enough',
    file: 'src/controllers/node-daemons/fast/off-reads.ts',
    edits: [['const OFFS_NEEDED = 2;', 'const OFFS_NEEDED = 1;']],
    killedBy: byTest(FAST, 'is not taken for failed where one read of two says off'),
  },
  {
    name: 'fast on any device',
    defect: 'a device that does not show whose machine it is counts as off',
    file: 'src/controllers/node-daemons/fast/off-reads.ts',
    edits: [["answer?.state === 'off' && answer.identity === 'verified'", "answer?.state === 'off'"]],
    killedBy: byTest(FAST, 'is not taken for failed where its BMC does not show whose machine it is'),
  },
  {
    name: 'fast after a pause',
    defect: 'a process that stood still takes what it did not hear for silence',
    file: 'src/controllers/node-daemons/fast/fast-detection.ts',
    edits: [['> TICK_MS + LATE_MS) heartbeats.interrupted(nowMs);', '> 1_000 * LATE_MS) heartbeats.interrupted(nowMs);']],
    killedBy: byTest(FAST, 'is not judged by a process that stood still, whatever came meanwhile'),
  },
  {
    name: 'fast off after a heartbeat',
    defect: 'the off is sent though a heartbeat came back before it left',
    file: 'src/controllers/fence/run/device-runs.ts',
    edits: [['if (why !== undefined) throw notSent(entry, why);', 'void why;']],
    killedBy: byTest(FAST_FENCE, 'is not switched off where a heartbeat came in the turn before the off would have left'),
  },
  {
    name: 'fast in memory',
    defect: 'a node that was heard again stays failed until the next look',
    file: 'src/controllers/node-daemons/fast/fast-detection.ts',
    edits: [["return judged?.verdict === 'failed' ?", 'return judged !== null ?']],
    killedBy: byTest(FAST, 'comes back: what was decided is withdrawn with its first heartbeat, before the next look'),
  },
  {
    name: 'proof outlives a heartbeat',
    defect: 'a heartbeat that comes after the proof leaves it valid',
    file: 'src/domain/health.ts',
    edits: [
      [
        "return kind === 'storage-revoked' || kind === 'watchdog' ? lifeAtMs : Math.max(lifeAtMs, heardAtMs);",
        "return kind === 'storage-revoked' || heardAtMs >= 0 ? lifeAtMs : 0;",
      ],
    ],
    killedBy: byTest('src/domain/health.test.ts', 'is the daemon’s, which was heard later'),
  },
  {
    name: 'end of a boot that is heard',
    defect: 'a watchdog that has not bitten proves the end of a boot whose daemon is still heard',
    file: 'agents/watchdog/agent.ts',
    edits: [['this.#context.daemons?.isHeard(node, bootID) !== true', "bootID !== ''"]],
    killedBy: byTest('agents/watchdog/agent.test.ts', 'waits anew while the boot is heard that must have ended: its watchdog has not bitten'),
  },
  {
    name: 'watchdog doubted by its daemon',
    defect: 'a node that speaks until its watchdog resets it is never proven to be at its end',
    file: 'src/domain/health.ts',
    edits: [[" || kind === 'watchdog' ? lifeAtMs", ' ? lifeAtMs']],
    killedBy: byTest('src/domain/waited-proof.test.ts', 'stands at a heartbeat of the daemon, which speaks until it is reset'),
  },
  {
    name: 'Lease of a fenced node forgotten',
    defect: 'the Lease of a node that is gone is removed while its NodeFence is there',
    file: 'src/controllers/node-daemons/write.ts',
    edits: [['if (fence !== undefined) throw new Conflict(', 'if (fence === null) throw new Conflict(']],
    killedBy: byTest(FORGOTTEN, 'stays while a daemon still writes it, or a NodeFence of the node is there'),
  },
  {
    name: 'Lease of a node that is back forgotten',
    defect: 'the Lease of a node is removed that is there again',
    file: 'src/controllers/node-daemons/write.ts',
    edits: [['if (standing !== undefined) throw new Conflict(', 'if (standing === null) throw new Conflict(']],
    killedBy: byTest(FORGOTTEN, 'stays where the Node is there again, which a watch that is late does not show'),
  },
  {
    name: 'Lease forgotten that is written',
    defect: 'the Lease of a node whose Node is gone is removed while its daemon lives and writes it',
    file: 'src/controllers/node-daemons/forgotten-nodes.ts',
    edits: [['known?.version === version ? known', 'known !== undefined ? known']],
    killedBy: byTest(FORGOTTEN, 'stays while a daemon still writes it, or a NodeFence of the node is there'),
  },
];
