import { describe, expect, it } from 'vitest';
import type { Plan } from './plan.ts';
import { method, Model, planOf } from './testing/model.ts';

function off(model = new Model(planOf({ stepRetries: 0, maxRestarts: 0 }))): Model {
  model.fail();
  expect(model.next()).toBe('run:cordon');
  expect(model.next()).toBe('off:off');
  return model;
}

/** The out-of-service taint could not be taken back, and the fence gave up. */
function stuckTaint(answer: string): Model {
  const model = off();
  expect(model.next()).toBe('release:release');
  model.step();
  model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
  expect(model.next('failed', { message: answer })).toBe('release-end:release-end');
  model.runUntil(() => model.fence?.status?.outcome === 'failed');
  return model;
}

describe('what a failure leaves behind', () => {
  it('is said in words when our taint still stands, however long the answer was that made it so', () => {
    const model = stuckTaint('forbidden '.repeat(100));
    expect(model.status.message?.length).toBeLessThanOrEqual(512);
    expect(model.status.message).toContain('An operator must act');
    expect(model.status.message).toContain('Our taint node.kubernetes.io/out-of-service is still on the node');
    expect(model.status.message).toContain('off (redfish bmc');
    expect(model.status.message).toContain('this fence ends by itself');
  });

  it('is taken back first when the node comes back by itself: our taint, then the cordon', () => {
    const model = stuckTaint('forbidden');
    model.live({ ready: 'True', bootID: 'boot-2' });
    for (let beat = 0; beat < 12 && model.inFlight.size === 0; beat += 1) {
      model.nowMs += 5_000;
      model.live();
      model.step();
    }
    model.finish('succeeded');
    expect(model.dispatched.at(-1)?.entry).toMatchObject({ step: 'recovery', action: 'release-end' });
    expect(model.next()).toBe('run:uncordon');
    model.runUntil(() => model.status.state === 'final');
    expect(model.status.outcome).toBe('recovered');
    expect(model.status.restore).toBeUndefined();
  });
});

describe('a NodeFence that was deleted by hand', () => {
  /** Deletes it, and fails each run whose operation says so, until it is gone. */
  function deleted(model: Model, ...failing: string[]): { begun: string[]; words: string } {
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    const begun: string[] = [];
    const words: string[] = [];
    for (let beat = 0; beat < 40 && model.fence !== undefined; beat += 1) {
      model.nowMs += 5_000;
      words.push(...model.step().events.map(({ message }) => message));
      if (model.inFlight.size === 0) continue;
      const operation = model.dispatched.at(-1)?.entry.operation ?? '';
      begun.push(operation);
      model.finish(failing.includes(operation) ? 'failed' : 'succeeded');
    }
    expect(model.fence).toBeUndefined();
    return { begun, words: words.join(' ') };
  }

  it('gives the node back to the scheduler though its machine cannot be switched on, and says that', () => {
    const model = off();
    model.step();
    model.finish('failed');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    model.nowMs += 120_000;
    const { begun, words } = deleted(model, 'on:off');
    expect(begun).toContain('on:off');
    expect(begun.at(-1)).toBe('run:undo-cordon');
    expect(words).toContain('on:off could not be undone. LeftOff: off (redfish bmc');
  });

  it('switches the machine on though its cordon cannot be taken back, and says that', () => {
    const model = off();
    const { begun, words } = deleted(model, 'run:undo-cordon');
    expect(begun).toContain('on:off');
    expect(words).toContain('run:undo-cordon could not be undone.');
    expect(words).not.toContain('LeftOff');
  });

  it('says that the node stays cordoned where its way to the storage cannot be opened again', () => {
    const path = method('path', 'fc-switch', 'off', { kind: 'fabric', storage: 'san' });
    const isolation = [{ level: 1, methods: [method('cordon', 'cordon', 'run'), path] }];
    const model = new Model(planOf({ isolation, release: 'none' }));
    model.fail();
    expect(model.next()).toBe('run:cordon');
    expect(model.next()).toBe('off:path');
    model.step();
    const { words } = deleted(model, 'on:path');
    expect(words).toContain('on:path could not be undone. LeftOff: path (fc-switch');
    expect(words).toContain('The node stays cordoned.');
  });

  it('is not given up by an API server that sends everybody away: what says nothing of the thing to take back is no failure of it', () => {
    const model = new Model(planOf());
    model.fail();
    expect(model.next()).toBe('run:cordon');
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    for (const result of ['interrupted', 'not-sent', 'interrupted', 'not-sent', 'interrupted'] as const) {
      expect(model.next(result)).toBe('run:undo-cordon');
      const endedMs = model.nowMs;
      model.runUntil(() => model.inFlight.size > 0);
      expect(model.nowMs - endedMs, 'a pause, not a hot loop').toBeGreaterThanOrEqual(model.plan.timing.settleMs);
    }
    model.finish('succeeded');
    model.step();
    expect(model.fence).toBeUndefined();
    expect(model.events).not.toContain('LeftOff');
  });

  it('switches on first what was told off last: its off is read before anything is on', () => {
    const supplies = ['one', 'two'].map((plug) => method(`off-${plug}`, 'pdu', 'off', { device: 'pdu', plug }));
    const model = new Model(planOf({ powerManagement: [{ level: 1, methods: supplies }] }));
    model.fail();
    expect(model.next()).toBe('run:cordon');
    expect(model.next('succeeded', { edge: 'off' })).toBe('off:off-one');
    expect(model.next('interrupted', { edge: 'off' })).toBe('off:off-two');
    const { begun } = deleted(model);
    expect(begun.filter((operation) => operation.startsWith('on:'))).toEqual(['on:off-two', 'on:off-one']);
  });

  it('never switches a machine on while our taint stands', () => {
    const model = stuckTaint('forbidden');
    const { begun, words } = deleted(model, 'release-end');
    expect(begun).not.toContain('on:off');
    expect(begun).toContain('run:undo-cordon');
    expect(words).toContain('Our taint node.kubernetes.io/out-of-service is still on the node');
  });
});

