import { describe, expect, it } from 'vitest';
import { lateEffectMs } from './advance.ts';
import { LIMITS } from './node-fence.ts';
import type { JournalEntry, NodeFenceStatus, Outcome } from './node-fence.ts';
import { closed, failed, historyOf, leftOff } from './rows/closing.ts';
import { at } from './testing/flaps.ts';
import { method, planOf } from './testing/model.ts';
import type { Context } from './transition.ts';

const SETTLE_MS = 12_000;
const SLOW_MS = 90_000;

function context(): Context {
  const model = at('done, waiting');
  return { status: model.status, plan: model.plan, snapshot: model.snapshot() } as unknown as Context;
}

function leftEdges(count: number): NonNullable<NonNullable<NodeFenceStatus['restore']>['edges']> {
  return Array.from({ length: count }, (_edge, index) => ({
    ...{ method: `off-${index}`, agent: 'pdu', device: 'rack-1.example.org', plug: String(index) },
    state: 'off' as const,
  }));
}

describe('the end of a fence', () => {
  it.each<[Outcome, string]>([
    ['recovered', 'Normal'],
    ['untouched', 'Normal'],
    ['replaced', 'Normal'],
    ['fenced-off', 'Normal'],
    ['node-gone', 'Warning'],
    ['failed', 'Warning'],
  ])('in %s is told as %s', (outcome, type) => {
    expect(closed(context(), outcome, 'so').events?.map((event) => event.type)).toEqual([type]);
  });

  it('that failed is looked at again at once, for a restart may be due', () => {
    const { status, ...rest } = context();
    expect(failed({ status, ...rest }, status, 'no')).toMatchObject({ requeueAtMs: rest.snapshot.nowMs, status: { state: 'error' } });
  });

  it('that failed says what is left off, however long a device has answered, and fits the schema however much is left', () => {
    const { status, ...rest } = context();
    const left = { ...status, restore: { edges: leftEdges(32) } };
    const message = failed({ status, ...rest }, left, 'no '.repeat(1_000)).status?.message ?? '';
    expect(message).toContain('LeftOff: off-0 (pdu rack-1.example.org 0)');
    expect(message.length).toBeLessThanOrEqual(LIMITS.message);
    expect(leftOff(left).length).toBeLessThanOrEqual(180);
  });

  it('is remembered with its outcome and its time, and one without an outcome as failed', () => {
    const { status } = context();
    const entries = (['recovered', undefined] as const).map((outcome) => {
      const { outcome: _before, ...rest } = status;
      return historyOf({ ...rest, ...(outcome && { outcome }), timeline: { finalAt: 'then' } }).at(-1);
    });
    expect(entries).toMatchObject([
      { outcome: 'recovered', to: 'then' },
      { outcome: 'failed', to: 'then' },
    ]);
  });

  it('is remembered from when it was noticed, or had failed before that was recorded', () => {
    const { status } = context();
    const from = (timeline: NodeFenceStatus['timeline']): string | undefined => historyOf({ ...status, timeline }).at(-1)?.from;
    expect([from({ noticedAt: 'n', failedAt: 'f' }), from({ failedAt: 'f' }), from({})]).toEqual(['n', 'f', '']);
  });
});

describe('how long a late off may come', () => {
  const plan = planOf({
    powerManagement: [
      { level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc', deviceMaxLatencyMs: SLOW_MS }), method('outlet', 'pdu', 'off')] },
    ],
  });
  const off = (result: JournalEntry['result'], more: Partial<JournalEntry> = {}): JournalEntry =>
    ({ method: 'off', agent: 'redfish', device: 'bmc', plug: '1', action: 'off', result, ...more }) as JournalEntry;
  it.each<[string, JournalEntry[], number]>([
    ['settle, where it was seen to act', [off('succeeded')], SETTLE_MS],
    ['its device, where nobody saw what came of it', [off('timeout')], SLOW_MS],
    ['its device, where the machine was off before', [off('succeeded', { edgeUnseen: true })], SLOW_MS],
    ['its device, where it was sent twice', [off('succeeded'), off('succeeded')], SLOW_MS],
    ['settle, where the other one was never sent', [off('not-sent'), off('succeeded')], SETTLE_MS],
    ['settle, where a stop came before the other one', [off('stopped'), off('succeeded')], SETTLE_MS],
    ['settle, where the other one was of another plug', [off('succeeded'), off('succeeded', { plug: '2' })], SETTLE_MS],
    ['settle, where the other one was of another device', [off('succeeded'), off('succeeded', { device: 'other' })], SETTLE_MS],
    ['settle, where what failed was no off', [off('succeeded'), off('timeout', { action: 'on' })], SETTLE_MS],
    ['that of the device that was told, not of another', [off('timeout', { method: 'outlet', device: 'bmc-outlet' })], 30_000],
    ['settle, where nothing was sent', [off('not-sent'), off('stopped')], SETTLE_MS],
  ])('is %s', (_how, journal, forMs) => {
    expect(lateEffectMs({ plan }, { ...context().status, journal })).toBe(forMs);
  });
});
