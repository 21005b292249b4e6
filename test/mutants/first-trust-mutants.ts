import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const PROBES = 'src/controllers/probes/trust.ts';
const PROBES_TEST = 'src/controllers/probes/controller.test.ts';
const RESOLVED = 'src/config/resolve-parameters.ts';
const RESOLVED_TEST = 'src/config/first-trust.test.ts';

/** Ways in which a stranger would be taken for the device. */
export const FIRST_TRUST_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'first sight during a fence',
    defect: 'what answers while the node fails or is being fenced is recorded',
    file: PROBES,
    edits: [["if (why === 'first seen' && !mayRecord())", "if (why === 'first seen' && mayRecord === undefined)"]],
    killedBy: byTest(PROBES_TEST, 'is not recorded while its node is not Ready, nor once a fence of it was opened meanwhile'),
  },
  {
    name: 'stranger is recorded',
    defect: 'a device that shows another certificate is recorded anew by itself',
    file: 'src/domain/first-trust.ts',
    edits: [['return accepted.includes(shown) ?', 'return accepted.length >= 0 ?']],
    killedBy: byTest(PROBES_TEST, 'that shows something else is not read any more, and alarms at once: Event, report and metric'),
  },
  {
    name: 'record of another device',
    defect: 'what one device showed is believed of every device of the node',
    file: RESOLVED,
    edits: [['trusted.find(({ device }) => device === method.device)', 'trusted[0]']],
    killedBy: byTest(RESOLVED_TEST, 'runs with what is on record of this very device as its pin'),
  },
  {
    name: 'word without a record',
    defect: 'an agent that is told to trust on first use believes what it is shown',
    file: 'agents/redfish/parameters.ts',
    edits: [['if (isTrustedFirst(named)) problems.push', "if (isTrustedFirst(named) && named['ip'] === undefined) problems.push"]],
    killedBy: byTest(RESOLVED_TEST, 'is no trust by itself: an agent that is given the word refuses'),
  },
];
