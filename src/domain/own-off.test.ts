import { describe, expect, it } from 'vitest';
import { offWasSent } from './journal.ts';
import type { JournalEntry } from './node-fence.ts';
import { method, Model, planOf } from './testing/model.ts';

const OUTLETS = planOf({
  release: 'none',
  powerManagement: [{ level: 1, methods: ['1', '2'].map((plug) => method(`outlet-${plug}`, 'exec/fence_netio', 'reboot', { device: 'pdu', plug })) }],
});

function failed(plan = OUTLETS): Model {
  const model = new Model(plan);
  model.fail();
  expect(model.next()).toBe('run:cordon');
  return model;
}

const methodOf = ({ method: name, agent, device, plug }: JournalEntry) => method(name, agent, 'off', { device, plug });

/** What the run that is next may rest on. */
function nextOf(model: Model): { wasSent: boolean; entry: JournalEntry } {
  model.runUntil(() => model.inFlight.size > 0);
  const entry = model.dispatched.at(-1)?.entry;
  if (entry === undefined) throw new Error('nothing was dispatched');
  return { wasSent: offWasSent(model.status, entry.id, methodOf(entry)), entry };
}

describe('an off that this fence has sent before', () => {
  it('is known by the report of its run alone: neither the first run nor one that was refused, or perhaps sent nothing, is followed by one that rests on it', () => {
    for (const result of ['unreachable', 'timeout', 'interrupted'] as const) {
      const model = failed();
      expect(nextOf(model)).toMatchObject({ wasSent: false, entry: { operation: 'off:outlet-1' } });
      model.finish(result);
      expect(nextOf(model)).toMatchObject({ wasSent: false, entry: { operation: 'off:outlet-1', attempt: 2 } });
    }
  });

  it('holds for the next run of the same plug, also in another restart and after a take-over, and for no other plug', () => {
    const model = failed();
    model.next('timeout', { offSent: true });
    expect(nextOf(model)).toMatchObject({ wasSent: true, entry: { operation: 'off:outlet-1' } });
    model.finish('succeeded');
    expect(nextOf(model)).toMatchObject({ wasSent: false, entry: { operation: 'off:outlet-2' } });
    model.finish('refused');
    model.step();
    model.takeOver();
    let next = nextOf(model);
    for (const ran: string[] = []; next.entry.action !== 'off'; next = nextOf(model)) {
      ran.push(next.entry.operation);
      expect(ran.length).toBeLessThan(9);
      model.finish('succeeded');
    }
    expect(next).toMatchObject({ wasSent: true, entry: { operation: 'off:outlet-1', restart: 1 } });
  });

  it.each([
    ['an on was begun', { action: 'on', operation: 'on:outlet-1', result: 'timeout' }],
    ['it was read on again', { action: 'confirm', operation: 'off:outlet-1', result: 'found-not-done' }],
  ] as const)('is over once %s', (_what, later) => {
    const model = failed();
    model.next('succeeded', { offSent: true });
    model.step();
    const { status } = model;
    const off = status.journal.find(({ action }) => action === 'off');
    if (off === undefined) throw new Error('no off');
    const now: JournalEntry = { ...off, id: 'now' };
    expect(offWasSent({ ...status, journal: [...status.journal, now] }, now.id, methodOf(now))).toBe(true);
    expect(offWasSent({ ...status, journal: [...status.journal, { ...off, id: 'later', ...later }, now] }, now.id, methodOf(now))).toBe(false);
    expect(offWasSent({ ...status, journal: [...status.journal, { ...off, id: 'later', plug: '2', ...later }, now] }, now.id, methodOf(now))).toBe(
      true,
    );
  });
});
