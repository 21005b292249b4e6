import { describe, expect, it } from 'vitest';
import type { LogFields } from '../ports/recorder.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { RepeatedWarnings } from './repeated-warnings.ts';

const MINUTE_MS = 60_000;

function fixture() {
  const clock = new ManualClock({ wallMs: 0 });
  const lines: string[] = [];
  const say =
    (level: string) =>
    (message: string, { error, untold }: LogFields = {}): void =>
      void lines.push(`${level} ${message}: ${String(error)}${typeof untold === 'number' ? ` (${untold} untold)` : ''}`);
  const warnings = new RepeatedWarnings({ clock, logger: { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') } });
  return { clock, lines, warnings, told: () => lines.filter((line) => line.startsWith('warn')) };
}

describe('what fails again and again', () => {
  it('is told when it begins, and every ten minutes while it stands; each try is told to whoever asks for all', async () => {
    const { clock, lines, warnings, told } = fixture();
    for (let minute = 0; minute < 21; minute += 1) {
      warnings.warn('nodes', 'watch failed', 'forbidden');
      await clock.advance(MINUTE_MS);
    }
    expect([told().length, lines.length]).toEqual([3, 21]);
  });

  it('is told anew in other words, which are no other number, and after it was over', () => {
    const { warnings, told } = fixture();
    for (const error of ['try 1', 'try 2', 'gone', 'try 3', 'gone']) warnings.warn('nodes', 'watch failed', error);
    expect(told()).toEqual(['warn watch failed: try 1', 'warn watch failed: gone']);
    expect([warnings.over('nodes'), warnings.over('nodes'), warnings.over('pods')]).toEqual([true, false, false]);
    warnings.warn('nodes', 'watch failed', 'gone');
    expect(told()).toHaveLength(3);
  });

  it('of very many things at once is counted, and none is forgotten that was not told', async () => {
    const { clock, warnings, told } = fixture();
    for (let node = 0; node < 500; node += 1) warnings.warn(`n${node}`, 'work failed', `nodes n${node} is forbidden`);
    expect(told()).toHaveLength(20);
    await clock.advance(3_000);
    warnings.warn('n400', 'work failed', 'nodes n400 is forbidden');
    expect(told().at(-1)).toBe('warn work failed: nodes n400 is forbidden (480 untold)');
  });

  it('in ever other words keeps no list of all of them', async () => {
    const { clock, warnings, told } = fixture();
    for (let word = 0; word < 40; word += 1) {
      warnings.warn('nodes', 'watch failed', 'x'.repeat(word));
      await clock.advance(MINUTE_MS);
    }
    expect(told()).toHaveLength(40);
  });
});
