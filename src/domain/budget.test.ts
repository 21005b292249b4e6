import { describe, expect, it } from 'vitest';
import { budgetHold } from './budget.ts';
import { isWorthWriting, recordOf, RECORDS_MAX, unrecovered, withIncident } from './incident-record.ts';
import type { IncidentRecord } from './incident-record.ts';
import { LIMITS } from './node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from './node-fence.ts';
import { Model, planOf } from './testing/model.ts';

const NOW_MS = Date.parse('2026-03-02T12:00:00Z');

function incident(number: number, hoursAgo: number, outcome?: IncidentRecord['outcome']): IncidentRecord {
  const startedAt = new Date(NOW_MS - hoursAgo * 3_600_000).toISOString();
  return {
    incident: number,
    startedAt,
    trigger: 'node-condition',
    evidence: [],
    timeline: {},
    summary: '',
    ...(outcome === undefined ? {} : { outcome }),
  };
}

function held(incidents: IncidentRecord[], more: { resumedAfter?: number; maxFencesPerDay?: number } = {}): string | undefined {
  const { resumedAfter, ...plan } = more;
  const record = resumedAfter === undefined ? { incidents } : { incidents, resumedAfter };
  return budgetHold(record, 9, planOf(plan), NOW_MS)?.reason;
}

describe('max_fences_per_day', () => {
  const recovered = [incident(1, 23), incident(2, 5), incident(3, 1)].map((entry) => ({ ...entry, outcome: 'recovered' as const }));

  it('holds the fourth fence of a node within a day, until the oldest is a day old, and says so', () => {
    const hold = budgetHold({ incidents: recovered }, 4, planOf(), NOW_MS);
    expect(hold).toMatchObject({ policy: 'max-fences-per-day', endsInMs: 3_600_000 });
    expect(hold?.message).toContain('fenced 3 times within a day, max_fences_per_day is 3');
  });

  it.each<[string, IncidentRecord[], Parameters<typeof held>[1], string | undefined]>([
    ['two are not three', recovered.slice(1), {}, undefined],
    ['one of them is a day old', [incident(1, 24, 'recovered'), ...recovered.slice(1)], {}, undefined],
    ['nothing was done in one of them', [incident(1, 3, 'untouched'), ...recovered.slice(1)], {}, undefined],
    [
      'one of them was withdrawn when the node was only cordoned',
      [{ ...incident(1, 3, 'stopped'), cordonedOnly: true }, ...recovered.slice(1)],
      {},
      undefined,
    ],
    ['one of them was withdrawn after an off', [incident(1, 3, 'stopped'), ...recovered.slice(1)], {}, 'fences-per-day'],
    ['a person resumed the node after the first', recovered, { resumedAfter: 1 }, undefined],
    ['the admin allows five', recovered, { maxFencesPerDay: 5 }, undefined],
    ['the admin allows one', recovered.slice(2), { maxFencesPerDay: 1 }, 'fences-per-day'],
    ['a clock was set back after one', [incident(1, -2, 'recovered'), ...recovered.slice(1)], {}, 'fences-per-day'],
    ['its own record is none of the earlier ones', [...recovered.slice(1), incident(9, 0)], {}, undefined],
  ])('when %s', (_what, incidents, more, reason) => {
    expect(held(incidents, more)).toBe(reason);
  });
});

describe('the breaker', () => {
  it.each<[string, IncidentRecord[], number | undefined, string | undefined]>([
    ['two in a row gave up', [incident(1, 90, 'failed'), incident(2, 50, 'failed')], undefined, 'breaker'],
    ['one gave up', [incident(2, 50, 'failed')], undefined, undefined],
    ['one between them recovered', [incident(1, 90, 'failed'), incident(2, 60, 'recovered'), incident(3, 50, 'failed')], undefined, undefined],
    ['one of the NodeFences vanished', [incident(1, 90, 'failed'), incident(2, 50)], undefined, 'breaker'],
    ['one was ended by a person', [incident(1, 90, 'stopped'), incident(2, 50, 'failed')], undefined, undefined],
    ['one was of a Node that went away', [incident(1, 90, 'failed'), incident(2, 50, 'node-gone')], undefined, undefined],
    ['a person resumed the node after both', [incident(1, 90, 'failed'), incident(2, 50, 'failed')], 2, undefined],
    ['a person resumed the node after the first', [incident(1, 90, 'failed'), incident(2, 50, 'failed')], 1, undefined],
  ])('when %s', (_what, incidents, resumedAfter, reason) => {
    expect(held(incidents, resumedAfter === undefined ? {} : { resumedAfter })).toBe(reason);
  });
});

