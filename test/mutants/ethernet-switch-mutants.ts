import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const COMMAND_LINE = 'agents/ethernet-switch/command-line.test.ts';

/** Defects of the agent ethernet-switch. */
export const ETHERNET_SWITCH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'injected line',
    defect: 'a plug may hold a second command',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['const PORT = /^[A-Za-z][A-Za-z-]*\\d[\\w./:-]{0,40}$/;', 'const PORT = /^[A-Za-z][A-Za-z-]*\\d[\\w./:-]{0,40}/;']],
    killedBy: byTest(COMMAND_LINE, 'types nothing that is no name of a port'),
  },
  {
    name: 'refusal unheard',
    defect: 'a line that the switch refuses counts',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['if (said.lines.some((one) => dialect.refusal.test(one)))', 'if (said.lines.length > 999)']],
    killedBy: byTest(COMMAND_LINE, 'says what a switch that refuses says'),
  },
  {
    name: 'gate at the first line',
    defect: 'the port is closed without lease and stops',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['connection, beforeSend);', 'connection);']],
    killedBy: byTest(COMMAND_LINE, 'changes nothing when the lease is lost in the turn of the change'),
  },
  {
    name: 'port unread before',
    defect: 'a port is closed whose description was not read',
    file: 'agents/ethernet-switch/agent.ts',
    edits: [['          fitToSet(port, settings.portAlias, call);\n', '']],
    killedBy: byTest('agents/ethernet-switch/if-mib.test.ts', 'is never an interface of the switch itself, whatever led to it'),
  },
  {
    name: 'port unread before by ssh',
    defect: 'a port is closed over SSH whose description was not read',
    file: 'agents/ethernet-switch/agent.ts',
    edits: [['        fitToSet(await this.#commandLine.read(connection, call, dialect, target.plug), settings.portAlias, call);\n', '']],
    killedBy: byTest(COMMAND_LINE, 'does not touch the port of another machine'),
  },
];