describe('a hold after the first off', () => {
  const STORM = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];

  it('that passes within life_wait gives nothing up: the workload is let go, and only then the machine switched on', () => {
    const model = off();
    model.holds = STORM;
    const { lifeWaitMs, settleMs } = model.plan.timing;
    expect(lifeWaitMs).toBeGreaterThan(settleMs);
    for (let passedMs = 0; passedMs < lifeWaitMs; passedMs += 1_000) {
      model.step();
      model.nowMs += 1_000;
    }
    expect(model.status.hold?.policy).toBe('max-unhealthy');
    expect(model.dispatched.at(-1)?.entry.operation).toBe('off:off');
    model.holds = [];
    expect(model.next()).toBe('confirm:off');
    expect(model.next()).toBe('release:release');
  });

  it('that stands for longer stops the release, not the on', () => {
    const model = off();
    model.holds = STORM;
    expect(model.next()).toBe('on:on');
    expect(model.status.released).toBeUndefined();
  });

  it('waits when a crash left the off unsent: there is nothing to take back, and the node is fenced once the hold is over', () => {
    const model = new Model(planOf());
    model.fail();
    expect(model.next()).toBe('run:cordon');
    model.runUntil(() => model.inFlight.size > 0);
    model.takeOver();
    model.runUntil(() => model.inFlight.size > 0);
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    model.finish('found-not-done');
    model.nowMs += 120_000;
    expect(model.step().row).toBe('running-held');
    model.holds = [];
    expect(model.next()).toBe('off:off');
  });

  it('lets no off be sent anew that was found not to stand: the node is switched on', () => {
    const model = off();
    model.nowMs += 60_000;
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.action, 'the device is read again before a release').toBe('confirm');
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    model.finish('found-not-done');
    expect(model.next()).toBe('on:on');
  });

  it('lets no release of a second level begin, also when the first level had released', () => {
    const level = (number: number): Plan['powerManagement'][number] => ({
      level: number,
      methods: [method(`cycle-${number}`, 'redfish', 'reboot', { device: `bmc-${number}` })],
    });
    const model = new Model(planOf({ stepRetries: 0, powerManagement: [level(1), level(2)] }));
    model.fail();
    expect([model.next(), model.next(), model.next()]).toEqual(['run:cordon', 'off:cycle-1', 'release:release']);
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect([model.next(), model.next('misconfigured'), model.next()]).toEqual(['release-end:release-end', 'on:cycle-1', 'off:cycle-2']);
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.action).not.toBe('release');
  });
});

describe('a hold or stop that is over', () => {
  it('is not shown any more, and what a person must do stays in sight while it stands and afterwards', () => {
    const model = stuckTaint('forbidden');
    model.stop = { by: 'NodeFenceStop x', reason: 'wait' };
    model.step();
    expect(model.status.hold?.policy).toBe('stop');
    expect(model.status.message).toContain('An operator must act');
    model.stop = undefined;
    model.step();
    expect(model.status.hold).toBeUndefined();
    expect(model.status.conditions.find((condition) => condition.type === 'Stopped')?.status).toBe('False');
    expect(model.status.message).toContain('An operator must act');
  });
});

describe('a NodeFence deleted by hand after a release of which nobody knows how far it came', () => {
  it('is not switched on before the volumes are gone, or release_timeout is over', () => {
    for (const isDetached of [true, false]) {
      const model = off();
      expect(model.next('interrupted')).toBe('release:release');
      if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
      const beganMs = model.nowMs;
      model.runUntil(() => model.inFlight.size > 0);
      while (model.dispatched.at(-1)?.entry.action !== 'on') {
        model.finish('succeeded');
        if (isDetached) model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
        model.runUntil(() => model.inFlight.size > 0);
      }
      const { releaseTimeoutMs } = model.status.frozen?.plan.timing ?? { releaseTimeoutMs: 0 };
      expect(model.nowMs - beganMs >= releaseTimeoutMs, isDetached ? 'gone' : 'still there').toBe(!isDetached);
    }
  });
});

