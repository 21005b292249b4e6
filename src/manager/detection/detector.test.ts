import { describe, expect, it } from 'vitest';
import type { Logger } from '../../ports/recorder.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Detector, SOON_MS } from './detector.ts';

const START_MS = 1_000_000;

/** A detector, when it looked, and what it told; it fails with these words, look after look, or finds something. */
function detecting(answer: (look: number) => Error | undefined, restMs = 600_000) {
  const clock = new ManualClock({ monotonicMs: START_MS });
  const looks: number[] = [];
  const warned: unknown[] = [];
  const quiet = (): void => undefined;
  const log: Logger = { debug: quiet, info: quiet, error: quiet, warn: (_message, fields) => void warned.push(fields?.['error']) };
  const read = async (): Promise<void> => {
    looks.push((clock.monotonicMs() - START_MS) / 1_000);
    const error = answer(looks.length);
    await Promise.resolve();
    if (error !== undefined) throw error;
  };
  const detector = new Detector<void>({ clock, log, question: 'who is it', read, judge: () => restMs });
  detector.start();
  return { clock, looks, warned, close: async () => detector.close() };
}

describe('a detection that fails', () => {
  it('is tried again later and later, a minute apart at most, and soon again after one that told something', async () => {
    const { clock, looks, close } = detecting((look) => (look === 7 ? undefined : new Error('refused')), 1_200_000);
    await clock.advance(155_000);
    expect(looks).toEqual([0, 5, 15, 35, 75, 135]);
    await clock.advance(40_000);
    await clock.advance(1_200_000 + 15_000);
    expect(looks.slice(6)).toEqual([195, 1_395, 1_400, 1_410]);
    await close();
  });

  it('is never looked at later than it would have been without the failure, so that another controller is seen before it does much', async () => {
    const { clock, looks, close } = detecting((look) => (look === 1 ? undefined : new Error('refused')), SOON_MS);
    await clock.advance(45_000);
    expect(looks).toEqual([0, 10, 15, 25, 35, 45]);
    await close();
  });

  it('is told once while its words are the same, and again when it fails anew', async () => {
    const { clock, warned, close } = detecting((look) => (look === 4 ? undefined : new Error('refused')), 60_000);
    await clock.advance(34_000);
    expect(warned).toEqual(['refused']);
    await clock.advance(600_000);
    expect(warned).toEqual(['refused', 'refused']);
    await close();
  });

  it('whose words are others each time is told once in five minutes', async () => {
    const { clock, warned, close } = detecting((look) => new Error(`refused on port ${look}`));
    await clock.advance(295_000);
    expect(warned).toEqual(['refused on port 1']);
    await clock.advance(600_000);
    expect(warned).toHaveLength(3);
    await close();
  });
});
