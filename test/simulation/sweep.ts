import { expectedOf } from './expected.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import type { CrashPoint } from '../../src/testbed/simulation/port.ts';
import { WORLD_BEGINS_WALL_MS } from '../../src/testbed/simulation/process-clock.ts';
import { runSeed } from './run-seed.ts';
import type { RunSeedOptions } from './run-seed.ts';
import type { Feed, Scenario } from './scenario.ts';
import type { SeedResult } from './seed-result.ts';

/** Killed before the nth call has left, or when it took effect; or it lives on, and its NodeFence is taken away by force at that call, heard at once or later. */
export interface SweepPoint {
  base: string;
  /** 1 is the first call after the fault. */
  nth: number;
  moment: (typeof MOMENTS)[number];
}

const MOMENTS = ['before-effect', 'after-effect', 'fence-removed', 'fence-removed-unheard'] as const;
/** For so long no watch tells anything. */
const UNHEARD_MS = 12_000;
/** Then all watches begin anew, and the world is not over before: one that heard nothing is found by its idle time alone, which is longer. */
const HEARD_AGAIN_MS = 230_000;
/** What was on its way when its NodeFence was taken away arrives all the same: a write, and what a device does upon a command. */
const ON_ITS_WAY_MS = 50;
const UPON_A_COMMAND_MS = 2_000;
/** Points of one base that no run has more of. */
const STRIDE = 100_000;

interface Base {
  controllers: 1 | 2;
  fault: 'panic' | 'hang';
  release: 'out-of-service' | 'delete-pods';
  device?: 'lies';
  feed?: Feed;
  /** Its off follows isolation at once, so that its device is read meanwhile. */
  isOffAtOnce?: true;
}

/** Quiet worlds in which nothing but the crash happens. */
const BASES: Readonly<Record<string, Base>> = {
  taint: { controllers: 1, fault: 'panic', release: 'out-of-service' },
  pods: { controllers: 2, fault: 'hang', release: 'delete-pods', isOffAtOnce: true },
  level: { controllers: 1, fault: 'hang', release: 'out-of-service', device: 'lies', feed: { kind: 'level', restore: 'last' } },
  supplies: { controllers: 2, fault: 'panic', release: 'out-of-service', feed: { kind: 'supplies', restore: 'always-on' } },
};

export const BASE_NAMES = Object.keys(BASES);

/** The scenario of one base with the crash at that point; without a crash when there is no point. */
export function sweptScenario(name: string, point?: SweepPoint): Scenario {
  const base = BASES[name];
  if (base === undefined) throw new Error(`there is no base ${name}: one of ${BASE_NAMES.join(', ')}`);
  const { controllers, fault, release, device, feed, isOffAtOnce } = base;
  const scenario = {
    seed: 1,
    nodes: ['a', 'b', 'c'],
    victim: 'a',
    controllers,
    fault,
    faultAtMs: 20_000,
    flaps: [],
    healAfterOffMs: undefined,
    device: device ?? ('honest' as const),
    deviceEffectMs: [50, 1_500] as const,
    crashes: point === undefined ? [] : [{ tag: 'any', nth: point.nth, ...strikeOf(point) }],
    restartAfterMs: 2_000,
    disturbances: isRemoval(point) ? [{ what: 'expire' as const, atMs: HEARD_AGAIN_MS, durationMs: 0 }] : [],
    clockRates: { replicas: [1, 1] as const, kubelets: 1 },
    isMisconfigured: false,
    api: CALM_API,
    faultsEndMs: 200_000,
    configuration: {
      isolationDelayMs: 1_000,
      powerManagementDelayMs: isOffAtOnce === true ? 0 : 2_000,
      stepRetries: 1,
      maxRestarts: 1,
      readyTimeoutMs: 120_000,
      healthyDelayMs: 20_000,
      probationMs: 60_000,
      powerTimeoutMs: 31_000,
      settleMs: 12_000,
      releaseTimeoutMs: 60_000,
      release,
      policies: 'prompt' as const,
    },
    ...(feed === undefined ? {} : { feed }),
  };
  const expected = expectedOf(scenario);
  // What follows is a fence that knows nothing of the one before, or, where the node is back by then, none.
  return { ...scenario, expected: isRemoval(point) ? { ...expected, states: ['final', 'error', 'none'], release: 'may' } : expected };
}

/** The scenario of a point, played and judged. */
export async function playPoint(point: SweepPoint, options: Pick<RunSeedOptions, 'onLine'> = {}): Promise<SeedResult> {
  const result = await runSeed(1, { ...options, scenario: sweptScenario(point.base, point) });
  const { fenceRemovedMs } = result;
  if (fenceRemovedMs === undefined) return result;
  return { ...result, violations: result.violations.filter((violation) => !wasOnItsWay(violation, fenceRemovedMs)) };
}

function isRemoval(point: SweepPoint | undefined): boolean {
  return point?.moment === 'fence-removed' || point?.moment === 'fence-removed-unheard';
}

function strikeOf({ moment }: SweepPoint): Pick<CrashPoint, 'moment' | 'stopMs'> {
  return moment === 'fence-removed-unheard' ? { moment: 'fence-removed', stopMs: UNHEARD_MS } : { moment, stopMs: 0 };
}

/** Nobody can call back what had left before. */
function wasOnItsWay(violation: string, fenceRemovedMs: number): boolean {
  const [, law, at] = /^(P[124]) at ([\d.]+): /.exec(violation) ?? [];
  const afterMs = Number(at) - WORLD_BEGINS_WALL_MS - fenceRemovedMs;
  return law !== undefined && afterMs >= 0 && afterMs < (law === 'P4' ? UPON_A_COMMAND_MS : ON_ITS_WAY_MS);
}

/** How many points a base with so many calls has, when only each `every`th call is struck. */
export function pointsOf(calls: number, every: number): number {
  return MOMENTS.length * Math.ceil(calls / every);
}

/** The number of a base's first point; those of one base follow each other. */
export function firstPoint(base: string): number {
  return BASE_NAMES.indexOf(base) * STRIDE;
}

/** Which point a number stands for. */
export function pointAt(index: number, every: number): SweepPoint {
  const offset = index % STRIDE;
  const moment = MOMENTS[offset % MOMENTS.length] ?? 'before-effect';
  return { base: BASE_NAMES[Math.floor(index / STRIDE)] ?? '', nth: 1 + every * Math.floor(offset / MOMENTS.length), moment };
}

/** `taint:17:after-effect`, as it is written on the command line. */
export function parsePoint(text: string): SweepPoint {
  const [base = '', nth = '', moment = ''] = text.split(':');
  const known = MOMENTS.find((one) => one === moment);
  if (!BASE_NAMES.includes(base) || !/^\d{1,6}$/.test(nth) || known === undefined) {
    throw new Error(`${text} is no point of a sweep: write BASE:CALL:MOMENT, such as ${BASE_NAMES[0] ?? ''}:17:${MOMENTS[0]}`);
  }
  return { base, nth: Number(nth), moment: known };
}

export function pointText({ base, nth, moment }: SweepPoint): string {
  return `${base}:${nth}:${moment}`;
}
