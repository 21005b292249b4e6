import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const COMMAND_LINE = 'agents/ethernet-switch/command-line.test.ts';
const STRANGE_ANSWERS = 'agents/ethernet-switch/strange-answers.test.ts';

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
  {
    name: 'IOS port shown of another',
    defect: 'the state of another port that the switch shows counts',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['if (!isSamePort(view.name, plug)) throw call.error', 'if (view.name === "") throw call.error']],
    killedBy: byTest(STRANGE_ANSWERS, 'a port that the switch shows is no answer for Gi1/0/7 where it is GigabitEthernet1/0/17'),
  },
  {
    name: 'port number unread',
    defect: 'a port of another number counts as the one asked for',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['shownNumber === number && shownLetters', 'shownLetters']],
    killedBy: byTest(STRANGE_ANSWERS, 'a port that the switch shows is no answer for Gi1/0/7 where it is GigabitEthernet1/0/17'),
  },
  {
    name: 'change unconfirmed',
    defect: 'a commit that Junos did not confirm counts as taken',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['const isTaken = dialect.confirmation === undefined ||', 'const isTaken = dialect.confirmation !== lines ||']],
    killedBy: byTest(STRANGE_ANSWERS, 'is unclear where Junos does not say that the commit is complete'),
  },
  {
    name: 'prompt of another mode',
    defect: 'a line counts that left the switch at another prompt',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['if (!prompt.test(said.prompt))\n', 'if (said.prompt === "")\n']],
    killedBy: byTest(STRANGE_ANSWERS, 'is not typed where the switch did not enter the mode in which things are changed'),
  },
  {
    name: 'enable refused unseen',
    defect: 'a change is tried although enable was refused',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [["if (!said.prompt.endsWith('#'))", "if (said.prompt === '')"]],
    killedBy: byTest(COMMAND_LINE, 'that is refused changes nothing'),
  },
  {
    name: 'enable password told',
    defect: 'the second password is shown where the switch quotes it',
    file: 'agents/ethernet-switch/command-line.ts',
    edits: [['[...connection.secrets, password]', 'connection.secrets']],
    killedBy: byTest(STRANGE_ANSWERS, 'shows no second password, also where the switch quotes it'),
  },
  {
    name: 'several heads',
    defect: 'of several interfaces in one answer the first counts',
    file: 'agents/ethernet-switch/dialects.ts',
    edits: [['return found.length === 1 ? found[0] : undefined;', 'return found[0];']],
    killedBy: byTest(
      'agents/ethernet-switch/dialects.test.ts',
      'what real switches print ios: ["Gi1 is administratively down, line protocol is down","Gi1 is up, line protocol is up"] says nothing',
    ),
  },
  {
    name: 'reset port open',
    defect: 'a port that is being reset counts as open',
    file: 'agents/ethernet-switch/dialects.ts',
    edits: [["line === 'reset' ? undefined : 'up'", "'up'"]],
    killedBy: byTest('agents/ethernet-switch/dialects.test.ts', 'what real switches print ios: cisco-ios, "GigabitEthernet0/0 is reset" is unknown'),
  },
  {
    name: 'Junos shared candidate',
    defect: 'a commit takes along what somebody else was writing',
    file: 'agents/ethernet-switch/dialects.ts',
    edits: [["'configure private'", "'configure'"]],
    killedBy: byTest(COMMAND_LINE, 'closes a port, reads it back, and opens it'),
  },
  {
    name: 'Junos open and closed',
    defect: 'Junos opens a port that is to be closed',
    file: 'agents/ethernet-switch/dialects.ts',
    edits: [["{ closed: 'set', open: 'delete' }", "{ closed: 'delete', open: 'set' }"]],
    killedBy: byTest(COMMAND_LINE, 'closes a port, reads it back, and opens it'),
  },
  {
    name: 'Junos link unread',
    defect: 'a Junos port that is configured down and passes traffic counts as closed',
    file: 'agents/ethernet-switch/dialects.ts',
    edits: [["link === 'Up' ? 'up' : 'down'", "'down'"]],
    killedBy: byTest(
      'agents/ethernet-switch/dialects.test.ts',
      'what real switches print junos: a port that is configured down and still up is pending',
    ),
  },
  {
    name: 'IF-MIB port read by an old index',
    defect: 'the name of the port is not read with its state',
    file: 'agents/shared/interfaces/if-mib.ts',
    edits: [['if (textOf(shown) !== name)', 'if (textOf(shown) === "")']],
    killedBy: byTest(STRANGE_ANSWERS, 'is none whose index became another one between its name and its state'),
  },
  {
    name: 'unused port seen open',
    defect: 'a port without a link that does not show whose it is, as a mistyped one, counts as one that the node was shut out of',
    file: 'agents/shared/interfaces/port-identity.ts',
    edits: [["state === 'open' && view.hasLink !== true", "state === 'open' && view.hasLink === null"]],
    killedBy: byTest(
      'agents/shared/interfaces/port-identity.test.ts',
      'that does not show whose it is was not seen open to anybody without a link: false',
    ),
  },
  {
    name: 'plug of the switch itself',
    defect: 'an interface of the switch itself is switched where the plug names it',
    file: 'agents/ethernet-switch/agent.ts',
    edits: [["if (own !== undefined) throw call.error('Misconfigured', own);", '']],
    killedBy: byTest(COMMAND_LINE, 'an interface of the switch itself is never switched: nve1'),
  },
  {
    name: 'SNMP port set ungated',
    defect: 'over SNMP the port is closed without lease and stops',
    file: 'agents/ethernet-switch/agent.ts',
    edits: [['return setPort(client, call, port, wanted, beforeSend);', 'return setPort(client, call, port, wanted, () => undefined);']],
    killedBy: byTest('agents/ethernet-switch/if-mib.test.ts', 'is not touched when the lease is lost in the turn of the send'),
  },
  {
    name: 'SSH without account',
    defect: 'SSH is tried without an account',
    file: 'agents/ethernet-switch/parameters.ts',
    edits: [["if (withSecrets && named['username'] === undefined)", "if (named['username'] === '')"]],
    killedBy: byTest(STRANGE_ANSWERS, 'needs an account, which may come of the Secret'),
  },
];
