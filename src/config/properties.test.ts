import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalKey, parseBoolean, parseDuration, parseList, parseProperties } from './properties.ts';

interface Vector {
  in: string;
  want?: Record<string, string>;
  want_list?: string[];
  want_alias?: Record<string, string>;
  warn?: string;
}

// fixtures/properties-vectors.json: inputs of rootfs/node-fencing's users, what it did (by reading its code) and what is wanted; see its note.
const { vectors } = JSON.parse(readFileSync(new URL('fixtures/properties-vectors.json', import.meta.url), 'utf8')) as { vectors: Vector[] };

function parsed(text: string): Record<string, string> {
  return Object.fromEntries(parseProperties(text).entries.map(({ key, value }) => [key, value]));
}

describe('the properties dialect', () => {
  it.each(vectors.map((vector) => ({ ...vector, named: JSON.stringify(vector.in) })))('reads $named as wanted', (vector) => {
    const entries = parsed(vector.in);
    expect(vector.want_list === undefined ? entries : parseList(Object.values(entries)[0] ?? '')).toEqual(
      vector.want ?? vector.want_alias ?? vector.want_list,
    );
    const messages = parseProperties(vector.in).problems.map((problem) => problem.message);
    expect(messages).toEqual(vector.warn === undefined ? [] : [expect.stringContaining(vector.warn)]);
  });

  it('knows the line of every entry and of every fault', () => {
    const { entries, problems } = parseProperties('# fencing\n\nplug=2\nnonsense\r\n=1\naction=off');
    expect(entries).toEqual([
      { key: 'plug', value: '2', line: 3 },
      { key: 'action', value: 'off', line: 6 },
    ]);
    expect(problems.map(({ severity, line }) => [severity, line])).toEqual([
      ['error', 4],
      ['error', 5],
    ]);
  });

  it.each([
    ['power_managment', 'power_management'],
    ['power_managment.2', 'power_management.2'],
    ['power-management.3', 'power_management.3'],
    ['power_management_delay', 'power_management_delay'],
    ['power-timeout', 'power_timeout'],
    ['healthy-delay', 'healthy_delay'],
    ['grace-timeout', 'isolation_delay'],
    ['giveup_retries', 'step_retries'],
    ['grace_timeout', 'isolation_delay'],
  ])('calls %s %s', (written, canonical) => {
    expect(canonicalKey(written)).toBe(canonical);
  });

  it('never throws and keeps every value that has no comment in it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseProperties(text).entries.filter(({ key, line }) => key === '' || line < 1)).toEqual([]);
      }),
    );
    const word = fc.stringMatching(/^[A-Za-z0-9=/+:._-]{1,20}$/);
    fc.assert(
      fc.property(word, (value) => {
        expect(parsed(`password=${value}`)['password']).toBe(value);
      }),
    );
  });
});

describe('values', () => {
  it.each([
    ['5s', 5000],
    ['3m', 180_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['90', 90_000],
    ['0', 0],
    ['0.5s', 500],
    ['24h', 86_400_000],
    ['-1', undefined],
    ['5 s', undefined],
    ['soon', undefined],
    ['5s?', undefined],
    ['', undefined],
  ])('reads the duration %s as %s ms', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each([
    ['YES', true],
    ['on', true],
    ['1', true],
    ['0', false],
    ['Off', false],
    ['maybe', undefined],
  ])('reads the boolean %s as %s', (text, expected) => {
    expect(parseBoolean(text)).toBe(expected);
  });
});
