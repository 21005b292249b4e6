import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

/** Defects of what becomes of a run that a crash, a stop or a disk that hangs has cut off. */
export const LEFT_OPEN_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'found run cut off as not sent',
    defect: 'an off of a predecessor that is being looked for at a graceful stop is recorded as never sent: its machine stays off, on no record',
    file: 'src/controllers/fence/run/cut-off.ts',
    edits: [["if (kind === 'recover' || write === 'sent') return undefined;", "if (kind !== 'recover' && write === 'sent') return undefined;"]],
    killedBy: byTest(
      'src/controllers/fence/cut-off-recovery.test.ts',
      'leaves the intent open: nobody knows whether it was sent, and the successor reads it',
    ),
  },
  {
    name: 'not asked again after a crash',
    defect:
      'an off that a crash left open counts as one that may have been sent after one question that the API server did not answer, and is carried through',
    file: 'src/controllers/fence/run/recovered.ts',
    edits: [['if (!isUnasked || clock.monotonicMs() + ASKED_AGAIN_MS > untilMs) return report;', 'if (!isUnasked || untilMs > 0) return report;']],
    killedBy: byTest(
      'src/controllers/fence/cut-off-recovery.test.ts',
      'is asked for again: what its device shows decides, where the question is not answered',
    ),
  },
  {
    name: 'asked without end after a crash',
    defect: 'an off that a crash left open, and whose Secret can never be read, keeps its fence for ever, and is on no record',
    file: 'src/controllers/fence/run/recovered.ts',
    edits: [['if (!isUnasked || clock.monotonicMs() + ASKED_AGAIN_MS > untilMs) return report;', 'if (!isUnasked || untilMs < 0) return report;']],
    killedBy: byTest('src/controllers/fence/cut-off-recovery.test.ts', 'is on record as one that may have been sent when that does not end'),
  },
  {
    name: 'off on its way found not done',
    defect: 'an off that a crash left open, and whose device shows neither on nor off, counts as one that never began: nobody takes it back',
    file: 'src/dispatch/dispatcher.ts',
    edits: [["if (wanted === 'off' && !device.shows(reading, 'on')) return", "if (wanted === 'off' && device.shows(reading, 'off')) return"]],
    killedBy: byTest('src/dispatch/recovery.test.ts', 'is ours to take back where its device shows neither: it is on its way'),
  },
  {
    name: 'agent waited for without end',
    defect: 'a disk that hangs while the code of an agent is loaded holds up its fence, and nobody is told',
    file: 'src/dispatch/dispatcher.ts',
    edits: [
      [
        'return withDeadline(this.#clock, job.signal, deadlineMs, facts, () => this.#agentOf(method));',
        'return facts.asked === undefined ? withDeadline(this.#clock, job.signal, deadlineMs, facts, () => this.#agentOf(method)) : this.#agentOf(method);',
      ],
    ],
    killedBy: byTest(
      'src/dispatch/making-agents.test.ts',
      'ends its run, and serves the next one once it is made: a disk that hangs holds up no fence in silence, nor the end of the process',
    ),
  },
];
