import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const NOTICES = 'src/controllers/self-check/notices.test.ts';
const OTHER_INSTALLATION = 'src/controllers/self-check/other-installation.test.ts';
const REFUSED_WRITES = 'src/controllers/self-check/refused-writes.test.ts';
const QUESTIONS = 'src/controllers/self-check/questions.test.ts';

/** Defects of what a replica asks, says and believes of the installation, beside those of self-check-mutants.ts. */
export const SELF_CHECK_ANSWER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'notice for ever',
    defect: 'what a replica that is gone said stands for ever',
    file: 'src/controllers/self-check/notices.ts',
    edits: [['nowMs - Date.parse(notice.at) <= BELIEVED_MS', 'nowMs - Date.parse(notice.at) <= Infinity']],
    killedBy: byTest(NOTICES, 'is gone with the process, also where that could not say so'),
  },
  {
    name: 'notice not said again',
    defect: 'what stands is said once and not believed after a while',
    file: 'src/controllers/self-check/notices.ts',
    edits: [['if (this.#isSaid) this.#later(AGAIN_MS);', '']],
    killedBy: byTest(NOTICES, 'is read while it stands, and taken back when it is over'),
  },
  {
    name: 'notice not taken back',
    defect: 'what was mended is still said',
    file: 'src/controllers/self-check/notices.ts',
    edits: [['if (words.length === 0 && !this.#isSaid) return;', 'if (words.length === 0) return;']],
    killedBy: byTest(NOTICES, 'is read while it stands, and taken back when it is over'),
  },
  {
    name: 'notice once refused',
    defect: 'a notice that could not be written is not tried again',
    file: 'src/controllers/self-check/notices.ts',
    edits: [['      this.#later(RETRY_MS);\n', '']],
    killedBy: byTest(NOTICES, 'is said again when it could not be said, and where there is no Lease yet'),
  },
  {
    name: 'observing is acting',
    defect: 'an installation that only observes is in the way',
    file: 'src/controllers/self-check/other-installation.ts',
    edits: [['isOther(lease, namespace) && acts(lease) && isOlder', 'isOther(lease, namespace) && isOlder']],
    killedBy: byTest(OTHER_INSTALLATION, 'another installation in the cluster that only observes is none'),
  },
  {
    name: 'both are the second',
    defect: 'of two installations both give way',
    file: 'src/controllers/self-check/other-installation.ts',
    edits: [['if (own === undefined) return true;\n', 'if (own !== null) return true;\n']],
    killedBy: byTest(OTHER_INSTALLATION, 'that came later keeps the first from nothing'),
  },
  {
    name: 'unrenewed is alive',
    defect: 'an installation that left its Lease behind is alive',
    file: 'src/controllers/self-check/other-installation.ts',
    edits: [[' && now.spec.renewTime !== before.spec.renewTime;', ';']],
    killedBy: byTest(OTHER_INSTALLATION, 'another installation in the cluster that left its Lease behind when it was uninstalled is none'),
  },
  {
    name: 'refused forever',
    defect: 'a refusal stands after a write that succeeded',
    file: 'src/controllers/self-check/refused-writes.ts',
    edits: [['      this.#clear(key);\n      return written;', '      return written;']],
    killedBy: byTest(REFUSED_WRITES, 'stands until one is taken, and is told anew after that'),
  },
  {
    name: 'conflict is a refusal',
    defect: 'a lost race is told as a refusal',
    file: 'src/controllers/self-check/refused-writes.ts',
    edits: [['new Set([400, 403, 422])', 'new Set([400, 403, 409, 422])']],
    killedBy: byTest(REFUSED_WRITES, 'a status that the server refuses is none where it may be taken next time: ApiStatusError'),
  },
  {
    name: 'refusals without measure',
    defect: 'refused writes of any number are kept',
    file: 'src/controllers/self-check/refused-writes.ts',
    edits: [['this.#standing.size >= KEPT_MAX', 'this.#standing.size >= Infinity']],
    killedBy: byTest(REFUSED_WRITES, 'is one of a bounded number'),
  },
  {
    name: 'status dropped',
    defect: 'a kind whose definition has no status is taken',
    file: 'src/controllers/self-check/questions.ts',
    edits: [
      [
        "if (schema.properties?.['status'] !== undefined && !found.hasStatus) return",
        "if (schema.properties?.['status'] === undefined && !found.hasStatus) return",
      ],
    ],
    killedBy: byTest(QUESTIONS, 'a willing one is found to be right, and was tried with every enum value'),
  },
  {
    name: 'unserved kind',
    defect: 'a kind that is not served is taken',
    file: 'src/controllers/self-check/questions.ts',
    edits: [['if (found?.schema === undefined) return [fault(', 'if (found === null) return [fault(']],
    killedBy: byTest(QUESTIONS, 'what is asked of a server a definition that is not there is a fault, but not of what is optional'),
  },
  {
    name: 'optional unasked',
    defect: 'what is not installed is asked about',
    file: 'src/controllers/self-check/questions.ts',
    edits: [['if (!isOptional || first === undefined) return', 'if (isOptional || first === undefined) return']],
    killedBy: byTest(QUESTIONS, 'what is asked of a server a definition that is not there is a fault, but not of what is optional'),
  },
  {
    name: 'rules incomplete',
    defect: 'an authorizer that cannot tell its rules refuses all',
    file: 'src/controllers/self-check/questions.ts',
    edits: [['const refused = answer.isComplete ? missing : await refusedOf(server, missing);', 'const refused = missing;']],
    killedBy: byTest(QUESTIONS, 'an authorizer that cannot tell all its rules is asked for what the others do not grant'),
  },
  {
    name: 'first sample only',
    defect: 'only the first value of each enum is tried',
    file: 'src/controllers/self-check/samples.ts',
    edits: [['const wideness = Math.max(1, ...choicesIn(schema));', 'const wideness = 1;']],
    killedBy: byTest(QUESTIONS, 'a willing one is found to be right, and was tried with every enum value'),
  },
];
