import { describe, expect, it } from 'vitest';
import { restartedSince } from './journal.ts';
import { method, Model, planOf } from './testing/model.ts';

const NAMES = ['left', 'right'];
const SUPPLIES = planOf({
  release: 'none',
  stepRetries: 5,
  powerManagement: [{ level: 1, methods: NAMES.map((name) => method(name, 'pdu', 'reboot', { device: name, plug: '1' })) }],
});

function failed(): Model {
  const model = new Model(SUPPLIES);
  model.fail();
  expect(model.next()).toBe('run:cordon');
  return model;
}

/** What is done next, and what the run knows of restarts. */
function nextOf(model: Model): { action: string | undefined; operation: string | undefined; restarted: string[] } {
  model.runUntil(() => model.inFlight.size > 0);
  const entry = model.dispatched.at(-1)?.entry;
  const restarted = NAMES.filter((name) => restartedSince(model.status, entry?.id ?? '', method(name, 'pdu', 'off')));
  return { action: entry?.action, operation: entry?.operation, restarted };
}

describe('a device that restarted between an off and its proof', () => {
  it('is switched off again, knowing that, also after a take-over, until an off of it is proven', () => {
    const model = failed();
    model.next('failed', { offSent: true, restarted: ['left'] });
    expect(nextOf(model)).toEqual({ action: 'off', operation: 'off:left', restarted: ['left'] });
    model.finish('timeout');
    model.takeOver();
    expect(nextOf(model)).toEqual({ action: 'off', operation: 'off:left', restarted: ['left'] });
    model.finish('succeeded');
    expect(nextOf(model)).toEqual({ action: 'off', operation: 'off:right', restarted: [] });
  });

  it('is switched off again where its own off had been proven, and another supply met the restart', () => {
    const model = failed();
    model.next('succeeded');
    expect(nextOf(model).operation).toBe('off:right');
    model.finish('failed', { offSent: true, restarted: ['left'] });
    expect(nextOf(model), 'not only read again').toEqual({ action: 'off', operation: 'off:left', restarted: ['left'] });
    model.finish('succeeded');
    expect(nextOf(model)).toEqual({ action: 'off', operation: 'off:right', restarted: [] });
  });
});