describe('a supply that was told off and never read back', () => {
  const supplies = (count: number): Plan['powerManagement'] => [
    {
      level: 1,
      methods: Array.from({ length: count }, (_supply, index) => method(`cycle-${index}`, 'pdu', 'reboot', { device: 'pdu', plug: String(index) })),
    },
  ];

  /** The first off ends in a timeout, the fence begins anew, and the node is healthy again on its old boot before another off is sent. */
  function backBeforeTheNextOff(count: number): Model {
    const model = new Model(planOf({ stepRetries: 0, maxRestarts: 1, powerManagement: supplies(count) }));
    model.fail();
    expect(model.next()).toBe('run:cordon');
    expect(model.next('timeout', { edge: 'off' })).toBe('off:cycle-0');
    model.runUntil(() => model.status.restarts === 1);
    expect(model.next()).toBe('confirm:cordon');
    model.runUntil(() => model.status.state === 'running');
    for (let beat = 0; beat < 16 && model.status.state !== 'final'; beat += 1) {
      model.nowMs += 5_000;
      model.live({ ready: 'True' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
    }
    return model;
  }

  it('keeps no healthy node fenced: its health says that it is on', () => {
    const model = backBeforeTheNextOff(1);
    expect(model.status).toMatchObject({ outcome: 'recovered', message: 'The node is healthy and recovered.' });
    expect(model.events).not.toContain('LeftOff');
  });

  it('is told of by an Event where the machine has another supply to live on', () => {
    const model = backBeforeTheNextOff(2);
    expect(model.status.outcome).toBe('recovered');
    expect(model.status.message).toContain('LeftOff: cycle-0');
    expect(model.events).toContain('LeftOff');
  });
});

describe('a node that is off on purpose', () => {
  it('is fenced again when a person switched it on and it fails on its new boot', () => {
    const model = new Model(
      planOf({ release: 'none', powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' })] }] }),
    );
    off(model);
    model.runUntil(() => model.status.state === 'done');
    model.step();
    model.nowMs += 3_600_000;
    expect(model.step().row, 'off for as long as people want').toBe('done-off');
    model.live({ ready: 'False', bootID: 'boot-2' });
    expect(model.step().row, 'it is starting').toBe('done-off');
    model.fail();
    model.step();
    expect(model.status.state).toBe('error');
    expect(model.next()).toBe('confirm:cordon');
    expect(model.next()).toBe('off:off');
  });
});

describe('a device that switches another machine', () => {
  it('is named in words, and not waited for in silence, when the node stays Ready on the boot that was read off', () => {
    const model = off(new Model(planOf({ stepRetries: 0, maxRestarts: 1 })));
    model.nowMs += 1;
    model.live({ ready: 'True' });
    expect(model.next()).toBe('on:on');
    for (let beat = 0; beat < 80; beat += 1) {
      model.nowMs += 10_000;
      model.live();
      model.step();
    }
    expect(model.status.state).toBe('new');
    expect(model.status.message).toContain('find out which machine the device really switches');
  });
});

describe('a node whose instance was deleted', () => {
  it('has not failed again while it stands as that left it; on another boot it has', () => {
    const model = new Model(planOf({ powerManagement: [{ level: 1, methods: [method('end', 'aws', 'delete', { device: 'i-1' })] }] }));
    model.fail();
    model.next();
    model.next();
    model.next();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    model.next();
    expect(model.next()).toBe('delete:end');
    model.runUntil(() => model.status.state === 'final');
    expect(model.status.outcome).toBe('replaced');
    model.step();
    expect(model.step().row).toBe('final-wait');
    model.nowMs += 3_600_000;
    expect(model.step().row).toBe('final-wait');
    if (model.node !== undefined) model.node = { ...model.node, bootID: 'boot-2' };
    expect(model.step().row).toBe('final-again');
  });
});

describe('an on that failed', () => {
  it.each([
    ['tries the next level when the on failed and the node stays away', false, 'off:pdu'],
    ['switches no node off by the next level that came up although its on failed', true, 'run:uncordon'],
  ])('%s', (_what, isBack, next) => {
    const methods = (name: string): ReturnType<typeof method>[] => [method(name, 'redfish', 'reboot', { device: name })];
    const model = new Model(
      planOf({
        release: 'none',
        powerManagement: [
          { level: 1, methods: methods('bmc') },
          { level: 2, methods: methods('pdu') },
        ],
      }),
    );
    model.fail();
    model.next();
    expect(model.next()).toBe('off:bmc');
    expect(model.next('refused')).toBe('on:bmc');
    for (let beat = 0; beat < 12 && model.inFlight.size === 0; beat += 1) {
      model.nowMs += 5_000;
      if (isBack) model.live({ ready: 'True', bootID: 'boot-2' });
      model.step();
    }
    const entry = model.dispatched.at(-1)?.entry;
    expect(`${entry?.action}:${entry?.method}`).toBe(next);
  });
});

describe('an on after a release', () => {
  it('waits for volumes that came back after the release had ended, until release_timeout', () => {
    const model = off();
    expect(model.next()).toBe('release:release');
    model.step();
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    const endedAtMs = model.nowMs;
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 1 };
    expect(model.next()).toBe('on:on');
    expect(model.nowMs - endedAtMs).toBeGreaterThan(40_000);
  });
});
