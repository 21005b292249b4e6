import type { Attestation } from '../../domain/node-daemon/attestation.ts';
import type { WrongRate } from '../../domain/node-daemon/clock-rate.ts';
import { brokenTimes } from '../../domain/node-daemon/times.ts';
import { bounded } from '../../domain/node-fence.ts';
import { SIGNS } from '../../domain/node-daemon/datagram.ts';
import { NODE_DAEMON_HEARD } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { ReportStatus } from '../shared/node-report.ts';
import type { Action } from './actions.ts';
import { CLOCK_WORDS } from './clock-rates.ts';
import type { Suspicion } from './fast/fast-detection.ts';
import type { Heard } from './heartbeats.ts';

type Report = Extract<Action, { kind: 'report-daemon' }>;

const SIGN_WORDS: Readonly<Record<keyof typeof SIGNS, string>> = {
  watchdogArmed: 'watchdog armed',
  isolated: 'cut off',
  stopping: 'stopping its pods',
  storageLost: 'storage lost',
  kdumpArmed: 'kdump armed',
  hardwareErrors: 'hardware errors',
  leaving: 'the daemon is being stopped',
  storageLease: 'storage lease renewed',
};

/** What a heartbeat said, in words. */
function signWords(signs: number): string {
  const said = (Object.keys(SIGNS) as (keyof typeof SIGNS)[]).filter((sign) => (signs & SIGNS[sign]) !== 0);
  return said.length === 0 ? 'nothing else' : said.map((sign) => SIGN_WORDS[sign]).join(', ');
}

/** `Watchdog: hardware, armed, 10 s.`, the last order, and a BMC that the node proposes. */
function attestedWords(attestation: Attestation): string {
  return `${deviceWords(attestation)}${orderWords(attestation)}`;
}

/** Not in the node's own words: these stand in `nodefence node status`, and in the run that waited for them. */
function orderWords({ orders = [] }: Attestation): string {
  const last = orders.at(-1);
  return last === undefined ? '' : ` Last order in this boot: ${last.action}, ${last.state}.`;
}

function deviceWords(attestation: Attestation): string {
  const { proposedBmc: bmc, systemUUID } = attestation;
  if (bmc === undefined) return watchdogWords(attestation);
  const mac = bmc.mac === undefined ? '' : `, MAC ${bmc.mac}`;
  return `${watchdogWords(attestation)} BMC, proposed by the node and not used: ${bmc.address}${mac}, system UUID ${uuidWords(systemUUID)}; once it is found right, put it into a ConfigMap of the fence configuration.`;
}

/** Of what the node says only what is a UUID or a machine ID. */
function uuidWords(text: string): string {
  return /^[0-9a-f-]{32,36}$/i.test(text) ? text : 'unknown';
}

function watchdogWords({ watchdog, selfFence }: Attestation): string {
  const device = watchdog === undefined ? 'No watchdog.' : `Watchdog: ${watchdog.kind}, ${watchdog.state}, ${watchdog.timeoutMs / 1000} s.`;
  if (selfFence === undefined) return `${device} The node does not fence itself.`;
  const broken = watchdog && brokenTimes(watchdog, selfFence);
  return broken === undefined ? device : `${device} Its silence proves nothing: ${broken}.`;
}

const SLOT_WORDS = {
  alive: 'Other nodes see it renew its slot on the storage: it is alive.',
  still: 'Its slot on the storage stands still, which proves nothing.',
} as const;

/** What is to be reported of a node; undefined: it stands there, or is not known. `at`: RFC 3339. */
export function reportOf(
  node: string,
  attestation: Attestation,
  report: NodeFenceReport | undefined,
  heard: (Pick<Heard, 'signs'> & { isSilent: boolean; at: string; clock?: WrongRate | undefined }) | undefined,
  suspicion?: Pick<Suspicion, 'verdict' | 'message'>,
  slot?: 'alive' | 'still',
): Report | undefined {
  const standing = standingOf(report);
  // Whoever leads since a moment ago has heard nothing yet, and knows no better than its predecessor.
  if (heard === undefined && standing?.status === 'False') return undefined;
  const clock = heard?.clock === undefined ? '' : `${CLOCK_WORDS[heard.clock]} `;
  const words = `${slot === undefined ? '' : `${SLOT_WORDS[slot]} `}${clock}${attestedWords(attestation)}`;
  const found = suspicion === undefined ? said(node, heard, words) : suspected(node, suspicion, words);
  const action =
    slot === 'alive' && (found.reason === 'Silent' || found.reason === 'Suspected') ? { ...found, reason: 'AliveOnStorage' as const } : found;
  return standing?.message === bounded(action.message) && standing.reason === action.reason ? undefined : action;
}

/** What stands there. */
export function daemonWords(report: NodeFenceReport | undefined): string | undefined {
  return standingOf(report)?.message;
}

function standingOf(report: NodeFenceReport | undefined) {
  return report?.status?.conditions?.find(({ type }) => type === NODE_DAEMON_HEARD);
}

function said(node: string, heard: Parameters<typeof reportOf>[3], attested: string): Report {
  const kind = 'report-daemon';
  if (heard === undefined) return { kind, node, reason: 'Silent', message: `No heartbeat came since this controller leads. ${attested}` };
  const { signs, isSilent, at } = heard;
  if (isSilent) return { kind, node, reason: 'Silent', message: `No heartbeat since ${at}; the last one said: ${signWords(signs)}. ${attested}` };
  const reason = (signs & SIGNS.watchdogArmed) === 0 ? 'HeartbeatsCome' : 'WatchdogArmed';
  return { kind, node, reason, message: `Heartbeats come; they say: ${signWords(signs)}. ${attested}` };
}

function suspected(node: string, { verdict, message }: Pick<Suspicion, 'verdict' | 'message'>, attested: string): Report {
  return { kind: 'report-daemon', node, reason: verdict === 'failed' ? 'TakenForFailed' : 'Suspected', message: `${message} ${attested}` };
}

/** The report with this condition in it. `now`: RFC 3339. */
export function withDaemon(status: ReportStatus, action: Report, now: string): ReportStatus {
  const before = status.conditions?.find(({ type }) => type === NODE_DAEMON_HEARD);
  const value = action.reason === 'WatchdogArmed' || action.reason === 'HeartbeatsCome' ? 'True' : 'False';
  const condition = {
    type: NODE_DAEMON_HEARD,
    status: value,
    reason: action.reason,
    message: bounded(action.message),
    lastTransitionTime: before?.status === value ? before.lastTransitionTime : now,
  };
  return { ...status, conditions: [...(status.conditions ?? []).filter(({ type }) => type !== NODE_DAEMON_HEARD), condition] };
}
