import { describe, expect, it } from 'vitest';
import { compile } from './program.ts';
import { method, Model, planOf } from './testing/model.ts';

const PLAN = planOf({
  powerManagement: [
    {
      level: 1,
      methods: [
        method('evacuate', 'nova-service-down', 'run', { kind: 'action', whileOff: true }),
        method('a-off', 'redfish', 'off', { device: 'a' }),
        method('b-off', 'pdu', 'off', { device: 'b' }),
        method('a-on', 'redfish', 'on', { device: 'a' }),
        method('b-on', 'pdu', 'on', { device: 'b' }),
      ],
    },
  ],
});

/** Everything is off, and the workload let go. */
function released(): Model {
  const model = new Model(PLAN);
  model.fail();
  expect(['cordon', 'a', 'b', 'release', 'end'].map(() => model.next())).toEqual([
    'run:cordon',
    'off:a-off',
    'off:b-off',
    'release:release',
    'release-end:release-end',
  ]);
  return model;
}

describe('what is true of a machine only while it is off', () => {
  it('runs behind every off and the release and before the first on, wherever it is written', () => {
    const program = compile(PLAN, 'power-management', 1);
    expect(program.map(({ key }) => key)).toEqual(['off:a-off', 'off:b-off', 'release', 'release-end', 'run:evacuate', 'on:a-on', 'on:b-on']);
    expect(program.find(({ key }) => key === 'run:evacuate')?.together.map(({ name }) => name)).toEqual(['a-off', 'b-off']);
  });

  it('is done once, and then the machine is switched on', () => {
    const model = released();
    expect(['evacuate', 'on'].map(() => model.next())).toEqual(['run:evacuate', 'on:a-on']);
    expect(model.status.journal.filter(({ method: name }) => name === 'evacuate')).toHaveLength(1);
  });

  it('keeps the machine off while it fails, up to the end of the step', () => {
    const model = released();
    expect(model.next('unreachable')).toBe('run:evacuate');
    expect(model.next('unreachable')).toBe('run:evacuate');
    expect(model.status.journal.some(({ action }) => action === 'on')).toBe(false);
  });

  it('is not done under a hold, as the release is not: the node is switched on again', () => {
    const model = released();
    model.holds = [{ policy: 'max-unhealthy', reason: 'too many' }] as unknown as Model['holds'];
    expect(model.next()).toBe('on:a-on');
  });

  it('is not done once the node has booted anew, whoever started it', () => {
    const model = released();
    expect(model.next('unreachable')).toBe('run:evacuate');
    model.live({ bootID: 'boot-2' });
    expect(model.next()).not.toBe('run:evacuate');
  });

  it('is not done once the proof does not hold any more', () => {
    const model = released();
    const { status } = model;
    const evidence = status.evidence.map((item) => ({ ...item, voidedAt: '2026-01-01T00:00:00Z' }));
    const { fence } = model;
    model.fence = fence && { ...fence, status: { ...status, evidence } };
    expect(model.next()).not.toBe('run:evacuate');
  });
});
