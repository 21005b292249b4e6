import type { BmcFaults } from '../bmc/faults.ts';
import type { BmcProtocol } from './protocol.ts';

type FaultName = keyof BmcFaults;

const OF_SWITCH = ['offDelayMs', 'onDelayMs', 'ignoresReset', 'shows', 'restoresAfterMs', 'fails'] as const satisfies readonly FaultName[];
const OF_WIRE = ['isSilent', 'drops', 'duplicates', 'lateMs', 'diesWithHost'] as const satisfies readonly FaultName[];
const OF_EMULATOR = [
  'isMute',
  'wrongGuid',
  'sessionTimeoutMs',
  'refusesWhenInState',
  'voidsRepeats',
  'opensSuite3',
  'ignoresStrangers',
] as const satisfies readonly FaultName[];
const OF_IPMI = ['fails', 'drops', 'duplicates', 'lateMs', 'wrongGuid', 'diesWithHost'] as const satisfies readonly FaultName[];

/** Passes on faults that a BMC of this protocol can show; throws for any other, so that no test passes for want of its fault. */
export function supportedFaults(protocol: BmcProtocol, faults: BmcFaults): BmcFaults {
  const given = withoutChassis(protocol, faults);
  const isKnown = knownTo(protocol);
  const foreign = (Object.keys(given) as FaultName[]).filter((name) => given[name] !== undefined && !isKnown(name));
  if (foreign.length > 0) throw new Error(`a BMC of protocol ${protocol} cannot show the faults ${foreign.join(', ')}: leave them out`);
  if (protocol !== 'redfish' && given.shows !== undefined) stateOf(given.shows);
  return given;
}

function knownTo(protocol: BmcProtocol): (name: FaultName) => boolean {
  if (protocol === 'redfish') return (name) => !OF_IPMI.some((each) => each === name);
  const known: readonly FaultName[] = protocol === 'ipmi' ? [...OF_SWITCH, ...OF_WIRE, ...OF_EMULATOR] : [...OF_SWITCH, ...OF_WIRE];
  return (name) => known.includes(name);
}

/** IPMI has one power state: what a chassis shows is the same as what the system shows, or it is another fault. */
function withoutChassis(protocol: BmcProtocol, faults: BmcFaults): BmcFaults {
  if (protocol === 'redfish' || faults.chassisShows !== faults.shows) return faults;
  const { chassisShows: _same, ...rest } = faults;
  return rest;
}

/** `on` or `off` for the word of a `shows`; a status bit can say nothing else. */
export function stateOf(shows: NonNullable<BmcFaults['shows']> | null): 'on' | 'off' {
  const word = String(shows).toLowerCase();
  if (word !== 'on' && word !== 'off') throw new Error(`shows: ${String(shows)} cannot be said in IPMI: say on or off`);
  return word;
}
