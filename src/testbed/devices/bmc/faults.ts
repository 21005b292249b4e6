/** What is wrong with a BMC, as data; an empty object is an honest one. Every row was seen on real devices, see agents/redfish/README.md. */
export interface BmcFaults {
  /** An accepted ForceOff takes effect this late; On is reported until then. */
  offDelayMs?: number;
  /** The same for On. */
  onDelayMs?: number;
  /** Reset is accepted and nothing happens. */
  ignoresReset?: boolean;
  /** An off is accepted, and the BMC restarts before it carries it out; then it shows Off for so long, whatever its machine does, and drops what it accepts. */
  restartsOnOff?: number;
  /** What the BMC has been up for when it is made; absent: a day. */
  upMs?: number;
  /** What PowerState shows instead of the truth; null too; the word `absent` leaves it out. */
  shows?: string | number | null;
  /** What Chassis.PowerState shows instead of the truth; the word `absent` leaves it out. */
  chassisShows?: string | null;
  /** Status of an accepted reset; 202 comes with a task. */
  resetStatus?: 200 | 202 | 204;
  /** End of that task. */
  taskState?: 'Running' | 'Completed' | 'Exception';
  /** Reset to the state it is in already: 400 InvalidOperationForSystemState (HPE). */
  refusesWhenInState?: boolean;
  /** After an off the machine comes on again by itself: AC restore policy. */
  restoresAfterMs?: number;
  /** Reset is refused with 412 unless If-Match carries the ETag. */
  wantsEtag?: boolean;
  /** Login succeeds without telling where the session is. */
  hidesSessionLocation?: boolean;
  /** Sessions end when unused for this long. */
  sessionTimeoutMs?: number;
  /** A request whose method and path begin so is answered with this status; `times` of them, for ever when absent. */
  failures?: readonly BmcFailure[];
  /** Bodies are cut in the middle: no JSON. */
  garbage?: boolean;
  /** Bodies are noise. */
  noise?: boolean;
  /** Half of each body comes, and the rest never. */
  stallsBody?: boolean;
  /** Every answer comes this late. */
  answerDelayMs?: number;
  /** The answer to a command comes this late. */
  commandDelayMs?: number;
  /** More requests than this in a second are answered with 429 and Retry-After. */
  requestsPerSecond?: number;
  /** Ids of outlets that take a command and stay as they are. */
  stuckOutlets?: readonly string[];
  /** What an outlet that is off measures all the same, in ampere. */
  leakAmps?: number;
  /** Connections are accepted and nothing is ever said, not even TLS; on open ones neither. */
  isSilent?: boolean;
  /** Requests are read and never answered. */
  isMute?: boolean;
  /** One byte of each body in this many milliseconds. */
  dripMs?: number;
  /** Bodies are followed by this many spaces. */
  paddingBytes?: number;
  /** Every response says `Connection: close`. */
  closesConnections?: boolean;
  /** IPMI: reads, or sets, end in completion code FF. */
  fails?: 'get' | 'set';
  /** IPMI: share of datagrams that are lost, each way, from 0 to 1. */
  drops?: number;
  /** IPMI: share of answers that come twice. */
  duplicates?: number;
  /** IPMI: answers come this late. */
  lateMs?: number;
  /** IPMI: a RAKP 1 that comes again is answered with another random number, which voids what was said before (pyghmi). */
  voidsRepeats?: boolean;
  /** IPMI: opens a session of suite 3, whichever it was asked for (pyghmi). */
  opensSuite3?: boolean;
  /** IPMI: says nothing to a user that it does not know (pyghmi). */
  ignoresStrangers?: boolean;
  /** IPMI: shows the GUID of another machine. */
  wrongGuid?: boolean;
  /** IPMI: says nothing while its machine is off: it hangs on the same supply. */
  diesWithHost?: boolean;
}

export interface BmcFailure {
  method?: string;
  path: string;
  status: number;
  /** Words of the device. */
  message?: string;
  times?: number;
  /** Does what was asked all the same. */
  withEffect?: boolean;
}

/** Faults of the drill by name: `--fault bmc-slow` and the like. */
export const NAMED_FAULTS = {
  honest: {},
  slow: { offDelayMs: 8_000 },
  lies: { ignoresReset: true },
  'lies-off': { ignoresReset: true, shows: 'Off', chassisShows: 'Off' },
  'not-answering': { isSilent: true },
  garbage: { garbage: true },
  'power-null': { shows: null },
  'power-absent': { shows: 'absent' },
  'already-off-400': { refusesWhenInState: true },
  'ac-restore': { restoresAfterMs: 2_000 },
} as const satisfies Readonly<Record<string, BmcFaults>>;
