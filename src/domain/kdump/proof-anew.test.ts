import { describe, expect, it } from 'vitest';
import type { Evidence, JournalEntry } from '../node-fence.ts';
import { method, Model, planOf } from '../testing/model.ts';

const DUMP = method('dump', 'kdump', 'run', { kind: 'action', device: '', evidence: 'kdump' });
const LEVELS = [
  { level: 1, methods: [DUMP] },
  { level: 2, methods: [method('off', 'redfish', 'off', { device: 'bmc' }), method('on', 'redfish', 'on', { device: 'bmc' })] },
];
const HEARD: Omit<Evidence, 'source'> = {
  kind: 'kdump',
  grade: 'inferred',
  detail: '12 messages',
  observedAt: '2026-01-01T00:00:00Z',
  bootID: 'boot-1',
};

/** What is asked for next. */
function nextOf(model: Model): JournalEntry {
  model.runUntil(() => model.inFlight.size > 0);
  const [id] = model.inFlight;
  const entry = model.status.journal.find((one) => one.id === id);
  if (entry === undefined) throw new Error(`nothing is asked for: ${model.rows.at(-1) ?? ''}`);
  return entry;
}

/** A fence whose release rests on a dump that was heard, cut off in the middle of it by a crash: its successor has the proof to read again. */
function cutOff(): Model {
  const model = new Model(planOf({ powerManagement: LEVELS, minimumEvidence: ['power-off', 'ack', 'kdump'] }));
  model.fail();
  for (let entry = nextOf(model); entry.action !== 'release'; entry = nextOf(model)) {
    if (entry.operation !== 'run:dump') {
      model.finish('succeeded');
      continue;
    }
    model.finish('succeeded', { evidence: HEARD, evidenceAtMs: model.nowMs });
    model.proofs.set(entry.id, model.nowMs);
  }
  model.takeOver();
  model.fail();
  return model;
}

/** What a successor that heard too few messages asks for, and in which answers that ends: until the off, or so many. */
function askedFor(model: Model, most: number): string[] {
  const seen: string[] = [];
  while (seen.length < most) {
    const { operation, action } = nextOf(model);
    seen.push(`${operation} ${action}`);
    if (operation === 'off:off') return seen;
    if (action === 'release') model.finish('interrupted', { released: { by: 'delete-pods', at: '', pods: 0, evidence: '', left: 1, batch: 1 } });
    else model.finish(action === 'confirm' ? 'found-not-done' : 'succeeded');
  }
  return seen;
}

describe('a dump that proved the end of a node, and that a successor does not hear any more', () => {
  it('proves nothing once it was waited for anew: the next level switches the machine off, and nothing waits for ever', () => {
    const model = cutOff();
    expect(askedFor(model, 12)).toEqual(['release release', 'run:dump confirm', 'run:dump run', 'release-end release-end', 'off:off off']);
    expect(model.status.level).toBe(2);
    expect(model.status.evidence).toMatchObject([{ kind: 'kdump', voidedBecause: 'it was waited for anew, and nothing was proven' }]);
  });
});
