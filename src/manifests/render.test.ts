import { assert, constantFrom, dictionary, oneof, property, string, stringMatching } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { renderObjects } from './render.ts';

/** What a YAML 1.1 reader takes for a boolean, a number, a time, null, a merge or a default value, and near misses of it. */
const AMBIGUOUS = [
  ...['on', 'On', 'ON', 'off', 'yes', 'Yes', 'no', 'NO', 'y', 'Y', 'n', 'N', 'true', 'True', 'FALSE'],
  ...['null', 'Null', 'NULL', '~', '', '<<', '=', '-', '- a', '? a', ': a', 'a: b', 'a #b', '#', '@a', '`a', '%a', '!a', '&a', '*a', '|', '>'],
  ...['017', '08', '0o17', '0x1F', '+0x1F', '0b11', '1_000', '-1_0', '1:30', '190:20:30.15', '1e3', '1.', '.5', '.inf', '-.INF', '.nan', '6.02_2'],
  ...['2001-12-14', '2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43.10 -5', 'a\nb', ' a', 'a ', '\ta', '"a"', "'a'", '{a}', '[a]', '---', '...'],
];
/** Numbers for kubectl's reader (Go's `ParseInt` with any base, underscores taken out) and for no version of YAML. */
const GO_NUMBERS = ['0O17', '0X1F', '0B11', '-0o17', '-0X1F', '0o1_7', '1e3_0', '+0b1'];

const texts = oneof(constantFrom(...AMBIGUOUS, ...GO_NUMBERS), string(), stringMatching(/^[-+.0-9xob_:eT]{1,8}$/));

function read(text: string, version: '1.1' | '1.2'): unknown[] {
  return parseAllDocuments(text, { version }).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as unknown;
  });
}

describe('what is rendered as YAML', () => {
  it.each(['1.1', '1.2'] as const)('is the same object for a reader of YAML %s, whatever its strings and keys are', (version) => {
    assert(
      property(dictionary(texts, oneof(texts, dictionary(texts, texts)), { noNullPrototype: true }), (object) => {
        const objects = [object, { list: Object.keys(object) }];
        expect(read(renderObjects(objects), version)).toEqual(objects);
      }),
      { numRuns: 500 },
    );
  });

  it.each([...AMBIGUOUS, ...GO_NUMBERS])('keeps the string %j as value and as key in both', (text) => {
    const object = { value: text, list: [text], keys: { [text]: 1 } };
    expect(read(renderObjects([object]), '1.1')).toEqual([object]);
    expect(read(renderObjects([object]), '1.2')).toEqual([object]);
  });

  it.each([...GO_NUMBERS, '='])('quotes %s, which readers that know no version of YAML take for something else', (text) => {
    expect(renderObjects([{ value: text }])).toBe(`value: "${text}"\n`);
  });

  it.each(['10m', '1Gi', 'v1', 'x86', 'apps/v1', 'once', 'nobody'])('leaves %s plain, which nobody takes for anything else', (text) => {
    expect(renderObjects([{ value: text }])).toBe(`value: ${text}\n`);
  });
});
