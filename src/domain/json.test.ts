import { expect, it } from 'vitest';
import { jsonIn } from './json.ts';

it.each<[text: string, value: unknown]>([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['', undefined],
  ['{', undefined],
  ['{"a":1} more', undefined],
])('%j is read as %j', (text, value) => {
  expect(jsonIn(text)).toEqual(value);
});
