import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SSH_AGENT = 'agents/ssh/agent.test.ts';

/** Defects of the agent ssh. */
export const SSH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'ssh any code',
    defect: 'a command that failed counts as done',
    file: 'agents/ssh/agent.ts',
    edits: [["if (answer.code !== 0) throw call.error('Refused', words);", '']],
    killedBy: byTest(SSH_AGENT, 'is refused at any other code, in the words of the command'),
  },
  {
    name: 'ssh unconfirmed',
    defect: 'a command that confirm_command denies counts as done',
    file: 'agents/ssh/agent.ts',
    edits: [['if (isConfirmed(settings, confirmation)) return', 'if (settings.confirmCommand !== "") return']],
    killedBy: byTest(SSH_AGENT, 'believes the second command where there is one'),
  },
  {
    name: 'ssh confirmed by nothing',
    defect: 'without confirm_command all is confirmed',
    file: 'agents/ssh/agent.ts',
    edits: [['if (settings.confirmCommand === undefined) return false;', 'if (settings.confirmCommand === undefined) return true;']],
    killedBy: byTest(SSH_AGENT, 'is accepted at code 0, and claims no more'),
  },
  {
    name: 'ssh confirmed by a failure',
    defect: 'a confirm_command that failed confirms',
    file: 'agents/ssh/agent.ts',
    edits: [['if (code !== 0) return false;', '']],
    killedBy: byTest(SSH_AGENT, 'believes no second command that failed, or that said more than is read'),
  },
  {
    name: 'ssh confirmed in part',
    defect: 'a cut answer confirms',
    file: 'agents/ssh/agent.ts',
    edits: [['return !isCut && stdout', 'return stdout']],
    killedBy: byTest(SSH_AGENT, 'believes no second command that failed, or that said more than is read'),
  },
  {
    name: 'ssh ungated',
    defect: 'the command leaves without lease and stops',
    file: 'agents/ssh/agent.ts',
    edits: [['{ gate: () => target.beforeSend() }', '{}']],
    killedBy: byTest(SSH_AGENT, 'sends nothing when the lease is lost in the turn of the send'),
  },
  {
    name: 'ssh any words',
    defect: 'confirm_output is not looked for',
    file: 'agents/ssh/agent.ts',
    edits: [['.some((line) => confirmOutput.test(line))', '.some(() => confirmOutput !== null)']],
    killedBy: byTest(SSH_AGENT, 'believes the second command where there is one'),
  },
];
