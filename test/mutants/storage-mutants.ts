import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const STORAGE_AGENT = 'agents/storage/agent.test.ts';

/** Defects of the agent storage. */
export const STORAGE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'storage whose client',
    defect: 'a client that is not of the node counts as its own where its commands agree with one another',
    file: 'agents/storage/whose.ts',
    edits: [['if (shared.some((name) => isOf(', 'if (shared.some((name) => name !== "" || isOf(']],
    killedBy: byTest(STORAGE_AGENT, 'shows whom it shuts out by an address of another'),
  },
  {
    name: 'storage whose line',
    defect: 'a client counts as seen shut out whom no line is about',
    file: 'agents/storage/whose.ts',
    edits: [["name !== 'target' && looked.includes(name)", "name !== 'target'"]],
    killedBy: byTest(STORAGE_AGENT, 'shows whom it shuts out by a client that is closed and not looked for'),
  },
  {
    name: 'storage opened by a code',
    defect: 'a state program that failed is read all the same',
    file: 'agents/storage/agent.ts',
    edits: [["if (answer.code !== 0) throw call.error('Unreachable', saidBy(answer));", '']],
    killedBy: byTest(STORAGE_AGENT, 'tells what a command said that failed'),
  },
  {
    name: 'storage half read',
    defect: 'more output than is read counts as closed',
    file: 'agents/storage/agent.ts',
    edits: [
      [
        "if (answer.isCut) return { state: 'unknown', detail: `more",
        "if (answer.isCut && answer.code !== 0) return { state: 'unknown', detail: `more",
      ],
    ],
    killedBy: byTest(STORAGE_AGENT, 'does not know what more output than is kept would have said'),
  },
  {
    name: 'storage both lines',
    defect: 'a storage that shows both lines is closed',
    file: 'agents/storage/agent.ts',
    edits: [["const state = isOpen ? 'open' : 'closed';", "const state = isClosed ? 'closed' : 'open';"]],
    killedBy: byTest(STORAGE_AGENT, 'shuts out by one command, and believes the other'),
  },
  {
    name: 'storage ungated',
    defect: 'the closing command leaves without lease and stops',
    file: 'agents/storage/agent.ts',
    edits: [['{ gate: () => target.beforeSend() }', '{}']],
    killedBy: byTest(STORAGE_AGENT, 'starts nothing without the lease'),
  },
  {
    name: 'storage on the victim',
    defect: 'the commands run on the very node that is to be shut out',
    file: 'agents/storage/agent.ts',
    edits: [['if (place !== undefined) await demandElsewhere(', 'if (place?.host === "") await demandElsewhere(']],
    killedBy: byTest(STORAGE_AGENT, 'does the same by SSH on another host, never on the node itself'),
  },
  {
    name: 'storage part of a line',
    defect: 'a line that only holds the words counts as closed',
    file: 'agents/storage/template.ts',
    edits: [['return lines.includes(text);', 'return lines.some((line) => line.includes(text));']],
    killedBy: byTest(STORAGE_AGENT, 'storage takes a header with something before it for echo "no Export list:"'),
  },
  {
    name: 'storage option as a value',
    defect: 'a value may be an option of the program',
    file: 'agents/storage/template.ts',
    edits: [['/^[A-Za-z0-9_/][A-Za-z0-9_.:/@=+-]{0,254}$/', '/^[A-Za-z0-9_/-][A-Za-z0-9_.:/@=+-]{0,254}$/']],
    killedBy: byTest(STORAGE_AGENT, 'storage puts no "-rf" into a command'),
  },
  {
    name: 'killed is refused',
    defect: 'a command that was killed in the midst of it counts as refused, and nothing is read after it',
    file: 'agents/shared/command/command-runner.ts',
    edits: [["if (answer.code === undefined) return { result: 'unclear', detail };", '']],
    killedBy: byTest(STORAGE_AGENT, 'does not know what a command has done that was killed'),
  },
  {
    name: 'storage failed closing',
    defect: 'a closing command that failed counts as done',
    file: 'agents/shared/command/command-runner.ts',
    edits: [["if (answer.code !== 0) throw call.error('Refused', detail);", '']],
    killedBy: byTest(STORAGE_AGENT, 'tells what a command said that failed'),
  },
  {
    name: 'storage taken unseen',
    defect: 'a storage that was never seen open is believed when it says closed',
    file: 'agents/storage/agent.ts',
    edits: [['readonly mustBeSeenOpen = true;', 'readonly mustBeSeenOpen = false;']],
    killedBy: byTest(STORAGE_AGENT, 'says that its closed proves only what was seen open before: a mistyped name is never there'),
  },
];
