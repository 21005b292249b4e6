import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const ACK_AGENT = 'agents/ack/agent.test.ts';
const WATCHDOG_AGENT = 'agents/watchdog/agent.test.ts';
const EXEC_AGENT = 'agents/exec/agent.test.ts';

/** Defects of the agents ack, watchdog and exec. */
export const ACTING_AGENT_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'ack of a refused word',
    defect: 'a word that was refused counts',
    file: 'agents/ack/agent.ts',
    edits: [["word.status?.state === 'refused' ? (word.status.message ?? 'refused') : refusalOf", 'refusalOf']],
    killedBy: byTest(ACK_AGENT, 'what was refused'),
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
        "return { result: 'accepted', detail: `${word.metadata.name} stands",
        "return { result: 'accepted', evidence: { kind: 'ack' } as never, detail: `${word.metadata.name} stands",
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
    defect: 'x',
    file: 'agents/ack/agent.ts',
    edits: [
      ['async (call) => (await this.#words(call)).valid !== undefined);', 'async (call) => (await this.#words(call)).incident !== undefined);'],
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
    name: 'watchdog soft',
    defect: 'a software watchdog proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [["if (kind !== 'hardware') return", "if (kind === '') return"]],
    killedBy: byTest(WATCHDOG_AGENT, 'a watchdog in the kernel'),
  },
  {
    name: 'watchdog disarmed',
    defect: 'a watchdog that was not armed proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [["if (state !== 'armed') return", "if (state === '') return"]],
    killedBy: byTest(WATCHDOG_AGENT, 'a watchdog that is not armed'),
  },
  {
    name: 'watchdog pausable',
    defect: 'a watchdog of a machine that can be paused proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['if (isPausable) return', 'if (isPausable && action === "") return']],
    killedBy: byTest(WATCHDOG_AGENT, 'a machine that can be paused'),
  },
  {
    name: 'watchdog that tells',
    defect: 'a watchdog that only tells proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['return ENDING.has(action) ? undefined :', "return action !== '' ? undefined :"]],
    killedBy: byTest(WATCHDOG_AGENT, 'a watchdog that only tells'),
  },
  {
    name: 'watchdog of another boot',
    defect: 'the watchdog of an earlier boot proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['if (shown !== bootID) return', 'if (shown === "") return']],
    killedBy: byTest(WATCHDOG_AGENT, 'another boot'),
  },
  {
    name: 'watchdog of another machine',
    defect: 'the watchdog of another machine proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['normalUUID(systemUUID) !== expected) return', 'normalUUID(systemUUID) === "") return']],
    killedBy: byTest(WATCHDOG_AGENT, 'another machine'),
  },
  {
    name: 'watchdog attested long ago',
    defect: 'an attestation of any age proves',
    file: 'agents/watchdog/judgement.ts',
    edits: [['return aliveAt - attestedAt > attestationMaxAgeMs', 'return aliveAt - attestedAt > Infinity']],
    killedBy: byTest(WATCHDOG_AGENT, 'an attestation that was old'),
  },
  {
    name: 'watchdog unpromised',
    defect: 'a peer that may still vouch is left out',
    file: 'agents/watchdog/judgement.ts',
    edits: [['if (missing.length > 0)', 'if (missing.length > 99)']],
    killedBy: byTest(WATCHDOG_AGENT, 'waits until every peer has promised'),
  },
  {
    name: 'watchdog renewed',
    defect: 'a kubelet that was heard in the wait does not begin it anew',
    file: 'agents/watchdog/agent.ts',
    edits: [
      [
        "return { ...judgement, key: [judgement.key, kubelet?.spec.renewTime ?? '', ...written].join(' ') };",
        'return { ...judgement, key: judgement.key };',
      ],
    ],
    killedBy: byTest(WATCHDOG_AGENT, 'watchdog begins anew when a sign of life comes from the kubelet'),
  },
  {
    name: 'watchdog at once',
    defect: 'the wait is not waited',
    file: 'agents/watchdog/agent.ts',
    edits: [["if (judgement.verdict === 'after' && leftMs <= 0) return", "if (judgement.verdict === 'after') return"]],
    killedBy: byTest(WATCHDOG_AGENT, 'proves after everything that may keep the machine running has surely ended'),
  },
  {
    name: 'exec code alone',
    defect: 'exit code 2 alone is off',
    file: 'agents/exec/answers.ts',
    edits: [[": words.join() === 'Status: OFF')) return 'off';", ": words.join() !== 'Status: ON')) return 'off';"]],
    killedBy: byTest(EXEC_AGENT, 'a fence agent of ClusterLabs an exit code of 2 alone is no state'),
  },
  {
    name: 'exec words alone',
    defect: 'the words alone are off',
    file: 'agents/exec/answers.ts',
    edits: [['if (code === OFF_CODE && (byCode', 'if (code !== ON_CODE && (byCode']],
    killedBy: byTest(EXEC_AGENT, 'of a program that is gone says so'),
  },
  {
    name: 'exec off and loud',
    defect: 'x',
    file: 'agents/exec/answers.ts',
    edits: [["`${stdout}${stderr}`.trim() === ''", "stdout.trim() === ''"]],
    killedBy: byTest(EXEC_AGENT, 'its interpreter cannot read'),
  },
  {
    name: 'exec cut',
    defect: 'more output than is read counts',
    file: 'agents/exec/answers.ts',
    edits: [["if (ended !== 'exited' || isCut) return 'unknown';", "if (ended !== 'exited') return 'unknown';"]],
    killedBy: byTest(EXEC_AGENT, 'of a program that is gone says so'),
  },
  {
    name: 'exec killed',
    defect: 'a program that was killed at the deadline counts',
    file: 'agents/exec/answers.ts',
    edits: [["if (ended !== 'exited' || isCut) return 'unknown';", "if (isCut) return 'unknown';"]],
    killedBy: byTest(EXEC_AGENT, 'of a program that is gone says so'),
  },
  {
    name: 'exec sent nothing',
    defect: 'an off that the program found needless counts as sent',
    file: 'agents/exec/answers.ts',
    edits: [['if (lines.some((line) => /^success: already off$/iu.test(line))) return false;', '']],
    killedBy: byTest(EXEC_AGENT, 'and that is all'),
  },
  {
    name: 'exec secret told',
    defect: 'a password is told in a message',
    file: 'agents/exec/answers.ts',
    edits: [["words = words.replaceAll(secret, '***');", 'words = words.replaceAll(secret, secret);']],
    killedBy: byTest(EXEC_AGENT, 'never repeats a secret, wherever the agent says it'),
  },
  {
    name: 'exec ungated',
    defect: 'a program is started without lease and stops',
    file: 'agents/exec/agent.ts',
    edits: [['      target.beforeSend();\n      run.isBegun = true;', '      run.isBegun = true;']],
    killedBy: byTest(EXEC_AGENT, 'asks for leave right before the program is started that changes something, and starts nothing without'),
  },
  {
    name: 'exec never skips',
    defect: 'x',
    file: 'agents/exec/agent.ts',
    edits: [['readonly skipsWhatIsOff = true;', 'readonly skipsWhatIsOff = false as boolean;']],
    killedBy: byTest(EXEC_AGENT, 'of a program that is gone says so'),
  },
  {
    name: 'exec verified',
    defect: 'a program that never shows whose machine it switches verifies',
    file: 'agents/exec/agent.ts',
    edits: [
      [
        "return { ...(await this.#runner.status(target)), identity: 'unverified' };",
        "return { ...(await this.#runner.status(target)), identity: 'verified' };",
      ],
    ],
    killedBy: byTest(EXEC_AGENT, 'reads, switches off and on, a fresh process each time'),
  },
  {
    name: 'exec not begun',
    defect: 'a program that was never started is unclear',
    file: 'agents/exec/agent.ts',
    edits: [['if (!run.isBegun) throw', 'if (run.isBegun === undefined) throw']],
    killedBy: byTest(EXEC_AGENT, 'that is given up before its program is started was not sent'),
  },
];
