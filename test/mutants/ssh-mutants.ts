import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SSH_AGENT = 'agents/ssh/agent.test.ts';
const ENDINGS = 'agents/ssh/endings.test.ts';

/** Defects of the agent ssh. */
export const SSH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'ssh any code',
    defect: 'a command that failed counts as done',
    file: 'agents/ssh/agent.ts',
    edits: [["if (answer.code !== 0) throw call.error('Refused', message);", '']],
    killedBy: byTest(ENDINGS, 'is accepted at code 0 with nothing read back, and refused at any other, in the words of its stderr'),
  },
  {
    name: 'ssh unconfirmed',
    defect: 'a command that confirm_command denies counts as done',
    file: 'agents/ssh/agent.ts',
    edits: [['if (isConfirmed(settings, confirmation))\n', 'if (settings.confirmCommand !== "")\n']],
    killedBy: byTest(ENDINGS, 'is confirmed by confirm_command at code 0 only, and never by a command that is not there'),
  },
  {
    name: 'ssh confirmed by nothing',
    defect: 'without confirm_command all is confirmed',
    file: 'agents/ssh/agent.ts',
    edits: [['if (settings.confirmCommand === undefined) return false;', 'if (settings.confirmCommand === undefined) return true;']],
    killedBy: byTest(ENDINGS, 'is accepted at code 0 with nothing read back, and refused at any other, in the words of its stderr'),
  },
  {
    name: 'ssh confirmed by a failure',
    defect: 'a confirm_command that failed confirms',
    file: 'agents/ssh/agent.ts',
    edits: [['if (code !== 0) return false;', '']],
    killedBy: byTest(ENDINGS, 'is confirmed by no answer of a command that failed, or that said more than is read'),
  },
  {
    name: 'ssh confirmed in part',
    defect: 'a cut answer confirms',
    file: 'agents/ssh/agent.ts',
    edits: [['return !isCut && stdout', 'return stdout']],
    killedBy: byTest(ENDINGS, 'is confirmed by no answer of a command that failed, or that said more than is read'),
  },
  {
    name: 'ssh ungated',
    defect: 'the command leaves without lease and stops',
    file: 'agents/ssh/agent.ts',
    edits: [['{ gate: () => target.beforeSend() }', '{}']],
    killedBy: byTest(ENDINGS, 'is not sent when the lease is lost in the turn of the send'),
  },
  {
    name: 'ssh any words',
    defect: 'confirm_output is not looked for',
    file: 'agents/ssh/agent.ts',
    edits: [['.some((line) => confirmOutput.test(line))', '.some(() => confirmOutput !== null)']],
    killedBy: byTest(ENDINGS, 'is confirmed by one whole line that confirm_output matches'),
  },
  {
    name: 'ssh killed counts',
    defect: 'a command that a signal ended is no refusal',
    file: 'agents/ssh/agent.ts',
    edits: [['if (answer.code === undefined && answer.signal === undefined)', 'if (answer.code === undefined)']],
    killedBy: byTest(ENDINGS, 'is refused when a signal ended it'),
  },
  {
    name: 'ssh ended unclear',
    defect: 'a command whose end nobody told counts as done',
    file: 'agents/ssh/agent.ts',
    edits: [
      ["if (answer.code === undefined && answer.signal === undefined) return { result: 'unclear', detail: `no code was told: ${message}` };", ''],
      ['if (answer.code !== 0) throw', 'if (answer.code !== 0 && answer.code !== undefined) throw'],
    ],
    killedBy: byTest(ENDINGS, 'is refused when a signal ended it'),
  },
  {
    name: 'ssh part of a line',
    defect: 'confirm_output need not match the whole line',
    file: 'agents/ssh/parameters.ts',
    edits: [['new RegExp(`^(?:${text})$`)', 'new RegExp(text)']],
    killedBy: byTest(ENDINGS, 'a command over SSH is confirmed by one whole line that confirm_output matches: "inactive"'),
  },
  {
    name: 'ssh two lines',
    defect: 'a command may hold a second line',
    file: 'agents/ssh/parameters.ts',
    edits: [['!/[\\r\\n\\0]/.test(text)', '!/\\0/.test(text)']],
    killedBy: byTest(SSH_AGENT, 'has a problem with command'),
  },
  {
    name: 'ssh pattern of nothing',
    defect: 'confirm_output without confirm_command is taken in silence',
    file: 'agents/ssh/parameters.ts',
    edits: [["if (named['confirm_output'] !== undefined && named['confirm_command'] === undefined)", "if (named['confirm_output'] === '')"]],
    killedBy: byTest(SSH_AGENT, 'has a problem with confirm_output'),
  },
  {
    name: 'ssh one queue for all ports',
    defect: 'machines behind two ports of one address wait for each other, and one port written twice is two',
    file: 'agents/ssh/parameters.ts',
    edits: [["hostAndPort(named['ip'] ?? '', named['ipport'] ?? '22')", "named['ip'] ?? ''"]],
    killedBy: byTest(SSH_AGENT, 'name one queue for one machine'),
  },
  {
    name: 'ssh error lost',
    defect: 'what the command wrote to stderr is not told',
    file: 'agents/ssh/agent.ts',
    edits: [["stderr.trim() === '' ? stdout : stderr", 'stdout']],
    killedBy: byTest(ENDINGS, 'is accepted at code 0 with nothing read back, and refused at any other, in the words of its stderr'),
  },
];
