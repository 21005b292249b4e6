import { describe, expect, it } from 'vitest';
import type { Plan, PlanMethod } from './plan.ts';
import { compile } from './program.ts';
import { method, Model, planOf } from './testing/model.ts';

const outlets = ['1', '2', '3'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { device: 'pdu', plug }));
const BMC = method('bmc', 'redfish', 'reboot', { device: 'bmc' });

function isolated(more: Partial<Plan> = {}): Model {
  const model = new Model(planOf(more));
  model.fail();
  expect(model.next()).toBe('run:cordon');
  return model;
}

describe('several plugs of one level', () => {
  it('are all switched off, then all read off at one instant, then released, then all switched on', () => {
    const powerManagement = [{ level: 1, methods: outlets }];
    const last = compile(planOf({ powerManagement }), 'power-management', 1).find(({ key }) => key === 'off:outlet-3');
    expect(last?.together.map(({ name }) => name)).toEqual(['outlet-1', 'outlet-2']);
    const model = isolated({ powerManagement });
    const done = [model.next(), model.next()];
    model.step();
    expect(model.status.evidence, 'a supply of several proves nothing').toEqual([]);
    done.push(model.next());
    done.push(model.next());
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    done.push(model.next(), model.next(), model.next(), model.next());
    expect(done).toEqual([
      'off:outlet-1',
      'off:outlet-2',
      'off:outlet-3',
      'release:release',
      'release-end:release-end',
      'on:outlet-1',
      'on:outlet-2',
      'on:outlet-3',
    ]);
  });

  it('fail in the middle of the level: the earlier ones are read back before the failed one is tried again, and nothing is released', () => {
    const model = isolated({ powerManagement: [{ level: 1, methods: outlets }] });
    expect([model.next(), model.next('timeout')]).toEqual(['off:outlet-1', 'off:outlet-2']);
    expect([model.next(), model.next(), model.next()]).toEqual(['confirm:outlet-1', 'off:outlet-2', 'off:outlet-3']);
    expect(model.next()).toBe('release:release');
  });

  it('are switched off anew when one that was off is found on again meanwhile', () => {
    const model = isolated({ powerManagement: [{ level: 1, methods: outlets.slice(0, 2) }] });
    expect([model.next(), model.next('timeout')]).toEqual(['off:outlet-1', 'off:outlet-2']);
    expect([model.next('found-not-done'), model.next()]).toEqual(['confirm:outlet-1', 'off:outlet-1']);
    expect(model.next()).toBe('off:outlet-2');
  });
});

describe('levels', () => {
  const CHAIN: Partial<Plan> = {
    powerManagement: [
      { level: 1, methods: [BMC] },
      { level: 2, methods: outlets.slice(0, 2) },
    ],
    stepRetries: 1,
  };

  it('go on to the outlets when the BMC died with its host, after settle, and switch on by what they switched off', () => {
    const model = isolated(CHAIN);
    expect([model.next('unreachable'), model.next('unreachable')]).toEqual(['off:bmc', 'off:bmc']);
    const failedAtMs = model.nowMs;
    expect(model.next()).toBe('off:outlet-1');
    expect(model.nowMs - failedAtMs).toBeGreaterThanOrEqual(12_000);
    expect(model.events).toContain('LevelFailed');
    expect([model.next(), model.next()]).toEqual(['off:outlet-2', 'release:release']);
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect([model.next(), model.next(), model.next()]).toEqual(['release-end:release-end', 'on:outlet-1', 'on:outlet-2']);
  });

  it('that all fail end in error: nothing is released, nothing switched on, and what is left off is named', () => {
    const model = isolated({ ...CHAIN, maxRestarts: 0 });
    expect([model.next('refused'), model.next(), model.next('refused')]).toEqual(['off:bmc', 'off:outlet-1', 'off:outlet-2']);
    expect(model.next()).toBe('confirm:outlet-1');
    model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('release');
    expect(model.status.evidence).toEqual([]);
    expect(model.status.restore?.edges).toMatchObject([{ device: 'pdu', plug: '1', state: 'off' }]);
    expect(model.status.message).toContain('LeftOff');
  });

  it('of power that all fail leave what was let go by the closed switch alone: storage is proof of its own, and of its own pods only', () => {
    const close = method('close', 'fc-switch', 'off', { kind: 'fabric', device: 'switch', plug: '1', storage: 'san' });
    const model = new Model(planOf({ ...CHAIN, maxRestarts: 0, isolation: [{ level: 1, methods: [close] }] }));
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    const evidence = { kind: 'storage-revoked' as const, grade: 'read-back' as const, detail: 'closed', observedAt: 'now', storages: ['san'] };
    model.finish('succeeded', { edge: 'closed', evidence, evidenceAtMs: model.nowMs });
    model.proofs.set(model.status.journal[0]?.id ?? '', model.nowMs);
    const storageRelease = { at: 'now', pods: 1, evidence: model.status.journal[0]?.id ?? '', storages: ['san'], bootID: 'boot-1' };
    expect(model.next('succeeded', { storageRelease })).toBe('release:release');
    expect([model.next('refused'), model.next('refused')]).toEqual(['off:bmc', 'off:outlet-1']);
    model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
    expect(model.status.storageRelease?.pods).toBe(1);
    expect(model.status.released).toBeUndefined();
    expect(model.dispatched.filter(({ entry }) => entry.action === 'release')).toHaveLength(1);
  });
});

