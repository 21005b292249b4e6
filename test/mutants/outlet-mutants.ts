import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const LOOK = 'agents/pdu/look.test.ts';
const OUTLETS = 'agents/pdu/outlets.test.ts';
const REDFISH_OUTLETS = 'agents/redfish/outlets.test.ts';

/** Defects of the agent pdu, beside those of single families, and of outlets that speak Redfish. */
export const OUTLET_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'off that is to be on',
    defect: 'an outlet of a Sentry4 that shows off is off while its control state says that it is to be on',
    file: 'agents/pdu/families.ts',
    edits: [['      off: [2, 4, 6, 10, 14, 16],\n', '']],
    killedBy: byTest(LOOK, 'of sentry4 that shows off is not off while its control state says that it is to be on'),
  },
  {
    name: 'group believed',
    defect: 'an outlet group that calls itself off is off, though one of its outlets is on',
    file: 'agents/redfish/outlets.ts',
    edits: [['return isGroup(view.resource) ?', "return textAt(view.resource, 'Id') === '' ?"]],
    killedBy: byTest(REDFISH_OUTLETS, 'are not off, whatever the group says, where one is on'),
  },
  {
    name: 'group without outlets',
    defect: 'an outlet group that names no outlets is off',
    file: 'agents/redfish/outlets.ts',
    edits: [['if (members.length === 0) return', 'if (members.length < 0) return']],
    killedBy: byTest(REDFISH_OUTLETS, 'are not off, whatever the group says, where none is named'),
  },
  {
    name: 'group in part',
    defect: 'an outlet group is off by the outlets that it names, though it says that it has more',
    file: 'agents/redfish/outlets.ts',
    edits: [['if (count !== undefined && count !== members.length)', 'if (count !== undefined && count < members.length)']],
    killedBy: byTest(REDFISH_OUTLETS, 'are not off, whatever the group says, where not all are named'),
  },
  {
    name: 'second column unread',
    defect: 'an outlet whose command is pending counts as switched',
    file: 'agents/pdu/look.ts',
    edits: [["if (also.pending.includes(value)) return 'pending';", '']],
    killedBy: byTest(OUTLETS, 'is pending while a command waits, and sent all the same'),
  },
  {
    name: 'second column unknown',
    defect: 'an outlet whose second column says nothing known counts',
    file: 'agents/pdu/look.ts',
    edits: [["return also.settled.includes(value) ? seen : 'unknown';", 'return seen;']],
    killedBy: byTest(LOOK, 'its second column says what no MIB has'),
  },
  {
    name: 'unsound outlet believed',
    defect: 'an outlet that the device reports as faulty counts',
    file: 'agents/pdu/look.ts',
    edits: [["if (!sound.values.includes(integerOf(health) ?? Number.NaN)) seen = 'unknown';", '']],
    killedBy: byTest(LOOK, 'what one answer shows of an outlet is no off where its relay failed'),
  },
  {
    name: 'column gone',
    defect: 'a column that was there once and is missing now is passed over',
    file: 'agents/pdu/look.ts',
    edits: [['if (also !== undefined && known.has(also.root)) {', 'if (also !== undefined && byName.get(also.root) !== undefined) {']],
    killedBy: byTest(LOOK, 'its second column is gone'),
  },
  {
    name: 'digits without limit',
    defect: 'a current of very many digits is nothing',
    file: 'agents/pdu/look.ts',
    edits: [['Math.min(Math.max(digits, 0), DIGITS_MAX)', 'Math.max(digits, 0)']],
    killedBy: byTest(
      LOOK,
      'the current of an outlet is {"current":{"kind":"integer","integer":1300},"digits":{"kind":"integer","integer":9}}: on, 1300 mA',
    ),
  },
  {
    name: 'negative current',
    defect: 'a current that was not measured witnesses off',
    file: 'agents/pdu/look.ts',
    edits: [['if (units !== undefined && units < 0) return undefined;', '']],
    killedBy: byTest(LOOK, 'the current of an outlet that was not measured witnesses nothing'),
  },
  {
    name: 'current of another outlet',
    defect: 'the current of another outlet witnesses',
    file: 'agents/pdu/look.ts',
    edits: [['return isOf(current.number, outlet.path.at(-1)) && (', 'return (']],
    killedBy: byTest(LOOK, 'the current of an outlet that is of another outlet witnesses nothing'),
  },
  {
    name: 'current unit untold',
    defect: 'in a chain a current of an untold unit witnesses',
    file: 'agents/pdu/look.ts',
    edits: [['(isUnitTold ? isOf(current.unit, outlet.path.at(-2)) : outlet.path.at(-2) === 1)', 'isOf(current.unit, outlet.path.at(-2))']],
    killedBy: byTest(LOOK, 'of a device that never tells the unit is the one of the first unit only'),
  },
  {
    name: 'unswitchable switched',
    defect: 'an outlet that the device does not let be switched is written to',
    file: 'agents/pdu/agent.ts',
    edits: [["if (look.unswitchable !== undefined) throw call.error('Misconfigured', look.unswitchable);", '']],
    killedBy: byTest(OUTLETS, 'is not written to where the device does not let it be switched'),
  },
  {
    name: 'outlet of another name',
    defect: 'an outlet that bears another name than outlet_name is switched',
    file: 'agents/pdu/agent.ts',
    edits: [["if (look.label === expected) return 'verified';", "if (look.label !== undefined) return 'verified';"]],
    killedBy: byTest(OUTLETS, 'must bear the name that outlet_name says, in each call'),
  },
  {
    name: 'outlet set unidentified',
    defect: 'an outlet is written to before its name is compared',
    file: 'agents/pdu/agent.ts',
    edits: [["      identify(look, settings, target, call);\n      if (look.state === 'unknown')", "      if (look.state === 'unknown')"]],
    killedBy: byTest(OUTLETS, 'must bear the name that outlet_name says, in each call'),
  },
  {
    name: 'unknown outlet set',
    defect: 'an outlet in an unknown state is written to',
    file: 'agents/pdu/agent.ts',
    edits: [["if (look.state === 'unknown') throw call.error('Unreachable', `state unknown (${look.detail}); nothing was sent`);", '']],
    killedBy: byTest(OUTLETS, 'is never sent after an unknown state, without a lease, or twice when its answer is lost'),
  },
  {
    name: 'PDU ungated',
    defect: 'an outlet is written to without lease and stops',
    file: 'agents/pdu/agent.ts',
    edits: [['[bindingOf(found, state)], () => target.beforeSend());', '[bindingOf(found, state)], () => undefined);']],
    killedBy: byTest(OUTLETS, 'is never sent after an unknown state, without a lease, or twice when its answer is lost'),
  },
  {
    name: 'first of several outlets',
    defect: 'of several outlets that the plug may mean the first is switched',
    file: 'agents/pdu/device.ts',
    edits: [['if (matches.length === 1 && match !== undefined)', 'if (match !== undefined)']],
    killedBy: byTest(OUTLETS, 'may leave out the unit where one only has that number, and is refused with both where two have it'),
  },
  {
    name: 'moved name unseen',
    defect: 'an outlet that lost its name is switched by where it was',
    file: 'agents/pdu/device.ts',
    edits: [["if (plug.kind === 'name' && shown.label !== plug.name) return false;", '']],
    killedBy: byTest(OUTLETS, 'follows its name when people move it, and is refused when the name is gone'),
  },
  {
    name: 'moved row unseen',
    defect: "a row that became another unit's is switched",
    file: 'agents/pdu/device.ts',
    edits: [['return number === outlet.path.at(-1) && (outlet.path.length < 2 || unit === outlet.path.at(-2));', 'return true;']],
    killedBy: byTest(OUTLETS, 'follows its row when the units of a chain come up in another order'),
  },
  {
    name: 'outlet from the left',
    defect: 'of a plug with fewer numbers than the outlet those on the left are compared',
    file: 'agents/pdu/outlet.ts',
    edits: [['path[path.length - numbers.length + place] === number', 'path[place] === number']],
    killedBy: byTest(OUTLETS, 'may leave out the unit where one only has that number, and is refused with both where two have it'),
  },
  {
    name: 'PDU boot untold',
    defect: "the PDU's start between off and read is not told",
    file: 'agents/pdu/agent.ts',
    edits: [['...(boot === undefined ? {} : { boot }),', '']],
    killedBy: byTest(OUTLETS, 'tells the start of the device that answered'),
  },
  {
    name: 'PDU session of another login',
    defect: 'a kept session serves another login',
    file: 'agents/pdu/parameters.ts',
    edits: [['JSON.stringify([snmp, family])', 'JSON.stringify([snmp.host, family])']],
    killedBy: byTest(OUTLETS, 'is of its own login: a session that is kept serves no other'),
  },
  {
    name: 'current of no measurement',
    defect: 'a current that is no number any more witnesses an off',
    file: 'agents/pdu/look.ts',
    edits: [
      [
        "if (units === undefined) return { source: current.name, state: 'unknown',",
        "if (units === undefined) return { source: current.name, state: 'off',",
      ],
    ],
    killedBy: byTest(LOOK, 'that is no number any more is no witness of an off'),
  },
];