describe('a fence whose node has used up its budget', () => {
  function broken(): Model {
    const model = new Model();
    model.record = { incidents: [incident(1, 90, 'failed'), incident(2, 50, 'failed')] };
    model.lastIncident = 2;
    model.fail();
    return model;
  }

  it('stays new with a hold that names the way out, and touches nothing', () => {
    const model = broken();
    for (let pass = 0; pass < 5; pass += 1) {
      model.step();
      model.nowMs += 60_000;
    }
    expect(model.status).toMatchObject({ state: 'new', incident: 3, hold: { policy: 'breaker' } });
    expect(model.status.message).toContain('nodefence resume');
    expect(model.dispatched).toEqual([]);
    expect(model.events.filter((reason) => reason === 'FencingHeld')).toHaveLength(1);
  });

  it('goes on when a person resumed the node', () => {
    const model = broken();
    model.step();
    model.step();
    model.step();
    if (model.record !== undefined) model.record = { ...model.record, resumedAfter: 2 };
    expect(model.next()).toBe('run:cordon');
  });

  it('ends as untouched when the node heals while it is held', () => {
    const model = broken();
    model.step();
    for (let beat = 0; beat < 8; beat += 1) {
      model.nowMs += 10_000;
      model.live({ ready: 'True' });
      model.step();
    }
    expect(model.status.outcome).toBe('untouched');
  });

  it('is looked at again when the oldest of too many is a day old', () => {
    const model = new Model();
    const wallMs = 1_700_000_000_000 + model.nowMs;
    const at = (hours: number): string => new Date(wallMs - hours * 3_600_000).toISOString();
    model.record = { incidents: [23.99, 5, 1].map((hours, index) => ({ ...incident(index + 1, 0, 'recovered'), startedAt: at(hours) })) };
    model.lastIncident = 3;
    model.fail();
    model.step();
    model.step();
    const due = model.step().requeueAtMs ?? Infinity;
    expect(due).toBeLessThanOrEqual(model.nowMs + 36_000);
    model.nowMs += 36_000;
    expect(model.next()).toBe('run:cordon');
  });

  it('is not held by a record that is read while it acts', () => {
    const model = new Model();
    model.fail();
    model.next();
    model.record = { incidents: [incident(1, 90, 'failed'), incident(2, 50, 'failed')] };
    model.step();
    expect(model.status.state).toBe('running');
    expect(model.status.hold).toBeUndefined();
  });
});

describe('the record of an incident', () => {
  it('begins only when something was done', () => {
    const model = new Model();
    model.fail();
    model.step();
    model.step();
    expect(recordOf(model.status, undefined)).toBeUndefined();
    model.next();
    model.step();
    expect(recordOf(model.status, undefined)).toMatchObject({ incident: 1, trigger: 'node-condition', evidence: [] });
  });

  it('keeps what held it and which evidence was found, also when both are gone from the NodeFence', () => {
    const model = new Model();
    model.fail();
    model.next();
    model.step();
    const status = { ...model.status, hold: { reason: 'r', policy: 'rate', message: 'too many', since: '' } };
    const evidence = [{ kind: 'power-off' as const, grade: 'read-back' as const, source: 's', detail: '', observedAt: '' }];
    const first = recordOf({ ...status, evidence }, undefined);
    const later = recordOf(model.status, first);
    expect(later).toMatchObject({ heldBy: 'rate: too many', evidence: ['power-off'], startedAt: first?.startedAt });
  });

  it('says that its node was only cordoned once that is sure: it is over, and nothing else began', () => {
    const model = new Model();
    model.fail();
    model.next();
    model.step();
    expect(recordOf(model.status, undefined)).not.toHaveProperty('cordonedOnly');
    const over: NodeFenceStatus = { ...model.status, state: 'final', outcome: 'recovered', timeline: { ...model.status.timeline, finalAt: 'z' } };
    expect(recordOf(over, undefined)).toMatchObject({ cordonedOnly: true, endedAt: 'z' });
    const [cordon] = over.journal;
    if (cordon === undefined) throw new Error('no cordon');
    const off: JournalEntry = { ...cordon, id: 'off-1', step: 'power-management', agent: 'redfish', action: 'off', result: 'timeout' };
    expect(recordOf({ ...over, journal: [cordon, { ...off, result: 'not-sent' }] }, undefined)).toHaveProperty('cordonedOnly');
    const others: [string, Partial<NodeFenceStatus>][] = [
      ['an off that failed', { journal: [cordon, off] }],
      ['a journal that may have lost an off', { journal: Array.from({ length: LIMITS.journal }, () => cordon) }],
      ["a release on a person's word", { journal: [cordon, { ...off, agent: 'kubernetes', action: 'release', result: 'succeeded' }] }],
    ];
    for (const [what, change] of others) expect(recordOf({ ...over, ...change }, undefined), what).not.toHaveProperty('cordonedOnly');
  });

  it('is written when its outcome, end, evidence or what holds it changes, and not at every step', () => {
    const base = incident(1, 1);
    expect(isWorthWriting(undefined, base)).toBe(true);
    expect(isWorthWriting(base, { ...base, summary: 'other words', timeline: { isolatedAt: base.startedAt } })).toBe(false);
    for (const change of [{ outcome: 'failed' as const }, { endedAt: base.startedAt }, { evidence: ['ack' as const] }, { heldBy: 'rate: x' }])
      expect(isWorthWriting(base, { ...base, ...change }), JSON.stringify(change)).toBe(true);
  });

  it('is bounded, ordered, and one for each incident', () => {
    let all: IncidentRecord[] = [];
    for (let number = 1; number <= RECORDS_MAX + 5; number += 1) all = withIncident(all, incident(number, 1));
    all = withIncident(all, incident(RECORDS_MAX, 1, 'failed'));
    expect(all).toHaveLength(RECORDS_MAX);
    expect(all.map((entry) => entry.incident)).toEqual([...all.map((entry) => entry.incident)].sort((left, right) => left - right));
    expect(unrecovered({ incidents: [incident(1, 3, 'recovered'), incident(2, 2, 'failed')] }).map((entry) => entry.incident)).toEqual([2]);
  });
});
