import { describe, expect, it } from 'vitest';
import { answerPeople } from './people.ts';

const exitOf = async (words: readonly string[], stdin: string | undefined): Promise<number | undefined> => {
  const [name, ...parameters] = words;
  return (await answerPeople(name, parameters, () => Promise.resolve(stdin)))?.exitCode;
};

describe('nodefence agent without the name of an agent', () => {
  it('is 1 where a status may have been asked for: a fencer would read 2 as off', async () => {
    for (const words of [[], ['nope']]) {
      expect(await exitOf(words, 'action=status')).toBe(1);
      expect(await exitOf(words, undefined)).toBe(1);
    }
    for (const words of [['nope', '-ostatus'], ['-o', 'status'], ['--act=STATUS']]) expect(await exitOf(words, '')).toBe(1);
  });

  it('is 2 where a person typed it, and 0 where help was asked for', async () => {
    for (const words of [[], ['nope'], ['--bogus'], ['nope', '-o', 'off']]) expect(await exitOf(words, '\n')).toBe(2);
    expect(await exitOf(['--help'], '')).toBe(0);
  });

  it('leaves the call of an agent to it', async () => {
    expect(await answerPeople('REDFISH', ['--help'], () => Promise.resolve(''))).toBeUndefined();
    expect(await answerPeople('fc_switch', [], () => Promise.resolve(''))).toBeUndefined();
  });
});
