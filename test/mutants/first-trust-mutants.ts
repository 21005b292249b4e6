import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const PROBES = 'src/controllers/probes/trust.ts';
const PROBES_TEST = 'src/controllers/probes/controller.test.ts';
const FIRST_TRUST = 'agents/shared/first-trust/parameters.ts';
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
    name: 'one of several hosts',
    defect: 'of an API with several hosts the first is recorded, and the others are taken for strangers',
    file: FIRST_TRUST,
    edits: [['return place === undefined || places.length > 1 || !place.tls ?', 'return place === undefined || !place.tls ?']],
    killedBy: byTest(RESOLVED_TEST, 'has proxmox shown nothing where there is nothing to be recorded'),
  },
  {
    name: 'trust without TLS',
    defect: 'an API without TLS is told to trust on first use, and nobody says that it cannot',
    file: FIRST_TRUST,
    edits: [['place?.tls === false ?', 'places.length > 1 && place?.tls === false ?']],
    killedBy: byTest(RESOLVED_TEST, 'is refused by vsphere with no TLS'),
  },
  {
    name: 'host key of nobody',
    defect: 'commands on another machine that trusts on first use run where nothing is on record of it',
    file: 'agents/shared/command/place.ts',
    edits: [["return named['ip'] === undefined ? undefined : firstHostKey", "return named['ip'] !== undefined ? undefined : firstHostKey"]],
    killedBy: byTest(RESOLVED_TEST, 'runs storage with what is on record as its pin'),
  },
  {
    name: 'word without a record',
    defect: 'an agent that is told to trust on first use believes what it is shown',
    file: FIRST_TRUST,
    edits: [['return isTrustedFirst(named) ? [UNRESOLVED]', "return isTrustedFirst(named) && named['ip'] === undefined ? [UNRESOLVED]"]],
    killedBy: byTest(RESOLVED_TEST, 'is no trust by itself: redfish refuses the word'),
  },
];
