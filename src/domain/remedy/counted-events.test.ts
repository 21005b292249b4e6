import { describe, expect, it } from 'vitest';
import { COUNTED_EVENTS_MAX, countEvent } from './counted-events.ts';
import type { CountedEvent, SeenEvent } from './counted-events.ts';

const EVENT: SeenEvent = { uid: 'e', count: 1, firstMs: 1_000, lastMs: 1_000 };

describe('an Event', () => {
  it.each<[string, CountedEvent[], Partial<SeenEvent>, number[]]>([
    ['is one problem', [], {}, [1_000]],
    ['that was counted is none', [{ uid: 'e', count: 1, lastMs: 1_000 }], {}, []],
    ['that was written again is one more, when it was written last', [{ uid: 'e', count: 1, lastMs: 1_000 }], { count: 2, lastMs: 5_000 }, [5_000]],
    ['that was written more often than was seen: evenly', [{ uid: 'e', count: 1, lastMs: 1_000 }], { count: 3, lastMs: 5_000 }, [3_000, 5_000]],
    ['that was never seen: from its first to its last', [], { count: 3, lastMs: 5_000 }, [1_000, 3_000, 5_000]],
    ['whose count fell is not counted again', [{ uid: 'e', count: 9, lastMs: 1_000 }], { count: 2, lastMs: 5_000 }, []],
    ['of another uid is another one', [{ uid: 'f', count: 1, lastMs: 1_000 }], {}, [1_000]],
  ])('%s', (_what, known, event, timesMs) => {
    expect(countEvent(known, { ...EVENT, ...event }).timesMs).toEqual(timesMs);
  });

  it('is known from then on, also to the next leader', () => {
    const { counted } = countEvent([], { ...EVENT, count: 7 });
    expect(countEvent(JSON.parse(JSON.stringify(counted)) as CountedEvent[], { ...EVENT, count: 7 })).toMatchObject({ fresh: 0, timesMs: [] });
  });

  it('that fell out of a full list is not counted anew, but for what came since', () => {
    let known: readonly CountedEvent[] = [];
    for (let index = 0; index <= COUNTED_EVENTS_MAX; index += 1)
      known = countEvent(known, { uid: `e-${index}`, count: 1, firstMs: 1_000 + index, lastMs: 1_000 + index }).counted;
    expect(known).toHaveLength(COUNTED_EVENTS_MAX);
    expect(known.some(({ uid }) => uid === 'e-0')).toBe(false);
    expect(countEvent(known, { uid: 'e-0', count: 1, firstMs: 1_000, lastMs: 1_000 })).toMatchObject({ timesMs: [], fresh: 0 });
    expect(countEvent(known, { uid: 'e-0', count: 2, firstMs: 1_000, lastMs: 9_000 })).toMatchObject({ timesMs: [9_000], fresh: 1 });
  });

  it('of a thousand is a hundred times, and a thousand in the metric', () => {
    const { timesMs, fresh } = countEvent([], { ...EVENT, count: 1_000, lastMs: 1_000_000 });
    expect([timesMs.length, timesMs.at(-1), fresh]).toEqual([100, 1_000_000, 1_000]);
  });
});
