import { expect, it } from 'vitest';
import { isOnBootThatWasOff } from './health.ts';
import type { NodeFacts } from './snapshot.ts';
import { method, Model, planOf } from './testing/model.ts';

const SUPPLIES = planOf({
  powerManagement: [{ level: 1, methods: ['1', '2'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { device: 'pdu', plug })) }],
});

/** One of two supplies is off, then a hold keeps the other one on, and the first is switched on again; the node comes back. */
function oneSupply(bootID: string): Model {
  const model = new Model(SUPPLIES);
  model.fail();
  expect(model.next()).toBe('run:cordon');
  expect(model.next()).toBe('off:outlet-1');
  model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
  expect(model.next()).toBe('on:outlet-1');
  for (let beat = 0; beat < 12; beat += 1) {
    for (let count = 0; count < 12; count += 1) {
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
    }
    model.nowMs += 10_000;
    model.live({ ready: 'True', bootID });
  }
  return model;
}

it('takes a node back that never was off: one supply of two is no off, and Ready on the same boot is health', () => {
  const model = oneSupply('boot-1');
  expect(model.status.outcome).toBe('recovered');
  expect(model.events).not.toContain('AliveAfterPowerOff');
});

it('takes a node whose whole power was read off back on another boot only', () => {
  const model = new Model(SUPPLIES);
  model.fail();
  for (const expected of ['run:cordon', 'off:outlet-1', 'off:outlet-2']) expect(model.next()).toBe(expected);
  model.step();
  for (let beat = 0; beat < 12; beat += 1) {
    for (let count = 0; count < 12; count += 1) {
      model.step();
      if (model.inFlight.size > 0) model.finish(model.dispatched.at(-1)?.entry.action === 'release' ? 'voided' : 'succeeded');
    }
    model.nowMs += 10_000;
    model.live({ ready: 'True' });
  }
  expect(model.status.state).not.toBe('final');
});

it('takes one supply that is found off after a crash for no off of the machine, for the other is not read with it; a single supply for one', () => {
  for (const [plan, steps, isOff] of [
    [SUPPLIES, ['run:cordon', 'off:outlet-1'], false],
    [planOf(), ['run:cordon'], true],
  ] as const) {
    const model = new Model(plan);
    model.fail();
    for (const expected of steps) expect(model.next()).toBe(expected);
    model.runUntil(() => model.inFlight.size > 0);
    model.takeOver();
    model.fail();
    model.next('found-done');
    model.step();
    expect(model.status.journal.find(({ result }) => result === 'found-done')?.action).toBe('off');
    expect(isOnBootThatWasOff({ ...nodeOf(model), bootID: 'boot-1' }, model.status)).toBe(isOff);
    expect(isOnBootThatWasOff({ ...nodeOf(model), bootID: 'boot-2' }, model.status)).toBe(false);
  }
});

function nodeOf({ node }: Model): NodeFacts {
  if (node === undefined) throw new Error('there is no node');
  return node;
}
