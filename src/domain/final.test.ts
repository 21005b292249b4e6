import { describe, expect, it } from 'vitest';
import { decide } from './automaton.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import { DEFAULT_TIMING } from './plan.ts';
import { at } from './testing/flaps.ts';
import type { Model } from './testing/model.ts';

const DAY_MS = 86_400_000;
const LEFT = { cordoned: true, edges: [{ method: 'off', agent: 'redfish', device: 'bmc', plug: '', state: 'off' as const }] };

/** A fence that is over, with this in its status. */
function final(more: Partial<NodeFenceStatus> = {}): Model {
  const model = at('final, probation');
  model.live({ ready: 'True' });
  if (model.fence !== undefined) model.fence = { ...model.fence, status: { ...model.status, ...more } };
  model.step();
  return model;
}

/** Silent for as long as a failure takes to count. */
function failsAgain(model: Model): void {
  model.fail();
  model.step();
  model.nowMs += 60_000;
  model.step();
}

describe('a node that fails again within its probation', () => {
  it('is fenced for itself: how the fence before was to end is forgotten, or its machine would stay off', () => {
    const model = final({ outcome: 'fenced-off', ending: 'off', lastStep: 'isolation' });
    model.node = model.node && { ...model.node, bootID: 'boot-3' };
    failsAgain(model);
    expect(model.rows).toContain('final-probation');
    for (const key of ['outcome', 'ending', 'lastStep'] as const) expect(model.status[key]).toBeUndefined();
    expect([model.status.timeline.finalAt, model.status.timeline.readyAt, model.status.trigger?.kind]).toEqual([
      undefined,
      undefined,
      'node-condition',
    ]);
  });
});

describe('the fence of a node after another', () => {
  it('is of that node alone: what was left off of another Node of its name is not switched on for it', () => {
    const model = final({ outcome: 'fenced-off', restore: LEFT });
    model.node = model.node && { ...model.node, uid: 'uid-another' };
    failsAgain(model);
    expect(model.rows).toContain('final-again');
    expect(model.status.restore?.edges).toBeUndefined();
  });

  it.each(['fenced-off', 'replaced'] as const)('takes back what an end in %s left on the Node, once that is well again', (outcome) => {
    const closed = { method: 'close', agent: 'fc-switch', device: 'switch', plug: '1', state: 'closed' as const };
    const restore = { cordoned: true, edges: [closed] };
    const model = final({ outcome, restore });
    model.node = model.node && { ...model.node, bootID: 'boot-3' };
    model.nowMs += 2 * 3_600_000;
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    failsAgain(model);
    expect(model.rows).toContain('final-again');
    expect(model.status.restore).toEqual(restore);
    // It is heard again before anything of the new incident was done.
    model.holds = [];
    for (const passedMs of [1_000, 1_000, DEFAULT_TIMING.healthyDelayMs + 1_000]) {
      model.nowMs += passedMs;
      model.live({ ready: 'True' });
      model.step();
    }
    expect(model.next()).toBe('run:uncordon');
    model.step();
    expect(model.status).toMatchObject({ state: 'final', outcome: 'recovered', restore: { edges: [closed] } });
    expect(model.events, 'the way that its plan does not open').toContain('LeftOff');
  });

  it('comes though neither Node has shown a boot: another Node of its name is not as the fence left it', () => {
    const model = final({ outcome: 'replaced' });
    const { frozen } = model.status;
    if (frozen !== undefined) {
      const { bootID: _boot, ...rest } = frozen;
      if (model.fence !== undefined) model.fence = { ...model.fence, status: { ...model.status, frozen: rest } };
    }
    model.node = model.node && { ...model.node, uid: 'uid-another', bootID: undefined };
    failsAgain(model);
    expect(model.rows).toContain('final-again');
  });

  it('has a number of its own, whatever the report and the NodeFence say', () => {
    const number = (incident: number, lastIncident: number): number => {
      const model = final({ incident });
      model.lastIncident = lastIncident;
      model.nowMs += 2 * 3_600_000;
      failsAgain(model);
      return model.status.incident;
    };
    expect([number(3, 7), number(7, 3)]).toEqual([8, 8]);
  });
});

describe('a NodeFence that is over', () => {
  it('goes with its finalizer when its time is over, and asks to be looked at then', () => {
    const model = final();
    const { requeueAtMs } = model.step();
    expect(requeueAtMs).toBeGreaterThan(model.nowMs);
    model.nowMs = requeueAtMs ?? 0;
    model.live({ ready: 'True' });
    expect(model.step()).toMatchObject({ row: 'final-expired', removeFinalizer: true, deleteFence: true });
  });

  it.each([
    ['was left off, and is Ready all the same', 'fenced-off', 'True', 'final-expired'],
    ['was left off', 'fenced-off', 'Unknown', 'final-wait'],
    ['was replaced', 'replaced', 'Unknown', 'final-expired'],
  ] as const)('of a node that %s (%s, %s) comes to %s', (_which, outcome, ready, row) => {
    const model = final({ outcome });
    const { frozen } = model.status;
    model.node = model.node && { ...model.node, ready, ...(frozen?.bootID !== undefined && { bootID: frozen.bootID }) };
    model.nowMs += 100 * DAY_MS;
    expect(model.step().row).toBe(row);
  });

  it('is not deleted at the first look of a new leader, which has seen nothing of its time', () => {
    const model = final();
    model.nowMs += 100 * DAY_MS;
    expect(decide({ ...model.snapshot(), since: {} }).row).toBe('final-wait');
  });
});
