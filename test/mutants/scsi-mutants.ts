import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SCSI_AGENT = 'agents/scsi/agent.test.ts';

/** Defects of the agent scsi. */
export const SCSI_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'scsi key of another',
    defect: 'the key of another node, by a mistyped one, is taken away and counts',
    file: 'agents/scsi/agent.ts',
    edits: [['if (own !== undefined && own !== key)', "if (own === '')"]],
    killedBy: byTest(SCSI_AGENT, 'shows whose key it is by what the daemon of the node attests that it registers'),
  },
  {
    name: 'scsi last device',
    defect: 'of several devices the last decides',
    file: 'agents/scsi/agent.ts',
    edits: [
      [
        "(['open', 'unknown', 'closed'] as const).find((one) => ports.some((port) => port.state === one)) ?? 'unknown'",
        "ports.at(-1)?.state ?? 'unknown'",
      ],
    ],
    killedBy: byTest(SCSI_AGENT, 'has shut no storage while one of its devices still lets the node in, whichever that is'),
  },
  {
    name: 'scsi half a list',
    defect: 'a list of keys that is not whole counts',
    file: 'src/domain/scsi-registration.ts',
    edits: [['return keys.length === count ?', 'return keys.length <= count ?']],
    killedBy: byTest(SCSI_AGENT, 'fewer keys than the head says'),
  },
  {
    name: 'scsi cut line',
    defect: 'a list of keys that ends in a line counts',
    file: 'src/domain/scsi-registration.ts',
    edits: [["if (!text.endsWith('\\n')) return undefined;", '']],
    killedBy: byTest(SCSI_AGENT, 'a list that was cut in its last key'),
  },
  {
    name: 'scsi without a reservation',
    defect: 'a device without any reservation is closed',
    file: 'agents/scsi/reservation.ts',
    edits: [
      [
        "return { state: 'open', detail: `${told}, without the node's, no reservation: everybody may write` };",
        "return { state: 'closed', detail: told };",
      ],
    ],
    killedBy: byTest(SCSI_AGENT, 'the key is gone, and nothing is reserved'),
  },
  {
    name: 'scsi any reservation',
    defect: 'a reservation that keeps nobody out closes',
    file: 'agents/scsi/reservation.ts',
    edits: [["if (!isShut) return { state: 'open', detail };", '']],
    killedBy: byTest(SCSI_AGENT, 'a reservation that lets everybody write'),
  },
  {
    name: 'scsi key with zeros',
    defect: 'a key written with leading zeros is another one',
    file: 'src/domain/scsi-registration.ts',
    edits: [["    .replace(/^0+(?=.)/, '');", '    .trim();']],
    killedBy: byTest(SCSI_AGENT, 'the key is there in another spelling'),
  },
  {
    name: 'scsi nobody registered',
    defect: 'a reservation without any key closes',
    file: 'agents/scsi/reservation.ts',
    edits: [['if (keys.length === 0) return {', 'if (keys.length < 0) return {']],
    killedBy: byTest(SCSI_AGENT, 'no key at all, though something is reserved'),
  },
  {
    name: 'scsi failed read',
    defect: 'a command that failed is read all the same',
    file: 'agents/scsi/agent.ts',
    edits: [
      ["if (answer.code !== 0) throw call.error('Unreachable', `${device}", "if (answer.code === 77) throw call.error('Unreachable', `${device}"],
    ],
    killedBy: byTest(SCSI_AGENT, 'is not read from a command that failed, whatever it printed'),
  },
  {
    name: 'scsi ungated',
    defect: 'the fencing command leaves without lease and stops',
    file: 'agents/scsi/agent.ts',
    edits: [['{ gate: () => target.beforeSend(), input:', '{ input:']],
    killedBy: byTest(SCSI_AGENT, 'sends nothing without the lease'),
  },
  {
    name: 'scsi taken unseen',
    defect: 'a device on which the key was never seen is believed closed',
    file: 'agents/scsi/agent.ts',
    edits: [['readonly mustBeSeenOpen = true;', 'readonly mustBeSeenOpen = false;']],
    killedBy: byTest('agents/scsi/answers.test.ts', 'says that its closed proves only what was seen open before: a mistyped key is never there'),
  },
  {
    name: 'scsi seen in part',
    defect: 'a device on which the key of the node never was counts as seen open, for it was on another one',
    file: 'agents/scsi/agent.ts',
    edits: [['ports.some(({ isRegistered }) => isRegistered !== true)', 'ports.every(({ isRegistered }) => isRegistered !== true)']],
    killedBy: byTest(
      'agents/scsi/answers.test.ts',
      'is open in part where the key of the node is on one of the devices only, or on none: it may be registered there under another one',
    ),
  },
  {
    name: 'part for the whole',
    defect: 'a way to storage that was open in a part of it proves the revocation of all of it',
    file: 'src/dispatch/switching.ts',
    edits: [["device.shows(before, 'on') && before.isOpenInPart !== true", "device.shows(before, 'on')"]],
    killedBy: byTest('src/dispatch/revocation.test.ts', 'are none where one was seen open in a part of it only: of the other part nobody saw it'),
  },
  {
    name: 'scsi cut off',
    defect: 'a list of keys that was cut off counts',
    file: 'agents/scsi/agent.ts',
    edits: [['if (answer.isCut) return', 'if (answer.isCut && device === "") return']],
    killedBy: byTest('agents/scsi/answers.test.ts', 'believes no list that is longer than what is read, whatever its beginning says'),
  },
];
