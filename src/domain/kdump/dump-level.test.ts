import { describe, expect, it } from 'vitest';
import type { Evidence, JournalEntry } from '../node-fence.ts';
import type { EvidenceKind, PlanMethod } from '../plan.ts';
import { begun, failing, isolated, levels, OFF, ON, SSH } from '../testing/course.ts';
import type { Answer } from '../testing/course.ts';
import { method } from '../testing/model.ts';
import type { Model } from '../testing/model.ts';

const [ONE, TWO] = ['one', 'two'].map((name) => method(name, 'kdump', 'run', { kind: 'action', device: '', evidence: 'kdump' })) as [
  PlanMethod,
  PlanMethod,
];
const ADMITTED: readonly EvidenceKind[] = ['power-off', 'ack', 'kdump'];
const HEARD: Omit<Evidence, 'source'> = {
  kind: 'kdump',
  grade: 'inferred',
  detail: '9 messages',
  observedAt: '2026-01-01T00:00:00.000Z',
  bootID: 'boot-1',
};

/** Its first level has these methods, the second one switches the machine off; nothing is released. */
function waiting(own: readonly PlanMethod[], minimumEvidence = ADMITTED): Model {
  return isolated({ ...levels(own, [OFF]), minimumEvidence, release: 'none', maxRestarts: 0 });
}

/** Those that are named hear a dump, the others none. */
function heardBy(model: Model, ...names: readonly string[]): (entry: JournalEntry) => Answer {
  return ({ method: name }) =>
    names.includes(name)
      ? ['succeeded', { evidence: HEARD, evidenceAtMs: model.nowMs, message: 'it dumps' }]
      : ['succeeded', { message: `${name} is through` }];
}

describe('a level that only waits for a dump', () => {
  it.each([
    ['one of two that wait has heard it', [ONE, TWO], ['two']],
    ['it was heard, whatever program ran after it', [ONE, SSH], ['one']],
  ])('is done where %s', (_what, own, names) => {
    const model = waiting(own);
    expect(begun(model, 5, heardBy(model, ...names))).toEqual(own.map(({ name }) => `run:${name}`));
    expect(model.status).toMatchObject({ state: 'done', level: 1 });
  });

  it.each([
    ['may prove nothing', ['power-off'], ['one'], 'its kernel dumps, which proves nothing here: minimum_evidence does not name kdump'],
  ] as const)('leaves the machine to the next one, and says why, where it %s', (_what, minimumEvidence, names, why) => {
    const model = waiting([ONE, TWO, SSH], minimumEvidence);
    const said: (string | undefined)[] = [];
    const operations = begun(model, 5, (entry) => {
      said.push(model.status.message);
      return heardBy(model, ...names)(entry);
    });
    expect(operations).toEqual(['run:one', 'run:two', 'run:ssh', 'off:off']);
    expect(model.events).toContain('LevelFailed');
    expect(model.words.join(), 'in the Event').toContain(`Level 1 of power-management failed (${why})`);
  });

  it('is none that switches the machine off besides: it is done when that is', () => {
    const model = isolated({ ...levels([ONE, OFF], [ON]), minimumEvidence: ADMITTED, release: 'none', maxRestarts: 0 });
    expect(begun(model, 5)).toEqual(['run:one', 'off:off']);
    expect(model.status).toMatchObject({ state: 'done', level: 1 });
  });

  it('is none that runs a program and waits for nothing', () => {
    const model = waiting([SSH]);
    expect(begun(model, 5)).toEqual(['run:ssh']);
    expect(model.status).toMatchObject({ state: 'done', level: 1 });
  });

  it('is none of isolation, which is done when it has waited', () => {
    const model = failing({ ...levels([OFF]), isolation: [{ level: 1, methods: [ONE] }], release: 'none', maxRestarts: 0 });
    expect(begun(model, 5)).toEqual(['run:one', 'off:off']);
    expect(model.status.state).toBe('done');
  });
});
