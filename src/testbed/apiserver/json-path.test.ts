import { describe, expect, it } from 'vitest';
import { compileJsonPath } from './json-path.ts';

const OBJECT = {
  metadata: { labels: { 'a.b/c': 'x' } },
  spec: {
    list: [
      { name: 'one', n: 1 },
      { name: 'two', n: 2 },
    ],
    text: 'hello',
  },
};

describe('JSONPath of printer columns', () => {
  it.each([
    ['.spec.text', ['hello']],
    ['{.spec.text}', ['hello']],
    ['$.spec.text', ['hello']],
    ['.spec.list[1].name', ['two']],
    ['.spec.list[-1].name', ['two']],
    ['.spec.list[*].name', ['one', 'two']],
    ['.spec.list[?(@.name=="one")].n', [1]],
    ['.spec.list[?(@.n>1)].name', ['two']],
    ['.spec.list[?(@.n<=1)].name', ['one']],
    ["['spec'].text", ['hello']],
    ['.metadata.labels.a\\.b/c', ['x']],
    ["['metadata']['labels']['a.b/c']", ['x']],
    ['.spec.absent.deeper', []],
  ])('%s finds %j', (path, values) => {
    expect(compileJsonPath(path)(OBJECT)).toEqual(values);
  });

  it('refuses what it cannot read', () => {
    expect(() => compileJsonPath('.a[')).toThrow('cannot read "["');
  });
});
