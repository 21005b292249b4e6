import { describe, expect, it } from 'vitest';
import { HeapRoom } from './heap-room.ts';
import { ManualClock } from './manual-clock.ts';

function begun(): { clock: ManualClock; done: string[]; collect: (times: number, everyMs: number) => Promise<void> } {
  const clock = new ManualClock();
  const done: string[] = [];
  const room = new HeapRoom(clock, { settle: () => void done.push('settle'), widen: () => void done.push('widen') });
  const collect = async (times: number, everyMs: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await clock.advance(everyMs);
      room.collected();
    }
  };
  return { clock, done, collect };
}

describe('the room of a heap', () => {
  it('is small from the start, and stays so while V8 collects now and then', async () => {
    const { clock, done, collect } = begun();
    await collect(20, 3_500);
    expect(done).toEqual(['settle']);
    expect(clock.pending).toBe(0);
  });

  it('stays small where V8 collects an idle heap twice, one right after the other', async () => {
    const { done, collect } = begun();
    for (let minute = 0; minute < 10; minute += 1) {
      await collect(1, 60_000);
      await collect(1, 500);
    }
    expect(done).toEqual(['settle']);
  });

  it('is wide from the fourth collection within ten seconds, and small again a minute after the last', async () => {
    const { clock, done, collect } = begun();
    await collect(3, 1_300);
    expect(done).toEqual(['settle']);
    await collect(1, 1_300);
    expect(done).toEqual(['settle', 'widen']);
    await collect(10, 30_000);
    expect(done).toEqual(['settle', 'widen']);
    await clock.advance(59_999);
    expect(done).toEqual(['settle', 'widen']);
    await clock.advance(1);
    expect(done).toEqual(['settle', 'widen', 'settle']);
    expect(clock.pending).toBe(0);
  });

  it('is wide again when the next storm comes', async () => {
    const { clock, done, collect } = begun();
    await collect(4, 1_300);
    await clock.advance(60_000);
    await collect(4, 1_300);
    expect(done).toEqual(['settle', 'widen', 'settle', 'widen']);
  });
});
