import { describe, expect, it } from 'vitest';
import { SWITCHED_ON } from './evidence.ts';
import { recordOf } from './incident-record.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import type { NodeFacts, Since, Snapshot } from './snapshot.ts';
import { mayOpenStorage } from './storage-opening.ts';
import { method, planOf } from './testing/model.ts';
import type { Model } from './testing/model.ts';
import { OPEN, released, revoked } from './testing/revoked.ts';

function opened(model: Model): string[] {
  return model.dispatched.map(({ entry }) => entry.operation).filter((key) => /^on:(?:open|close)-/.test(key));
}

/** What wrote there was let go; its Machine is being deleted while its off is under way, and the node speaks. */
function replacedUnproven(): Model {
  const model = revoked();
  released(model);
  model.preservation = { kind: 'drop' };
  expect(model.next()).toBe('off:off');
  for (let count = 0; count < 10 && model.status.state !== 'final'; count += 1) {
    model.nowMs += 1_000;
    model.live();
    model.step();
    if (model.inFlight.size > 0) model.finish('succeeded');
  }
  expect([model.status.state, model.status.outcome]).toEqual(['final', 'replaced']);
  return model;
}

describe('storage that is revoked', () => {
  it('is not opened for a node that is Ready on the same boot: that goes to power-management', () => {
    const model = revoked();
    released(model);
    model.step();
    for (let beat = 0; beat < 10; beat += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      model.step();
    }
    expect(model.status.state).toBe('running');
    expect(model.rows).not.toContain('running-healthy');
    expect(model.next()).toBe('off:off');
  });

  it('is opened for a node that is Ready on a newer boot', () => {
    const model = revoked();
    released(model);
    model.step();
    for (let beat = 0; beat < 5; beat += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True', bootID: 'boot-2' });
      model.step();
    }
    expect(model.next()).toBe('on:open-1');
  });

  it('is opened for a node that is Ready on the same boot when nothing was let go', () => {
    const model = revoked({ minimumEvidence: ['power-off'] });
    model.step();
    for (let beat = 0; beat < 5; beat += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      model.step();
    }
    expect(model.next()).toBe('on:open-1');
  });

  it('stays closed for the same boot when the NodeFence is deleted by hand, and is opened after another', () => {
    const model = revoked();
    released(model);
    model.step();
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    for (let count = 0; count < 5; count += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(model.dispatched.at(-1)?.entry.operation, 'nothing was begun').toBe('release');
    expect(model.status.message).toContain('stays closed until the node boots again');
    model.live({ bootID: 'boot-2' });
    expect(model.next('succeeded', { edge: 'open' })).toMatch(/^on:close-/);
  });

  it('stays closed for a boot that speaks after its off was proven: the device has switched another machine', () => {
    const power = [method('off', 'redfish', 'off', { device: 'bmc' }), OPEN, method('on', 'redfish', 'on', { device: 'bmc' })];
    const model = revoked({ powerManagement: [{ level: 1, methods: power }] });
    released(model);
    expect(model.next()).toBe('off:off');
    model.nowMs += 100;
    model.live();
    for (let count = 0; count < 20; count += 1) {
      if (model.inFlight.size > 0) model.finish('succeeded');
      model.step();
      model.nowMs += 60_000;
      model.live();
    }
    expect(opened(model)).toEqual([]);
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    for (let count = 0; count < 5; count += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(opened(model)).toEqual([]);
    expect(model.status.message).toContain('stays closed until the node boots again');
    expect(
      model.events.filter((reason) => reason === 'LeftOff'),
      'told once',
    ).toHaveLength(1);
  });

  it('stays closed, and its machine is switched on all the same, where the boot speaks behind an off that was read back', () => {
    const model = revoked();
    released(model);
    expect(model.next()).toBe('off:off');
    model.nowMs += 1_000;
    model.live({ ready: 'True' });
    model.step();
    if (model.inFlight.size > 0) model.finish('voided');
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    for (let count = 0; count < 10; count += 1) {
      model.nowMs += 60_000;
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
    }
    expect(model.dispatched.map(({ entry }) => entry.operation)).toContain('on:off');
    expect(opened(model)).toEqual([]);
  });

  it('stays closed for a boot that speaks after our on: its proof was never disproved, and its device switched another machine', () => {
    const model = revoked();
    released(model);
    expect(model.next()).toBe('off:off');
    expect(model.next()).toBe('release:release');
    model.drained();
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:on');
    model.nowMs += 1_000;
    model.live({ ready: 'True' });
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    for (let count = 0; count < 5; count += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(opened(model)).toEqual([]);
    expect(model.status.message).toContain('stays closed until the node boots again');
    model.live({ bootID: 'boot-2' });
    expect(model.next('succeeded', { edge: 'open' })).toMatch(/^on:close-/);
  });

  it('stays closed for the same boot also where the fence is over, for its Machine is being deleted, and the NodeFence with it', () => {
    const model = replacedUnproven();
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    for (let count = 0; count < 5; count += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(opened(model)).toEqual([]);
    expect(model.status.message).toContain('stays closed until the node boots again');
    model.live({ bootID: 'boot-2' });
    expect(model.next('succeeded', { edge: 'open' })).toMatch(/^on:close-/);
  });

  it('stays closed for the same boot in the next incident too, which somebody asks for and takes back', () => {
    const model = replacedUnproven();
    model.preservation = undefined;
    const spec = model.fence?.spec ?? { node: 'worker-1' };
    if (model.fence !== undefined)
      model.fence = { ...model.fence, spec: { ...spec, requestedBy: { apiVersion: 'v1', kind: 'Person', name: 'a', uid: 'again' } } };
    expect(model.step().row).toBe('final-again');
    for (let count = 0; count < 20 && model.dispatched.at(-1)?.entry.operation !== 'run:cordon'; count += 1) {
      model.nowMs += 10_000;
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded', { edge: 'closed' });
    }
    if (model.fence !== undefined) model.fence = { ...model.fence, spec };
    for (let beat = 0; beat < 10; beat += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded', { edge: 'closed' });
    }
    expect(opened(model)).toEqual([]);
    expect(model.rows.at(-1)).not.toMatch(/^final|healthy/);
    model.live({ ready: 'True', bootID: 'boot-2' });
    for (let beat = 0; beat < 40 && opened(model).length === 0; beat += 1) {
      model.nowMs += 1_000;
      model.live({ ready: 'True', bootID: 'boot-2' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded', { edge: 'open' });
    }
    expect(opened(model)).toEqual(['on:open-1']);
  });

  it.each([
    ['once it is known', (model: Model) => released(model)],
    ['while nobody has said yet what came of the release', (model: Model) => model.runUntil(() => model.inFlight.size > 0)],
  ])('stays closed for the same boot where pods were let go and the NodeFence was removed by force, %s', (_when, begun) => {
    const model = revoked();
    begun(model);
    if (model.inFlight.size === 0) model.step();
    const record = recordOf(model.status, undefined);
    if (record === undefined) throw new Error('no record');
    model.inFlight.clear();
    model.fence = { uid: 'fence-2', spec: { node: 'a' }, status: undefined, deleting: false, finalized: true };
    Object.assign(model, { record: { incidents: [record] }, lastIncident: 1 });
    for (let beat = 0; beat < 40 && model.dispatched.at(-1)?.entry.operation !== 'off:off'; beat += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded', { edge: 'closed' });
    }
    expect(opened(model)).toEqual([]);
    // Ready on that boot is no recovery.
    expect(model.dispatched.at(-1)?.entry.operation).toBe('off:off');
    expect(model.status.storageRelease).toMatchObject({ bootID: 'boot-1', storages: ['san', 'nas'], pods: 0 });
    for (let beat = 0; beat < 60 && opened(model).length === 0; beat += 1) {
      model.nowMs += 1_000;
      model.live({ ready: 'True', bootID: 'boot-2' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded', { edge: 'open' });
    }
    expect(opened(model)).toEqual(['on:open-1']);
  });

  it('is opened for another boot, and for the same one where nothing was let go, whatever NodeFence was removed by force before', () => {
    for (const bootID of ['boot-1', 'boot-2']) {
      const model = revoked(bootID === 'boot-1' ? { minimumEvidence: ['power-off'] } : {});
      if (bootID === 'boot-2') released(model);
      model.step();
      const record = recordOf(model.status, undefined);
      if (record === undefined) throw new Error('no record');
      model.inFlight.clear();
      model.fence = { uid: 'fence-2', spec: { node: 'a' }, status: undefined, deleting: false, finalized: true };
      Object.assign(model, { record: { incidents: [record] }, lastIncident: 1 });
      if (model.node !== undefined) model.node = { ...model.node, bootID };
      model.step();
      expect(model.rows.at(-1)).toBe('begin');
      expect(model.status.storageRelease).toBeUndefined();
    }
  });

  it('stays closed behind a run that only waited for a dump and heard none', () => {
    const dump = method('dump', 'kdump', 'run', { kind: 'action', device: '', evidence: 'kdump' });
    const model = revoked({ powerManagement: [{ level: 1, methods: [dump, OPEN] }] });
    released(model);
    expect(model.next()).toBe('run:dump');
    for (let count = 0; count < 20; count += 1) {
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
      model.nowMs += 60_000;
    }
    expect(opened(model)).toEqual([]);
  });

  it('is opened before the on by a level that has read its off back, whatever the boot', () => {
    const power = [method('off', 'redfish', 'off', { device: 'bmc' }), OPEN, method('on', 'redfish', 'on', { device: 'bmc' })];
    const model = revoked({ powerManagement: [{ level: 1, methods: power }] });
    released(model);
    expect(model.next()).toBe('off:off');
    expect(model.next()).toBe('release:release');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    expect(model.next()).toBe('on:open-1');
    expect(model.next()).toBe('on:on');
  });
});

describe('storage behind a proof that is no off', () => {
  const itself = method('itself', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog' });
  const powerManagement = [{ level: 1, methods: [itself, method('on', 'redfish', 'on', { device: 'bmc' })] }];
  const evidence = { kind: 'watchdog', grade: 'inferred', source: 'run-1', detail: '', observedAt: '', voidedAt: 'now', voidedBecause: SWITCHED_ON };
  const run = { id: 'run-1', step: 'power-management', operation: 'run:itself', action: 'run', level: 1, restart: 0, result: 'succeeded' };
  const status = { restarts: 0, journal: [run], evidence: [evidence], storageRelease: { bootID: 'boot-1' } } as unknown as NodeFenceStatus;

  it.each<[string, Partial<NodeFacts>, Since, boolean]>([
    ['is opened for a node that is silent', { ready: 'Unknown' }, {}, true],
    ['stays closed for a boot that is Ready though the machine was to be reset', { ready: 'True' }, {}, false],
    ['stays closed for a boot that says that it is not Ready', { ready: 'False' }, {}, false],
    ['is opened for another boot', { ready: 'True', bootID: 'boot-2' }, {}, true],
    ['is opened for a boot that was heard before the proof alone', { ready: 'True', lifeAtMs: 4 }, { evidence: 5 }, true],
    ['stays closed for a boot that was heard behind the proof', { ready: 'Unknown', lifeAtMs: 6 }, { evidence: 5 }, false],
  ])('%s', (_what, change, since, isOpened) => {
    const node = { name: 'a', uid: 'u', bootID: 'boot-1', readyReason: '', lifeAtMs: 0, ...change } as NodeFacts;
    const snapshot = { since } as Snapshot;
    expect(mayOpenStorage({ plan: planOf({ powerManagement }), node, snapshot }, status)).toBe(isOpened);
  });
});
