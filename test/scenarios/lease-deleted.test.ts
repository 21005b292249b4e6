import { describe, expect } from 'vitest';
import type { DeviceEvent, TraceEvent } from '../../src/laws/trace.ts';
import { EVENTS, LEASES, NODE_FENCES } from '../../src/ports/resources.ts';
import type { Operator } from './operator.ts';
import { replicated, seen, TAKE_OVER_MS, terms } from './replicated-world.ts';
import type { Replicated } from './replicated-world.ts';
import { until } from './waiting.ts';

const PLACE = ['nodefence-controller', 'nodefence-system'] as const;

function isSetOff(event: TraceEvent): event is DeviceEvent {
  return event.kind === 'device' && event.action === 'set' && event.want === 'off';
}

function proven(operator: Operator): Promise<unknown> {
  return operator.sees('a', 'proven off', ({ evidence, state }) => evidence.length > 0 || state === 'done', 30_000);
}

/** As a reinstalled namespace or a restored backup leaves it: no replica lives, and the Lease is gone. */
async function secondTermThenNoLease(play: Replicated): Promise<void> {
  const { world, operator, leader, standby } = play;
  // Handed over, so that nobody waits for this lease to expire.
  leader.signal('SIGTERM');
  await until('the standby leads', async () => (terms(play).length === 2 ? true : undefined), TAKE_OVER_MS);
  world.machine('a').panic();
  await seen(play, 'the BMC is told off', isSetOff);
  await proven(operator);
  standby.signal('SIGKILL');
  await standby.exit();
  await world.cluster.remove(LEASES, PLACE[0], { namespace: PLACE[1] });
}

describe.concurrent('the Lease of the leader is made anew', () => {
  replicated('while no replica lives: the fence that is under way goes on under the next one', 300_000, async (play) => {
    const { world, operator, join } = play;
    await secondTermThenNoLease(play);
    const before = (await operator.status('a'))?.epoch ?? 0;
    expect(before).toBe(2);
    await join().says('leading', TAKE_OVER_MS);
    const status = await operator.seesRecovery('a');
    expect(status.epoch).toBe(before + 1);
    expect((await world.cluster.get(LEASES, ...PLACE))?.spec.leaseTransitions).toBe(before + 1);
  });

  replicated('and a write of a term that nobody knows arrives late: it is told, and the next term is above it', 300_000, async (play) => {
    const { world, operator, leader, standby } = play;
    world.machine('a').panic();
    await seen(play, 'the BMC is told off', isSetOff);
    const late = await until('the write of a paused leader arrives', async () => {
      const fence = await world.cluster.get(NODE_FENCES, 'node-fence-a');
      if (fence?.status === undefined) return undefined;
      return world.cluster.replaceStatus(NODE_FENCES, { ...fence, status: { ...fence.status, epoch: 41 } }).catch(() => undefined);
    });
    expect(late.status?.epoch).toBe(41);
    expect(await leader.exit()).toBe(0);
    await standby.says('leading', TAKE_OVER_MS);
    expect(terms(play).at(-1)?.epoch).toBeGreaterThan(41);
    await operator.seesRecovery('a');
    const told = (await world.cluster.list(EVENTS)) as { reason?: string; involvedObject?: { kind: string; name: string } }[];
    expect(told.filter(({ reason }) => reason === 'NewerLeaderFound').map(({ involvedObject }) => involvedObject?.kind)).toContain('Node');
  });
});
