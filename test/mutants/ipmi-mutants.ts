import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const REPLAY = 'agents/ipmi/native/replay.test.ts';

/** Defects of the agent ipmi, beside those of device-mutants.ts. */
export const IPMI_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'replayed answer',
    defect: 'an answer of IPMI that was said before is believed again',
    file: 'agents/ipmi/native/secure-channel.ts',
    edits: [['packet.sequence <= this.#received || ', '']],
    killedBy: byTest(REPLAY, 'an answer of a round of rqSeq ago says nothing of now'),
  },
  {
    name: 'replay not noted',
    defect: 'the number of what was heard is not noted, so that it is believed again',
    file: 'agents/ipmi/native/secure-channel.ts',
    edits: [['    this.#received = packet.sequence;\n', '']],
    killedBy: byTest(REPLAY, 'an answer of a round of rqSeq ago says nothing of now'),
  },
  {
    name: 're-login keeps the identity',
    defect: 'after a login anew IPMI keeps the GUID of the BMC before',
    file: 'agents/ipmi/session.ts',
    edits: [
      ['    this.#guid = undefined;\n    this.#upAtMs = undefined;', '    this.#upAtMs = undefined;'],
      ['return line === this.#line && this.#guid !== undefined', 'return this.#guid !== undefined'],
    ],
    killedBy: byTest(REPLAY, 'of the machine behind a session that is lost says nothing of the one behind the next'),
  },
];
