import { judgeTrust, strangerMessage } from '../../domain/first-trust.ts';
import type { TrustDecision, TrustedDevice } from '../../domain/first-trust.ts';
import { PROBED_MAX } from '../../domain/device-paths.ts';
import { describeError } from '../../domain/errors.ts';
import type { ProbeAnswer, Prober, ProbeRequest, ShownTrust } from '../../ports/probes.ts';
import type { ReportStatus } from '../shared/node-report.ts';
import type { Path } from './path.ts';

type Shown = Extract<ShownTrust, { kind: 'shown' }>;

/** What is to be done before a device is read that is trusted by what it showed first. */
export type Introduction =
  /** Nothing is asked, or it is known: it may be read. */
  | { kind: 'read' }
  | { kind: 'busy' }
  /** It is recorded, and may be read then. */
  | { kind: 'record'; entry: TrustedDevice; why: 'first seen' | 'accepted'; before: string | undefined }
  /** Nobody logs in; this is what its probe says. */
  | { kind: 'refused'; answer: ProbeAnswer; isStranger: boolean };

const NOT_NOW = 'Misconfigured';

/** `mayRecord`: the node is well, and no fence of it is open. `now`: RFC 3339. */
export async function introduce(
  prober: Prober,
  request: ProbeRequest,
  known: readonly TrustedDevice[],
  { mayRecord, now }: { mayRecord: () => boolean; now: string },
): Promise<Introduction> {
  const found = (await prober.trustShown?.(request)) ?? { kind: 'not-asked' };
  if (found.kind === 'not-asked') return { kind: 'read' };
  if (found.kind === 'busy') return { kind: 'busy' };
  if (found.kind === 'failed') return { kind: 'refused', answer: found.answer, isStranger: false };
  const { device } = request.method;
  const recorded = known.find((each) => each.device === device);
  const decision = judgeTrust(recorded, found.shown, found.accepted);
  if (decision.kind === 'known') return { kind: 'read' };
  if (decision.kind === 'stranger') return refused(strangerMessage(decision, found.shown), true);
  return recordOf(decision, found, { device, recorded, mayRecord, now });
}

function recordOf(
  { why }: Extract<TrustDecision, { kind: 'record' }>,
  { shown }: Shown,
  { device, recorded, mayRecord, now }: { device: string; recorded: TrustedDevice | undefined; mayRecord: () => boolean; now: string },
): Introduction {
  // Who fails may be under attack: what answers then is no first impression.
  if (why === 'first seen' && !mayRecord()) return refused('what it shows is recorded once the node is Ready and no fence of it is open', false);
  return { kind: 'record', why, before: recorded?.shown, entry: { device, shown, since: now } };
}

function refused(message: string, isStranger: boolean): Introduction {
  return { kind: 'refused', isStranger, answer: { latencyMs: 0, error: describeError(NOT_NOW, message) } };
}

/** The report with this record in it. A device that no path has now may come back, and is no stranger then: its record goes only where room is needed. */
export function withTrust(status: ReportStatus, entry: TrustedDevice, paths: readonly Pick<Path, 'method'>[]): ReportStatus {
  const devices = new Set(paths.map(({ method }) => method.device));
  const others = (status.trusted ?? []).filter(({ device }) => device !== entry.device);
  const ordered = others.toSorted((left, right) => Number(devices.has(left.device)) - Number(devices.has(right.device)));
  return { ...status, trusted: [...ordered, entry].slice(-PROBED_MAX) };
}

/** For an Event. */
export function trustMessage({ entry, why, before }: Extract<Introduction, { kind: 'record' }>, place: string): string {
  const shown = `${place} shows ${entry.shown}`;
  if (why === 'accepted') return `${shown}, which the configuration accepts in the place of ${before ?? 'nothing'}: it is trusted from now on.`;
  return `${shown}, seen for the first time: it is trusted by that from now on. Compare it with what the device says on its own console.`;
}
