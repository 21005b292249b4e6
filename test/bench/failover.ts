import { outputOf, saidBy } from './programs.ts';
import { rounded } from './figures.ts';

/** Milliseconds throughout. */
export interface FailoverFigures {
  /** Measured: power fails → pods released, of `fast_detection` with no delays, on a virtual clock. */
  fastReleaseMs: number;
  /** Measured, processes in real time: fault → replacement pod Running, with the delays of `profile=fast` after Kubernetes has noticed. */
  replacedMs: number;
  noticedMs: number;
  /** What of it is no configured wait: our own work, the API server's, and the start of the pod. */
  overheadMs: number;
  sums: readonly FailoverSum[];
}

/** A documented default, and the overhead that was measured. */
export interface FailoverSum {
  who: string;
  parts: readonly (readonly [string, number])[];
  totalMs: number;
}

const DEVICE_MS = 2_000;
const OFF_STABLE_MS = 3_000;
const FAST_POWER_DELAY_MS = 10_000;
const KUBERNETES_GRACE_MS = 40_000;
const HEARTBEAT_TIMEOUT_MS = 3_000;
/** `profile=fast` and the default proof, played with the short patience of the drill's own node controller. */
const SETTINGS = {
  isolation_delay: '0s',
  power_management_delay: `${FAST_POWER_DELAY_MS / 1_000}s`,
  off_stable: `${OFF_STABLE_MS / 1_000}s`,
};

/** One fence in real time, one of a virtual clock; everything longer is added up from documented defaults. */
export async function measureFailover(): Promise<FailoverFigures> {
  const set = Object.entries(SETTINGS).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const played = JSON.parse(await outputOf(['src/main.ts', 'drill', '--fault', 'panic', '--json', ...set])) as {
    expected: boolean;
    timeline: { noticedAt: number };
    replacedAt: number;
  };
  if (!played.expected) throw new Error('the drill did not end as it must: play `npm run -s drill -- --fault panic` with the settings of this bench');
  const { replacedAt, timeline } = played;
  const overheadMs = replacedAt - timeline.noticedAt - FAST_POWER_DELAY_MS - OFF_STABLE_MS;
  const fast = (await saidBy(['src/main.ts', 'drill', '--fault', 'fast', '--simulated'])).stderr;
  const released = /released ([\d.]+) s after its power failed/.exec(fast)?.[1];
  if (released === undefined) throw new Error(`the drill of fast detection does not say when the pods were released: ${fast.slice(-500)}`);
  return {
    fastReleaseMs: Math.round(Number(released) * 1_000),
    replacedMs: rounded(replacedAt),
    noticedMs: rounded(timeline.noticedAt),
    overheadMs: rounded(overheadMs),
    sums: sumsOf(overheadMs),
  };
}

/** With a device that takes 2 s. The peers' own overhead counts as none, which favours them. */
function sumsOf(overheadMs: number): FailoverSum[] {
  const device = ['device', DEVICE_MS] as const;
  const noticed = ['node-monitor-grace-period', KUBERNETES_GRACE_MS] as const;
  const proof = ['off_stable', OFF_STABLE_MS] as const;
  const own = ['own overhead, measured', overheadMs] as const;
  return [
    sum('nodefence, defaults', [noticed, ['isolation_delay', 5_000], ['power_management_delay', 300_000], device, proof, own]),
    sum('nodefence, profile=fast', [
      ['heartbeat_timeout', HEARTBEAT_TIMEOUT_MS],
      ['power_management_delay', FAST_POWER_DELAY_MS],
      device,
      proof,
      own,
    ]),
    sum('nodefence, profile=fast, power_management_delay=0', [['heartbeat_timeout', HEARTBEAT_TIMEOUT_MS], device, proof, own]),
    sum('medik8s NHC + FAR', [noticed, ['NHC: unhealthy for', 300_000], device]),
    sum('medik8s NHC + SNR', [noticed, ['NHC: unhealthy for', 300_000], ['SNR: safe time to assume reboot (120 s + watchdog)', 130_000]]),
    sum('pacemaker, fence_ipmilan', [['corosync token + consensus (3 s + 1.2 · 3 s)', 6_600], ['power_wait', 2_000], device]),
    sum('pacemaker, sbd', [
      ['corosync token + consensus (3 s + 1.2 · 3 s)', 6_600],
      ['msgwait', 10_000],
    ]),
  ];
}

function sum(who: string, parts: readonly (readonly [string, number])[]): FailoverSum {
  return { who, parts, totalMs: rounded(parts.reduce((total, [, ms]) => total + ms, 0)) };
}

export function failoverWords({ fastReleaseMs, replacedMs, noticedMs, overheadMs, sums }: FailoverFigures): string {
  const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const added = sums.map(
    ({ who, parts, totalMs }) => `  ${who}: ${parts.map(([what, ms]) => `${what} ${inSeconds(ms)}`).join(' + ')} = ${inSeconds(totalMs)}`,
  );
  return [
    `failover: noticed after ${inSeconds(noticedMs)}, replacement Running after ${inSeconds(replacedMs)}, of it our own overhead ${inSeconds(overheadMs)}; fast detection releases after ${inSeconds(fastReleaseMs)} (virtual clock)`,
    ...added,
  ].join('\n');
}
