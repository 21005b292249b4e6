import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const EXEC_AGENT = 'agents/exec/agent.test.ts';
const EXEC_ANSWERS = 'agents/exec/answers.test.ts';

/** Defects of the agent exec. */
export const EXEC_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'exec name looked up again',
    defect: 'a fence agent is given the name of a device whose address was checked, and may call another one',
    file: 'agents/exec/agent.ts',
    edits: [['{ ...named, [parameter]: address }', 'named']],
    killedBy: byTest(
      EXEC_AGENT,
      'is given the address that was checked in the place of a name, but where a certificate or a host key is known by the name',
    ),
  },
  {
    name: 'exec address for a certificate',
    defect: 'a fence agent that checks a certificate is given an address that stands in none, and refuses its device',
    file: 'agents/exec/named-device.ts',
    edits: [
      ["return mayUseTls && !isYes('ssl_insecure') ? 'certificate' : undefined;", "return mayUseTls === undefined ? 'certificate' : undefined;"],
    ],
    killedBy: byTest(
      EXEC_AGENT,
      'is given the address that was checked in the place of a name, but where a certificate or a host key is known by the name',
    ),
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
    killedBy: byTest(EXEC_ANSWERS, 'fails with the words of off'),
  },
  {
    name: 'exec off and loud',
    defect: 'an interpreter that ends with 2 and complains is off',
    file: 'agents/exec/answers.ts',
    edits: [["`${stdout}${stderr}`.trim() === ''", "stdout.trim() === ''"]],
    killedBy: byTest(EXEC_AGENT, 'its interpreter cannot read'),
  },
  {
    name: 'exec cut',
    defect: 'more output than is read counts',
    file: 'agents/exec/answers.ts',
    edits: [["if (ended !== 'exited' || isCut) return 'unknown';", "if (ended !== 'exited') return 'unknown';"]],
    killedBy: byTest(EXEC_ANSWERS, 'said more than is kept'),
  },
  {
    name: 'exec killed',
    defect: 'a program that was killed at the deadline counts',
    file: 'agents/exec/answers.ts',
    edits: [["if (ended !== 'exited' || isCut) return 'unknown';", "if (isCut) return 'unknown';"]],
    killedBy: byTest(EXEC_ANSWERS, 'was killed at its deadline, and chose its code itself'),
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
    edits: [["message = message.replaceAll(secret, '***');", 'message = message.replaceAll(secret, secret);']],
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
    defect: 'an off that a program skipped counts as sent',
    file: 'agents/exec/agent.ts',
    edits: [['readonly skipsWhatIsOff = true;', 'readonly skipsWhatIsOff = false as boolean;']],
    killedBy: byTest(EXEC_AGENT, 'of off is known to be skipped by the program'),
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
