import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const FABRIC_OS_ANSWERS = 'agents/fc-switch/fabric-os-answers.test.ts';
const FC_SWITCH_AGENT = 'agents/fc-switch/agent.test.ts';

/** Defects of the agent fc-switch. */
export const FC_SWITCH_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'fc disabled until a restart',
    defect: 'a port that is disabled until the next restart is closed',
    file: 'agents/fc-switch/fabric-os-answers.ts',
    edits: [['return port.isDisabled && isPersistent && DARK', 'return port.isDisabled && DARK']],
    killedBy: byTest(FABRIC_OS_ANSWERS, 'disabled until the next restart of the switch'),
  },
  {
    name: 'fc lit',
    defect: 'a port that is disabled and online is closed',
    file: 'agents/fc-switch/fabric-os-answers.ts',
    edits: [[" && DARK.has(port.link) ? 'closed'", " ? 'closed'"]],
    killedBy: byTest(FC_SWITCH_AGENT, 'reads a port that is disabled and still on line as pending'),
  },
  {
    name: 'fc first row',
    defect: 'of two rows of one name the first counts',
    file: 'agents/fc-switch/fabric-os-answers.ts',
    edits: [['if (row === undefined || rows.length > 1) return undefined;', 'if (row === undefined) return undefined;']],
    killedBy: byTest(FABRIC_OS_ANSWERS, 'a port of which switchshow has two rows is none that is known'),
  },
  {
    name: 'fc unknown link',
    defect: 'a link state that nobody knows is dark',
    file: 'agents/fc-switch/fabric-os-answers.ts',
    edits: [['isPersistent === undefined || !KNOWN.has(port.link)) return', 'isPersistent === undefined) return']],
    killedBy: byTest(FABRIC_OS_ANSWERS, 'in a state that nobody knows'),
  },
  {
    name: 'fc refused',
    defect: 'a refusal of the switch counts as accepted',
    file: 'agents/fc-switch/fabric-os.ts',
    edits: [["if (REFUSAL.test(said) || (answer.code !== 0 && said !== '')) throw", "if (answer.code !== 0 && said !== '') throw"]],
    killedBy: byTest(FC_SWITCH_AGENT, 'says what a switch that refuses says'),
  },
  {
    name: 'fc until a restart',
    defect: 'a port is disabled until the next restart only',
    file: 'agents/fc-switch/fabric-os.ts',
    edits: [['`portcfgpersistent${wanted', '`port${wanted']],
    killedBy: byTest(FC_SWITCH_AGENT, 'closes a port, reads it back, and opens it'),
  },
  {
    name: 'fc other fabric',
    defect: 'the command goes to another virtual fabric',
    file: 'agents/fc-switch/fabric-os.ts',
    edits: [['return this.#virtualFabric === undefined ? command :', 'return this.#virtualFabric !== 0 ? command :']],
    killedBy: byTest(FC_SWITCH_AGENT, 'is named in every command'),
  },
  {
    name: 'fc rest lit',
    defect: 'a port that REST shows online is closed',
    file: 'agents/fc-switch/fos-rest.ts',
    edits: [[" && operational === OPERATIONAL.offline ? 'closed'", " ? 'closed'"]],
    killedBy: byTest(FC_SWITCH_AGENT, 'reads a port that is disabled and still on line as pending'),
  },
  {
    name: 'fc rest ungated',
    defect: 'a port is closed without lease and stops',
    file: 'agents/fc-switch/fos-rest.ts',
    edits: [['      gate: beforeSend,\n', '']],
    killedBy: byTest(FC_SWITCH_AGENT, 'changes nothing when the lease is lost in the turn of the change, and asks for it last'),
  },
  {
    name: 'fc rest refused',
    defect: 'a refusal by REST counts as accepted',
    file: 'agents/fc-switch/fos-rest.ts',
    edits: [['if (answer.status >= 200 && answer.status < 300) return', 'if (answer.status >= 200) return']],
    killedBy: byTest(FC_SWITCH_AGENT, 'says what a switch that refuses says'),
  },
  {
    name: 'fc unread before',
    defect: 'a port is closed whose name was not read',
    file: 'agents/fc-switch/agent.ts',
    edits: [['      fitToSet(await port.read(), settings.portAlias, call);\n', '']],
    killedBy: byTest(FC_SWITCH_AGENT, 'changes nothing when the lease is lost in the turn of the change, and asks for it last'),
  },
  {
    name: 'FC port of another name',
    defect: 'REST shows another port, and it counts',
    file: 'agents/fc-switch/fos-rest.ts',
    edits: [["shown.filter((port) => member(port, 'name') === name)", "shown.filter((port) => member(port, 'name') !== '')"]],
    killedBy: byTest('agents/fc-switch/fos-rest.test.ts', 'is the one that was asked for, alone or among others'),
  },
  {
    name: 'FC row of another port',
    defect: 'the row of another port in switchshow counts',
    file: 'agents/fc-switch/fabric-os-answers.ts',
    edits: [['nameOf(line, hasSlots) === plug)', "nameOf(line, hasSlots)?.endsWith(plug.split('/').at(-1) ?? '') === true)"]],
    killedBy: byTest(FABRIC_OS_ANSWERS, 'a row of switchshow is of its own port only, in its own slot'),
  },
  {
    name: 'MDS port of another name',
    defect: 'NX-API shows another port, and it counts',
    file: 'agents/fc-switch/nx-api.ts',
    edits: [['if (view.name.toLowerCase() !== name.toLowerCase()) throw', "if (view.name === '') throw"]],
    killedBy: byTest('agents/fc-switch/nx-api.test.ts', 'a port that NX-API shows is the one that was asked for'),
  },
  {
    name: 'REST port closed until the restart',
    defect: 'a port that REST shows disabled until the next restart is closed',
    file: 'agents/fc-switch/fos-rest.ts',
    edits: [['enabled === ENABLED.offline && persistent === 1 && operational', 'enabled === ENABLED.offline && operational']],
    killedBy: byTest('agents/fc-switch/fos-rest.test.ts', 'a port that Fabric OS shows by REST with persistent-disable 0 is pending'),
  },
];
