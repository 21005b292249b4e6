import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER } from '../scenarios/witness.ts';
import { lead } from './controller.ts';
import type { Running } from './controller.ts';

const LEASE_MS = 15_000;
const GRACEFUL_MS = 1_000;
/** Between two renewals of a leader; so long ago may the last one be when it dies. */
const RENEWED_MS = 2_000;
const STEP_MS = 100;

describe('of two replicas, by the clock of the one that waits', () => {
  const running: Running[] = [];
  const cut = { isCut: false };
  let clock: ManualClock;
  let first: Running;
  let second: Running;

  beforeEach(async () => {
    clock = new ManualClock();
    cut.isCut = false;
    const users = [
      { name: 'operator', groups: ['system:masters'] },
      { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS },
    ];
    const server = new ApiServer({ clock: new SystemClock(), random: new SystemRandom(), users, authorization: 'rbac' });
    const admin = inProcessTransport(server, 'operator');
    await install({ transport: admin, cluster: new ApiClient({ transport: admin }) });
    const whole = inProcessTransport(server, CONTROLLER_USER);
    const mortal: ApiTransport = {
      request: (request) => (cut.isCut ? Promise.reject(new Error('cut off')) : whole.request(request)),
      watch: (request, sink) => whole.watch(request, sink),
    };
    first = begin('first', mortal);
    await clock.advance(3_000);
    second = begin('second', whole);
    await clock.advance(10_000);
    expect([first.isLeading, second.isLeading]).toEqual([true, false]);
  });

  afterEach(async () => {
    for (const controller of running.splice(0)) {
      const stopped = controller.stop();
      await clock.advance(30_000);
      await stopped;
    }
  });

  function begin(identity: string, transport: ApiTransport): Running {
    const controller = lead(transport, { identity, clock });
    running.push(controller);
    return controller;
  }

  async function msUntilSecondLeads(): Promise<number> {
    const beganMs = clock.monotonicMs();
    while (!second.isLeading && clock.monotonicMs() - beganMs < 3 * LEASE_MS) await clock.advance(STEP_MS);
    return clock.monotonicMs() - beganMs;
  }

  it('the second leads within a second when the first is stopped', async () => {
    const stopped = first.stop();
    expect(await msUntilSecondLeads()).toBeLessThanOrEqual(GRACEFUL_MS);
    await stopped;
    expect(first.isLeading).toBe(false);
  });

  it('the second leads when the lease of one that died is over, and never before', async () => {
    cut.isCut = true;
    const waitedMs = await msUntilSecondLeads();
    expect(waitedMs).toBeGreaterThanOrEqual(LEASE_MS - RENEWED_MS - STEP_MS);
    expect(waitedMs).toBeLessThanOrEqual(LEASE_MS);
    expect(first.isLeading).toBe(false);
  });
});
