import { describe, expect, it } from 'vitest';
import { compile } from './program.ts';
import { method, Model, planOf } from './testing/model.ts';

const DUMPING = planOf({
  powerManagement: [
    {
      level: 1,
      methods: [method('cycle', 'redfish', 'reboot', { device: 'bmc' }), method('dump', 'redfish', 'diag', { device: 'bmc', diagWaitMs: 10_000 })],
    },
  ],
});

function isolated(plan = DUMPING): Model {
  const model = new Model(plan);
  model.fail();
  expect(model.next()).toBe('run:cordon');
  return model;
}

describe('a kernel that is to dump before its machine is switched off', () => {
  it('is asked before every off, wherever the method is written, and is no proof', () => {
    expect(compile(DUMPING, 'power-management', 1).map(({ key }) => key)).toEqual(['diag:dump', 'off:cycle', 'release', 'release-end', 'on:cycle']);
    const model = isolated();
    expect(model.next()).toBe('diag:dump');
    model.step();
    expect(model.status.evidence).toEqual([]);
    expect(model.events).toContain('KernelDumpOrdered');
  });

  it('gets diag_wait before the off that would cut its dump', () => {
    const model = isolated();
    expect(model.next()).toBe('diag:dump');
    const orderedAtMs = model.nowMs;
    expect(model.next()).toBe('off:cycle');
    expect(model.nowMs - orderedAtMs).toBeGreaterThanOrEqual(10_000);
  });

  it.each(['refused', 'unreachable', 'timeout', 'misconfigured', 'failed', 'interrupted'] as const)(
    'keeps nobody from the off when it cannot be asked (%s): no retry, no settle, no lost level',
    (result) => {
      const model = isolated();
      expect(model.next(result, { message: 'NMI is not supported' })).toBe('diag:dump');
      const failedAtMs = model.nowMs;
      expect(model.next()).toBe('off:cycle');
      expect(model.nowMs - failedAtMs).toBeLessThan(5_000);
      expect(model.status.retries).toBe(0);
      expect(model.events).toContain('KernelDumpNotOrdered');
    },
  );

  it('is asked once: not again after a crash, nor when the off has to be repeated', () => {
    const model = isolated();
    model.runUntil(() => model.inFlight.size > 0);
    model.takeOver();
    model.fail();
    expect(model.next('found-not-done')).toBe('diag:dump');
    for (let count = 0; count < 2; count += 1) expect(model.next('timeout')).toBe('off:cycle');
    expect(model.status.journal.filter(({ action }) => action === 'diag')).toHaveLength(1);
  });

  it('is asked again only when nothing was sent', () => {
    const model = isolated();
    expect(model.next('not-sent')).toBe('diag:dump');
    expect(model.next()).toBe('diag:dump');
    expect(model.next()).toBe('off:cycle');
  });

  it('is not asked while something holds the node', () => {
    const model = isolated();
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    model.nowMs += 400_000;
    model.step();
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('diag');
  });
});
