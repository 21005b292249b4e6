import { describe, expect, it } from 'vitest';
import { ROWS } from './automaton.ts';
import { FENCE_STATES } from './node-fence.ts';
import { Model, method, planOf } from './testing/model.ts';

function failed(plan = planOf()): Model {
  const model = new Model(plan);
  model.fail();
  return model;
}

/** Off, proven; the release is next. */
function off(model: Model): Model {
  expect(model.next()).toBe('run:cordon');
  expect(model.next()).toBe('off:off');
  return model;
}

/** The node has come back on another boot and stays healthy for the delay. */
function comeBack(model: Model): void {
  model.runUntil(() => model.status.state === 'done');
  model.nowMs += 30_000;
  model.live({ ready: 'True', bootID: 'boot-2' });
  model.step();
  for (let beat = 0; beat < 8 && model.inFlight.size === 0 && model.status.state !== 'final'; beat += 1) {
    model.nowMs += 5_000;
    model.live();
    model.step();
  }
}

describe('the fence automaton', () => {
  it('isolates, proves off, releases, ends the release, switches on, recovers and closes, in this order', () => {
    const model = off(failed());
    expect(model.next()).toBe('release:release');
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:on');
    comeBack(model);
    model.finish('succeeded');
    model.runUntil(() => model.status.state === 'final');
    expect(model.status.outcome).toBe('recovered');
    expect(model.status.restore).toBeUndefined();
    expect(Object.keys(model.status.timeline).sort()).toEqual([
      'failedAt',
      'finalAt',
      'isolatedAt',
      'noticedAt',
      'poweredOffAt',
      'poweredOnAt',
      'readyAt',
      'releasedAt',
    ]);
  });

  it('does nothing for a node whose Ready is Unknown while its lease still comes in', () => {
    const model = failed();
    model.live();
    expect(model.step().row).toBe('none');
    expect(model.fence).toBeUndefined();
  });

  it('waits for not_ready_period when Ready is False, because the kubelet is alive', () => {
    const model = new Model();
    model.live({ ready: 'False' });
    expect(model.step().requeueAtMs).toBe(model.nowMs + 600_000);
    model.nowMs += 600_000;
    expect(model.step().create).toEqual({ spec: { node: 'a' } });
  });

  it('looks again at a time that floating point rounds to just before its due', () => {
    const model = failed();
    model.nowMs = 30_000.1 + 14_999.9;
    if (model.node !== undefined) model.node = { ...model.node, lifeAtMs: 30_000.000000000004 };
    const decision = model.step();
    expect(decision.create !== undefined || (decision.requeueAtMs ?? 0) > model.nowMs).toBe(true);
    for (const life of [0.1, 1 / 3, 12_345.678, 25_930.123456789]) {
      const exact = failed();
      if (exact.node !== undefined) exact.node = { ...exact.node, lifeAtMs: life };
      exact.nowMs = life + 15_000;
      expect(exact.step().row, String(life)).toBe('none-triggered');
    }
  });

  it('closes as untouched when the node heals before isolation, only after healthy_delay', () => {
    const model = failed();
    model.step();
    model.step();
    model.live({ ready: 'True' });
    expect(model.step().row).toBe('new-not-triggered');
    model.nowMs += 29_000;
    model.live();
    expect(model.step().row).toBe('new-not-triggered');
    model.nowMs += 1_000;
    model.live();
    expect(model.step().row).toBe('new-untouched');
    expect(model.status.outcome).toBe('untouched');
    expect(model.dispatched).toEqual([]);
  });

  it('does not isolate while a hold applies, and says it once', () => {
    const model = failed();
    model.holds = [{ reason: 'observe', policy: 'observe', message: 'observe' }];
    model.step();
    model.step();
    model.step();
    model.nowMs += 60_000;
    model.step();
    expect(model.status.hold?.policy).toBe('observe');
    expect(model.events.filter((reason) => reason === 'WouldFence')).toHaveLength(1);
    expect(model.dispatched).toEqual([]);
  });

  it('starts no release when a hold comes after the first off, and switches on all the same', () => {
    const model = off(failed());
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'storm' }];
    expect(model.next()).toBe('on:on');
    expect(model.status.released).toBeUndefined();
  });

  it('acts no more under a stop, not even on, and says what is left off', () => {
    const model = off(failed());
    model.stop = { by: 'NodeFenceStop x', reason: 'wait' };
    model.nowMs += 3_600_000;
    expect(model.step().row).toBe('stopped');
    expect(model.step().row).toBe('stopped');
    expect(model.inFlight.size).toBe(0);
    expect(model.status.message).toContain('Left off');
    model.stop = undefined;
    expect(model.next(), 'the power may have come back in that hour').toBe('confirm:off');
    expect(model.next()).toBe('release:release');
  });

  it('voids the proof when a lease renewal is received after the last off read, releases nothing and switches on', () => {
    const model = off(failed());
    model.nowMs += 1;
    model.live();
    expect(model.next()).toBe('on:on');
    expect(model.status.evidence[0]?.voidedBecause).toContain('lease renewal');
    expect(model.events).toContain('EvidenceVoided');
    expect(model.status.released).toBeUndefined();
  });

  it('takes our taint away and switches nothing on when the proof is voided after the release began', () => {
    const model = off(failed());
    expect(model.next()).toBe('release:release');
    model.step();
    model.nowMs += 1;
    model.live();
    expect(model.next()).toBe('release-end:release-end');
    model.runUntil(() => model.status.outcome === 'failed');
    expect(model.status.state).toBe('error');
    expect(model.dispatched.some(({ entry }) => entry.action === 'on')).toBe(false);
  });

  it('releases nothing when the release itself found life by its consistent read', () => {
    const model = off(failed());
    expect(model.next('voided')).toBe('release:release');
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:on');
    expect(model.status.released).toBeUndefined();
  });

  it('reads the device again before it releases on evidence that another process took', () => {
    const model = off(failed());
    model.step();
    model.finish('not-sent');
    model.takeOver();
    model.fail();
    expect(model.next('found-not-done')).toBe('release:release');
    expect(model.next()).toBe('confirm:off');
    expect(model.next()).toBe('release:release');
    expect(model.dispatched.at(-1)?.kind).toBe('run');
  });

  it('waits out the deadline of an open intent after a take-over, reads, and sends an own off anew', () => {
    const model = failed();
    model.next();
    model.runUntil(() => model.inFlight.size > 0);
    model.takeOver();
    model.fail();
    const waiting = model.step();
    expect(waiting.row).toBe('take-over');
    expect(waiting.requeueAtMs).toBe(model.nowMs + 18_000);
    model.nowMs += 18_000;
    expect(model.step().dispatch?.kind).toBe('recover');
    model.finish('found-done');
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.action).toBe('off');
    expect(model.status.evidence).toEqual([]);
  });

  it('goes to error after the retries of a device that says yes and stays on, restarts, gives up in words, and releases nothing', () => {
    const model = failed();
    expect(model.next()).toBe('run:cordon');
    for (let count = 0; count < 3; count += 1) {
      const beganAt = model.nowMs;
      expect(model.next('timeout')).toBe('off:off');
      // Settle stands between two attempts.
      expect(model.nowMs - beganAt).toBeGreaterThanOrEqual(count > 0 ? 12_000 : 0);
    }
    expect(model.next()).toBe('confirm:cordon');
    for (let count = 0; count < 3; count += 1) expect(model.next('timeout')).toBe('off:off');
    model.runUntil(() => model.status.outcome === 'failed');
    expect(model.status.state).toBe('error');
    expect(model.status.message).toContain('An operator must act');
    expect(model.status.message).toContain('Nothing was released');
    expect(model.dispatched.some(({ entry }) => entry.action === 'release' || entry.action === 'on')).toBe(false);
  });

  it('does not retry what the device refused, and tries the next level after settle', () => {
    const plan = planOf({
      powerManagement: [
        { level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' })] },
        { level: 2, methods: [method('pdu-off', 'pdu', 'off', { device: 'pdu' })] },
      ],
    });
    const model = failed(plan);
    model.next();
    expect(model.next('refused')).toBe('off:off');
    const refusedAt = model.nowMs;
    expect(model.next()).toBe('off:pdu-off');
    expect(model.nowMs - refusedAt).toBeGreaterThanOrEqual(12_000);
    expect(model.status.level).toBe(2);
  });

  it('splits a reboot into off, release and on', () => {
    const model = failed(planOf({ powerManagement: [{ level: 1, methods: [method('cycle', 'redfish', 'reboot', { device: 'bmc' })] }] }));
    model.next();
    expect(model.next()).toBe('off:cycle');
    expect(model.next()).toBe('release:release');
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:cycle');
  });

  it('waits settle after the off before it switches on', () => {
    const model = off(failed(planOf({ release: 'none' })));
    const offAt = model.nowMs;
    expect(model.next()).toBe('on:on');
    expect(model.nowMs - offAt).toBeGreaterThanOrEqual(12_000);
  });

  it('waits for the slowest device before on when an off could not be seen to act, because it was sent twice or the machine was off before', () => {
    const twice = failed(planOf({ release: 'none' }));
    twice.next();
    twice.next('timeout');
    twice.next();
    const offAt = twice.nowMs;
    expect(twice.next()).toBe('on:on');
    expect(twice.nowMs - offAt).toBeGreaterThanOrEqual(30_000);
    const before = failed(planOf({ release: 'none' }));
    before.next();
    before.next('succeeded', { edgeUnseen: true });
    const sentAt = before.nowMs;
    expect(before.next()).toBe('on:on');
    expect(before.nowMs - sentAt).toBeGreaterThanOrEqual(30_000);
  });

  it('reads the device again before a release that was interrupted is tried again', () => {
    const model = off(failed());
    model.next('interrupted');
    model.nowMs += 3_000;
    expect(model.next()).toBe('confirm:off');
    expect(model.next()).toBe('release:release');
  });

  it('demands life_wait of silence after the first off read where the identity is unverified, and reads again before the release', () => {
    const model = failed(planOf({ identity: 'unverified' }));
    model.next();
    model.runUntil(() => model.inFlight.size > 0);
    const readAt = model.nowMs;
    const unverified = (): void => {
      const report = model.reports.at(-1);
      if (report?.evidence !== undefined) report.evidence = { ...report.evidence, identity: 'unverified' };
    };
    model.finish('succeeded');
    unverified();
    expect(model.next()).toBe('confirm:off');
    unverified();
    expect(model.nowMs - readAt).toBeGreaterThanOrEqual(15_000);
    expect(model.next()).toBe('release:release');
  });

  it('tries a failed recovery of a healthy node again with back-off, under the plan as mended, and never in a loop', () => {
    const wrong = { step: 'recovery' as const, severity: 'error' as const, where: 'ConfigMap fence-config-a', message: 'no such method' };
    const model = failed(planOf({ release: 'none', problems: [wrong] }));
    model.next();
    model.next();
    expect(model.next()).toBe('on:on');
    comeBack(model);
    for (let pass = 0; pass < 20 && model.status.state !== 'error'; pass += 1) model.step();
    expect(model.status.message).toContain('no such method');
    const writes = model.rows.length;
    model.runUntil(() => model.rows.at(-1) === 'error-recovery-back-off');
    expect(model.rows.length - writes).toBeLessThanOrEqual(2);
    model.plan = planOf();
    model.nowMs += 30_000;
    model.live();
    expect(model.next()).toBe('run:uncordon');
    model.runUntil(() => model.status.state === 'final');
    expect(model.status.outcome).toBe('recovered');
  });

  it('ends a release at release_timeout even when volumes stay, and only then switches on', () => {
    const model = off(failed());
    expect(model.next()).toBe('release:release');
    const releasedAt = model.nowMs;
    expect(model.next()).toBe('release-end:release-end');
    expect(model.nowMs - releasedAt).toBeGreaterThanOrEqual(60_000);
  });

  it('never counts a step whose configuration is wrong as done', () => {
    const model = failed(
      planOf({
        problems: [
          {
            step: 'power-management',
            severity: 'error',
            where: 'ConfigMap fence-config-a, key config.properties, line 2',
            message: 'no agent redfsh',
          },
        ],
      }),
    );
    expect(model.next()).toBe('run:cordon');
    model.runUntil(() => model.status.state === 'error');
    expect(model.status.message).toContain(
      'NF006 ConfigurationInvalid: power-management: ConfigMap fence-config-a, key config.properties, line 2: no agent redfsh. ',
    );
    expect(model.status.conditions.find((condition) => condition.type === 'ConfigurationValid')?.status).toBe('False');
    expect(model.dispatched.some(({ entry }) => entry.step === 'power-management')).toBe(false);
  });

  it('is not healthy on the boot that it was switched off on', () => {
    const model = off(failed(planOf({ release: 'none' })));
    expect(model.next()).toBe('on:on');
    model.runUntil(() => model.status.state === 'done');
    for (let beat = 0; beat < 10; beat += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      expect(model.step().row).toBe('done-wait');
    }
  });

  it('waits without a loop when the last power action was an off on purpose', () => {
    const model = failed(planOf({ powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' })] }] }));
    model.next();
    expect(model.next()).toBe('off:off');
    expect(model.next()).toBe('release:release');
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    model.runUntil(() => model.status.state === 'done');
    model.nowMs += 10 * 3_600_000;
    expect(model.step().row).toBe('done-off');
  });

  it('closes with words and switches nothing when the Node is replaced under its name', () => {
    const model = failed();
    model.next();
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('succeeded');
    if (model.node !== undefined) model.node = { ...model.node, uid: 'uid-b' };
    expect(model.step().row).toBe('node-gone');
    expect(model.status.outcome).toBe('node-gone');
  });

  it('takes back what it set when the NodeFence is deleted by hand, then lets it go', () => {
    const model = failed();
    expect(model.next()).toBe('run:cordon');
    model.step();
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    expect(model.next()).toBe('run:undo-cordon');
    model.runUntil(() => model.fence === undefined);
  });

  it('has a last row that always applies for every state, so that no state is without a way on', () => {
    for (const state of FENCE_STATES) {
      const own = ROWS.filter((row) => row.from === state);
      expect(own.length).toBeGreaterThan(1);
      expect(own.at(-1)?.applies.length, `${state} ends with an unconditional row`).toBe(0);
    }
  });
});
