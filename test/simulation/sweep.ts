import { expectedOf } from './expected.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import type { Feed, Scenario } from './scenario.ts';

/** Killed before the nth call has left, or when it took effect. */
export interface SweepPoint {
  base: string;
  /** 1 is the first call after the fault. */
  nth: number;
  moment: 'before-effect' | 'after-effect';
}

const MOMENTS = ['before-effect', 'after-effect'] as const;
/** Points of one base that no run has more of. */
const STRIDE = 100_000;

interface Base {
  controllers: 1 | 2;
  fault: 'panic' | 'hang';
  release: 'out-of-service' | 'delete-pods';
  device?: 'lies';
  feed?: Feed;
}

/** Quiet worlds in which nothing but the crash happens. */
const BASES: Readonly<Record<string, Base>> = {
  taint: { controllers: 1, fault: 'panic', release: 'out-of-service' },
  pods: { controllers: 2, fault: 'hang', release: 'delete-pods' },
  level: { controllers: 1, fault: 'hang', release: 'out-of-service', device: 'lies', feed: { kind: 'level', restore: 'last' } },
  supplies: { controllers: 2, fault: 'panic', release: 'out-of-service', feed: { kind: 'supplies', restore: 'always-on' } },
};

export const BASE_NAMES = Object.keys(BASES);

/** The scenario of one base with the crash at that point; without a crash when there is no point. */
export function sweptScenario(name: string, point?: SweepPoint): Scenario {
  const base = BASES[name];
  if (base === undefined) throw new Error(`there is no base ${name}: one of ${BASE_NAMES.join(', ')}`);
  const { controllers, fault, release, device, feed } = base;
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
    crashes: point === undefined ? [] : [{ tag: 'any', nth: point.nth, moment: point.moment, stopMs: 0 }],
    restartAfterMs: 2_000,
    disturbances: [],
    clockRates: { replicas: [1, 1] as const, kubelets: 1 },
    isMisconfigured: false,
    api: CALM_API,
    faultsEndMs: 200_000,
    configuration: {
      isolationDelayMs: 1_000,
      powerManagementDelayMs: 2_000,
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
  return { ...scenario, expected: expectedOf(scenario) };
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