describe('the next level', () => {
  it('begins only when no late off of the one before can hit what it does', () => {
    const methods = (name: string) => [method(name, 'redfish', 'reboot', { device: name, deviceMaxLatencyMs: 45_000 })];
    const powerManagement = ['first', 'second'].map((name, index) => ({ level: index + 1, methods: methods(name) }));
    const model = new Model(planOf({ stepRetries: 0, powerManagement }));
    model.fail();
    expect([model.next(), model.next('timeout')]).toEqual(['run:cordon', 'off:first']);
    const failedAtMs = model.nowMs;
    expect(model.next()).toBe('off:second');
    expect(model.nowMs - failedAtMs).toBeGreaterThanOrEqual(45_000);
  });

  it('is tried for an on that failed only where it switches on: all is proven off and let go by then', () => {
    const watchdog = method('itself', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog' });
    const left = (second: readonly PlanMethod[]): (string | undefined)[] => {
      const powerManagement = [
        { level: 1, methods: [BMC] },
        { level: 2, methods: second },
      ];
      const model = isolated({ powerManagement, stepRetries: 0, maxRestarts: 0 });
      expect([model.next(), model.next()]).toEqual(['off:bmc', 'release:release']);
      model.step();
      model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
      expect([model.next(), model.next('timeout')]).toEqual(['release-end:release-end', 'on:bmc']);
      model.runUntil(() => model.inFlight.size > 0 || model.status.outcome === 'failed');
      return [model.status.state, model.dispatched.at(-1)?.entry.operation, /LeftOff: bmc \(redfish bmc/.exec(model.status.message ?? '')?.[0]];
    };
    expect(left([watchdog])).toEqual(['error', 'on:bmc', 'LeftOff: bmc (redfish bmc']);
    expect(left(outlets.slice(0, 1))).toEqual(['running', 'off:outlet-1', undefined]);
  });

  it('that proves what another one has switched off in part leaves nothing off on purpose: the machine is waited for, and what is off is named', () => {
    const itself = method('itself', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog' });
    const powerManagement = [
      { level: 1, methods: outlets.slice(0, 2) },
      { level: 2, methods: [itself] },
    ];
    const model = isolated({ powerManagement, stepRetries: 0, maxRestarts: 0, release: 'none' });
    expect([model.next(), model.next('timeout')]).toEqual(['off:outlet-1', 'off:outlet-2']);
    const proof = { kind: 'watchdog' as const, grade: 'inferred' as const, detail: 'silent', observedAt: 'now' };
    expect(model.next('succeeded', { evidence: proof, evidenceAtMs: model.nowMs })).toBe('run:itself');
    expect(model.next('unreachable')).toBe('on:outlet-1');
    model.runUntil(() => model.status.state === 'done');
    expect(model.words.at(-1)).toBe('Power-management is finished; waiting for the node to become healthy.');
    model.runUntil(() => model.status.outcome === 'failed');
    expect(model.status.message).toMatch(/NotReady.*LeftOff: outlet-1 \(pdu pdu 1\) is still off/);
  });
});
