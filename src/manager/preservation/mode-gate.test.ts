import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SeenLease } from '../../config/foreign-controller.ts';
import type { ManagerFacts, PreservationMode } from '../../config/preservation-mode.ts';
import type { Logger } from '../../ports/recorder.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Detector } from '../detection/detector.ts';
import { modeGate } from './mode-gate.ts';

const WALL_MS = Date.UTC(2026, 2, 29);
const NOTHING: ManagerFacts = {
  nowMs: WALL_MS,
  isServed: true,
  isReadable: true,
  definition: { isOurs: true, hasExpiryField: true },
  leases: [],
  deployments: [],
  machines: [],
  unseen: [],
};
const LEASE: SeenLease = { name: 'mcm', namespace: 's', holder: 'mcm-1', renewedMs: WALL_MS - 3_600_000, durationMs: 15_000, hasMoved: undefined };

let clock: ManualClock;
let found: () => ManagerFacts;
let modes: PreservationMode['mode'][];
let warned: string[];
let detector: Detector<ManagerFacts>;

beforeEach(() => {
  clock = new ManualClock({ monotonicMs: 1_000, wallMs: WALL_MS });
  found = () => NOTHING;
  modes = [];
  warned = [];
  const quiet = (): void => undefined;
  const log: Logger = { debug: quiet, info: quiet, error: quiet, warn: (_message, fields) => void warned.push(String(fields?.['error'])) };
  const judge = modeGate({ clock, log, choice: 'own', onMode: ({ mode }) => void modes.push(mode) });
  detector = new Detector({ clock, log, question: 'whether an MCM is at work', read: () => Promise.resolve().then(found), judge });
});

afterEach(async () => {
  await detector.close();
});

async function after(ms: number): Promise<void> {
  for (let rest = ms; rest >= 0; rest -= 1_000) {
    await new Promise(setImmediate);
    await clock.advance(Math.min(1_000, Math.max(rest, 0)));
  }
  await new Promise(setImmediate);
}

describe('the detection of an MCM', () => {
  it('says once what it finds, and nothing again while that stays', async () => {
    detector.start();
    await after(60_000);
    expect(modes).toEqual(['own']);
  });

  it('turns own into observe within ten seconds of an MCM that appears, and back after ten minutes without one', async () => {
    detector.start();
    await after(1_000);
    found = () => ({ ...NOTHING, deployments: [{ name: 'mcm', namespace: 's', replicas: 1 }] });
    await after(10_000);
    expect(modes).toEqual(['own', 'observe']);
    found = () => NOTHING;
    await after(9 * 60_000);
    expect(modes).toEqual(['own', 'observe']);
    await after(2 * 60_000);
    expect(modes).toEqual(['own', 'observe', 'own']);
  });

  it('waits for a second look at a Lease that seems old, and is not misled by a clock that is an hour off', async () => {
    let renewals = 0;
    found = () => ({ ...NOTHING, leases: [{ ...LEASE, renewedMs: (LEASE.renewedMs ?? 0) + renewals++ * 5_000 }] });
    detector.start();
    await after(120_000);
    expect(modes).toEqual(['observe']);
  });

  it('takes the part of an MCM over whose Lease nobody renews at the second look', async () => {
    found = () => ({ ...NOTHING, leases: [LEASE] });
    detector.start();
    await after(0);
    expect(modes).toEqual(['observe']);
    await after(31_000);
    expect(modes).toEqual(['observe', 'own']);
  });

  it('takes no outage of the API server for the quiet of an MCM, which could renew nothing in it: its ten minutes begin anew', async () => {
    let renewedMs = WALL_MS;
    found = () => ({ ...NOTHING, nowMs: clock.wallMs(), leases: [{ ...LEASE, renewedMs }] });
    detector.start();
    await after(5_000);
    renewedMs += 5_000;
    await after(60_000);
    const answer = found;
    found = () => {
      throw new Error('no way there');
    };
    await after(15 * 60_000);
    found = answer;
    await after(9 * 60_000);
    expect(modes).toEqual(['observe']);
    await after(2 * 60_000);
    expect(modes).toEqual(['observe', 'own']);
  });

  it('keeps what it knows when it cannot look, tells it once, and looks again soon', async () => {
    detector.start();
    await after(1_000);
    found = () => {
      throw new Error('no answer');
    };
    await after(60_000);
    expect({ modes, warned }).toEqual({ modes: ['own'], warned: ['no answer'] });
    found = () => ({ ...NOTHING, leases: [{ ...LEASE, renewedMs: WALL_MS }] });
    await after(6_000);
    expect(modes).toEqual(['own', 'observe']);
  });
});
