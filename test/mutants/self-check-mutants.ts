import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const EMBEDDED = 'test/self-check/embedded.test.ts';
const COMPOSED = 'test/self-check/composed.test.ts';
const SHELL = 'src/controllers/self-check/self-check.test.ts';

/** Defects of what a process proves before it leads, and of what is told when a write is refused. */
export const SELF_CHECK_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'true for on',
    defect: 'enum values that the server does not take are overlooked',
    file: 'src/controllers/self-check/schema-gaps.ts',
    edits: [['if (refused.length > 0) gaps.push', 'if (refused.length > 99) gaps.push']],
    killedBy: byTest(EMBEDDED, 'refuses a definition in which on and off became true and false, until it is mended'),
  },
  {
    name: 'two installations',
    defect: 'a second installation acts beside one that is alive in another namespace',
    file: 'src/controllers/self-check/other-installation.ts',
    edits: [['if (live !== undefined) return', 'if (live !== undefined && waitedMs < 0) return']],
    killedBy: byTest('src/controllers/self-check/other-installation.test.ts', 'that is alive keeps a second one from acting'),
  },
  {
    name: 'first installation untold',
    defect: 'status and validate do not say that another installation came first',
    file: 'src/cli/self-check/installation-faults.ts',
    edits: [['[installationFaults(access), orUndefined(other)]', '[installationFaults(access), orUndefined(other.then(() => []))]']],
    killedBy: byTest('test/self-check/embedded.test.ts', 'that another installation came first, and nothing of one that is gone'),
  },
  {
    name: 'what an installation left',
    defect: 'the Lease of an installation that is gone keeps another one from acting for ever',
    file: 'src/controllers/self-check/other-installation.ts',
    edits: [[' && now.spec.renewTime !== before.spec.renewTime', '']],
    killedBy: byTest('src/controllers/self-check/other-installation.test.ts', 'that left its Lease behind when it was uninstalled is none'),
  },
  {
    name: 'reports that pile up',
    defect: 'the reports of Nodes that are gone stay for ever',
    file: 'src/controllers/fence/report-end.ts',
    edits: [['if (report === undefined) return undefined;', 'if (report !== undefined || listers.nodes.get(name) === undefined) return undefined;']],
    killedBy: byTest('src/controllers/fence/report-end.test.ts', 'goes at once where no fence of it is on record'),
  },
  {
    name: 'history lost with the Node',
    defect: 'what became of the fences of a Node is lost as soon as the Node is gone',
    file: 'src/controllers/fence/report-end.ts',
    edits: [['if (keptForMs > 0) return keptForMs;', '']],
    killedBy: byTest('src/controllers/fence/report-end.test.ts', 'stays for the time of its history'),
  },
  {
    name: 'dropped in silence',
    defect: 'fields that the server drops are overlooked',
    file: 'src/controllers/self-check/schema-gaps.ts',
    edits: [['return keepsUnknown(served) ? [] : [`it drops ${at(name)}`];', 'return [];']],
    killedBy: byTest(EMBEDDED, 'refuses a definition that knows no status.journal[].offSent, until it is mended'),
  },
  {
    name: 'rights unasked',
    defect: 'rights that are missing are overlooked',
    file: 'src/controllers/self-check/questions.ts',
    edits: [['ungranted(needs, answer.rules)', 'ungranted([], answer.rules)']],
    killedBy: byTest(EMBEDDED, 'names the resource of every rule that a role lacks'),
  },
  {
    name: 'a dry run that is none',
    defect: 'what is tried is stored',
    file: 'src/manager/self-check/api-server.ts',
    edits: [["{ dryRun: 'All', fieldValidation: 'Strict' }", "{ fieldValidation: 'Strict' }"]],
    killedBy: byTest(EMBEDDED, 'finds nothing wrong with what is shipped, and leaves nothing behind'),
  },
  {
    name: 'leads unproven',
    defect: 'the lease is taken whatever the self-check says',
    file: 'src/manager/compose.ts',
    edits: [['selfCheck.mayLead() && own.ownNode.mayLead(freeForMs)', 'own.ownNode.mayLead(freeForMs)']],
    killedBy: byTest(COMPOSED, 'does not take the lease while a definition refuses what it must write, and takes it soon after that is mended'),
  },
  {
    name: 'silence is consent',
    defect: 'a question without an answer counts as answered well',
    file: 'src/controllers/self-check/self-check.ts',
    edits: [['return { question, message: error instanceof Error ? error.message : String(error) };', 'return undefined;']],
    killedBy: byTest(SHELL, 'takes no answer neither for a pass nor for a refusal: the open question alone is asked again'),
  },
  {
    name: 'refused for ever',
    defect: 'what was refused once is not asked again',
    file: 'src/controllers/self-check/self-check.ts',
    edits: [['this.#later(faults.length === 0 ? PASSED_MS : REFUSED_MS);', 'if (faults.length === 0) this.#later(PASSED_MS);']],
    killedBy: byTest(SHELL, 'does not lead while something is wrong, says it once, goes on trying and leads when it is mended'),
  },
  {
    name: 'refused in silence',
    defect: 'a status that the server refuses is told nobody',
    file: 'src/controllers/self-check/refused-writes.ts',
    edits: [['if (error instanceof ApiStatusError && REFUSALS.has(error.status))', 'if (error instanceof ApiStatusError && error.status === 1)']],
    killedBy: byTest(COMPOSED, 'tells on the Node, and in nodefence status, once, that a status is refused later'),
  },
  {
    name: 'refused and told for ever',
    defect: 'a refusal is told with every try',
    file: 'src/controllers/self-check/refused-writes.ts',
    edits: [['this.#standing.get(key) === words ||', `this.#standing.get(key) === '' ||`]],
    killedBy: byTest(COMPOSED, 'tells on the Node, and in nodefence status, once, that a status is refused later'),
  },
  {
    name: 'proof at the last moment',
    defect: 'a process that waits forgets its proof at once',
    file: 'src/controllers/self-check/self-check.ts',
    edits: [['const PASSED_MS = 600_000;', 'const PASSED_MS = 1_000;']],
    killedBy: byTest(COMPOSED, 'that waits has proven itself before the leader is gone: nothing is asked in between'),
  },
];
