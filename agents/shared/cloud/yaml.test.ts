import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { yamlIn, yamlValue } from './yaml.ts';

const SECRET = 'hunter2';
const warnings: string[] = [];
const hear = (warning: Error): void => void warnings.push(String(warning));

beforeEach(() => void process.on('warning', hear));
afterEach(() => {
  process.off('warning', hear);
  warnings.length = 0;
});

describe('a file of credentials in YAML', () => {
  it('is not quoted where its parser would warn of a line, which may hold a password', async () => {
    expect(yamlIn(`a: 1\npassword: !${SECRET} ${SECRET}\n`)).toEqual({ value: { a: 1, password: SECRET } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  it.each([
    [`a: [1\npassword: ${SECRET}`, 2],
    ['a: &x 1\nb: *x', 0],
    ['a: *nobody', 0],
  ])('that is none is told by its line alone: %j', (text, line) => {
    expect(yamlIn(text)).toEqual({ badLine: line });
    expect(yamlValue(text)).toBeUndefined();
  });

  it('may refer to itself as often as it is allowed to', () => {
    expect(yamlIn('a: &x 1\nb: *x', 100)).toEqual({ value: { a: 1, b: 1 } });
  });
});
