import { Command, Option } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withSwitchVariables } from './switch-variables.ts';

afterEach(() => vi.unstubAllEnvs());

/** What the command is called with; `value`: of the variable of its switch. */
function calledWith(value: string | undefined, words: readonly string[] = []): unknown {
  vi.stubEnv('NODEFENCE_TRIED', value);
  let called: unknown;
  const command = withSwitchVariables(new Command('tried'))
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .addOption(new Option('--self-fence', 'a switch').env('NODEFENCE_TRIED').default(false))
    .action(({ selfFence }: { selfFence: boolean }) => {
      called = selfFence;
    });
  command.parse([...words], { from: 'user' });
  return called;
}

describe('a switch that a variable sets', () => {
  it.each([
    ['false', false],
    ['no', false],
    ['0', false],
    ['Off', false],
    ['true', true],
    ['yes', true],
    ['1', true],
    [' on ', true],
    [undefined, false],
  ])('is what the variable says: %j', (value, isOn) => {
    expect(calledWith(value)).toBe(isOn);
  });

  it.each([[''], ['maybe']])('of %j is wrong usage, and nothing is done', (value) => {
    expect(() => calledWith(value)).toThrow("option '--self-fence'");
  });

  it('is on by its flag, whatever the variable says', () => {
    expect([calledWith('false', ['--self-fence']), calledWith('maybe', ['--self-fence'])]).toEqual([true, true]);
  });
});
