import { expect, it } from 'vitest';
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
  expect(model.events).not.toContain('AliveThoughOff');
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
