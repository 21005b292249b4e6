import { bounded } from '../../domain/node-fence.ts';
import { PROBED_MAX } from '../../domain/device-paths.ts';
import type { ProbeFault } from '../../domain/probe-faults.ts';
import type { ProbeAnswer } from '../../ports/probes.ts';
import type { ProbedDevice } from '../../ports/resources.ts';
import type { ReportStatus } from '../shared/node-report.ts';
import { isOf } from './path.ts';
import type { Path } from './path.ts';

/** A certificate or password that ends this soon is told of. */
const EXPIRES_SOON_MS = 21 * 86_400_000;

/** Type of the condition that says whether every device of a node can be used by a fence. */
const FENCE_PATHS_WORKING = 'FencePathsWorking';

/** What the report says of one path after a probe. `now`: RFC 3339, and the same in milliseconds since 1970. */
export function entryOf(
  path: Path,
  known: ProbedDevice | undefined,
  answer: ProbeAnswer,
  faults: readonly ProbeFault[],
  { now, wallMs }: { now: string; wallMs: number },
): ProbedDevice {
  const { agent, device, plug } = path.method;
  const broken = faults.find(({ severity }) => severity === 'error');
  const state = broken === undefined ? 'working' : 'broken';
  const certificateExpiresAt = answer.certificateExpiresAt ?? (broken === undefined ? undefined : known?.certificateExpiresAt);
  const credentialExpiresAt = answer.credentialExpiresAt ?? (broken === undefined ? undefined : known?.credentialExpiresAt);
  const isSoon = path.expiresAtMs !== undefined && path.expiresAtMs - wallMs <= EXPIRES_SOON_MS;
  return {
    agent,
    device,
    plug,
    methods: [...path.names],
    path: state,
    since: known?.path === state ? known.since : now,
    ...(broken === undefined ? {} : { message: bounded(broken.message) }),
    ...(certificateExpiresAt === undefined ? {} : { certificateExpiresAt }),
    ...(credentialExpiresAt === undefined ? {} : { credentialExpiresAt }),
    ...(isSoon ? { expiresSoon: true } : {}),
  };
}

/** The report with this entry in it, and without those of paths that are no more. */
export function withEntry(status: ReportStatus, entry: ProbedDevice, paths: readonly Pick<Path, 'method'>[], now: string): ReportStatus {
  const kept = (status.devices ?? []).filter((device) => paths.some((path) => isOf(device, path)));
  const others = kept.filter(({ agent, device, plug }) => agent !== entry.agent || device !== entry.device || plug !== entry.plug);
  const devices = [...others, entry].toSorted((left, right) => compare(nameOf(left), nameOf(right))).slice(0, PROBED_MAX);
  const broken = devices.filter(({ path }) => path === 'broken');
  const before = status.conditions?.find(({ type }) => type === FENCE_PATHS_WORKING);
  const value = broken.length === 0 ? 'True' : 'False';
  const message = broken.map((device) => `${nameOf(device)}: ${device.message ?? ''}`).join('; ');
  const condition = {
    type: FENCE_PATHS_WORKING,
    status: value,
    reason: broken.length === 0 ? 'EveryDeviceRead' : 'DeviceUnusable',
    message: broken.length === 0 ? `${devices.length} plug(s) of devices could be read.` : bounded(message, 4_096),
    lastTransitionTime: before?.status === value ? before.lastTransitionTime : now,
  };
  return { ...status, devices, conditions: [...(status.conditions ?? []).filter(({ type }) => type !== FENCE_PATHS_WORKING), condition] };
}

/** `redfish 10.0.0.7:443 plug 2`. */
export function nameOf({ agent, device, plug }: Pick<ProbedDevice, 'agent' | 'device' | 'plug'>): string {
  return `${agent} ${device}${plug === '' ? '' : ` plug ${plug}`}`;
}

/** When the first of certificate and credential ends, in milliseconds since 1970; what cannot be read is left out. */
export function firstExpiry({ certificateExpiresAt, credentialExpiresAt }: ProbeAnswer): number | undefined {
  const ends = [certificateExpiresAt, credentialExpiresAt].map((text) => Date.parse(text ?? '')).filter((at) => Number.isFinite(at));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
