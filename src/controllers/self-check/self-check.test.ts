import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import type { Fault } from './questions.ts';
import { SelfCheck } from './self-check.ts';

const quiet = (): void => undefined;
const FAULT: Fault = { part: 'rights', message: 'it may not', remedy: 'apply' };

class Harness {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  readonly told: (string | undefined)[] = [];
  readonly measured: string[] = [];
  /** By question. */
  readonly answers: Record<string, Fault[] | Error> = { one: [], two: [] };
  readonly check: SelfCheck;

  constructor(isDemanded = true) {
    this.check = new SelfCheck({
      clock: this.clock,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      metrics: { selfChecked: (result) => void this.measured.push(result) },
      questions: ['one', 'two'].map((name) => ({ name, ask: () => this.#answer(name) })),
      isDemanded,
      onResult: (words) => void this.told.push(words),
    });
  }

  #answer(name: string): Promise<Fault[]> {
    this.asked.push(name);
    const answer = this.answers[name] ?? [];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }
}

describe('a process that checks itself', () => {
  it('may lead as soon as everything is answered and nothing is wrong', async () => {
    const harness = new Harness();
    expect(harness.check.mayLead()).toBe(false);
    harness.check.start();
    await harness.clock.advance(0);
    expect(harness.check.mayLead()).toBe(true);
    expect(harness.told).toEqual([undefined]);
    expect(harness.measured).toEqual(['passed']);
  });

  it('does not lead while something is wrong, says it once, goes on trying and leads when it is mended', async () => {
    const harness = new Harness();
    harness.answers['two'] = [FAULT];
    harness.check.start();
    await harness.clock.advance(25_000);
    expect(harness.check.mayLead()).toBe(false);
    expect(harness.told).toEqual(['this process does not begin to lead: it may not (mend it: apply)']);
    harness.answers['two'] = [];
    await harness.clock.advance(10_000);
    expect(harness.check.mayLead()).toBe(true);
    expect(harness.told.at(-1)).toBeUndefined();
  });

  it('takes no answer neither for a pass nor for a refusal: the open question alone is asked again', async () => {
    const harness = new Harness();
    harness.answers['one'] = [FAULT];
    harness.answers['two'] = new Error('503');
    harness.check.start();
    await harness.clock.advance(100_000);
    expect(harness.check.mayLead()).toBe(false);
    expect(harness.check.result.kind).toBe('unanswered');
    expect(harness.check.message()).toContain('two (503)');
    expect(harness.asked.filter((name) => name === 'one')).toHaveLength(1);
    expect(harness.asked.filter((name) => name === 'two').length).toBeGreaterThan(5);
    harness.answers['two'] = [];
    await harness.clock.advance(15_000);
    expect(harness.check.result.kind).toBe('refused');
  });

  it('keeps what was proven while the server is away, and loses it when the server says otherwise', async () => {
    const harness = new Harness();
    harness.check.start();
    await harness.clock.advance(0);
    harness.answers['two'] = new Error('503');
    await harness.clock.advance(1_200_000);
    expect(harness.check.mayLead()).toBe(true);
    harness.answers['two'] = [FAULT];
    await harness.clock.advance(15_000);
    expect(harness.check.mayLead()).toBe(false);
  });

  it('is asked no more than now and then once it has passed', async () => {
    const harness = new Harness();
    harness.check.start();
    await harness.clock.advance(3_600_000);
    expect(harness.asked.length).toBeLessThan(20);
  });

  it('holds nobody back who observes, and says what would be', async () => {
    const harness = new Harness(false);
    harness.answers['one'] = [FAULT];
    harness.check.start();
    await harness.clock.advance(0);
    expect(harness.check.mayLead()).toBe(true);
    expect(harness.check.message()).toBe('mode enforce would not begin to lead: it may not (mend it: apply)');
  });

  it('asks nothing after its end', async () => {
    const harness = new Harness();
    harness.answers['one'] = [FAULT];
    harness.check.start();
    harness.check.close();
    await harness.clock.advance(60_000);
    expect(harness.asked).toHaveLength(2);
    expect(harness.told).toEqual([]);
  });
});
