import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decoded } from './decode.ts';
import { Manifests } from './manifests.ts';

const read = (text: string, path = 'a.yaml'): Manifests => new Manifests([{ path, text }], 'ns');

describe('manifests', () => {
  it('are taken out of documents, Lists and bare lists; the rest is named and left out', () => {
    const found = read(`
kind: List
items:
- {kind: ConfigMap, metadata: {name: a, labels: {x: y}}, data: {k: v}}
- {kind: Node, metadata: {name: n}, status: {nodeInfo: {systemUUID: u}}}
---
- {kind: ConfigMap, metadata: {name: b, namespace: default}}
---
kind: ConfigMapList
items: [{kind: ConfigMap, metadata: {name: c}}]
---
kind: Pod
---
`);
    expect(found.problems).toMatchObject([
      {
        file: 'a.yaml',
        message: 'ConfigMap b is of namespace default, and only ns is read: mend metadata.namespace, or name that one by --fence-namespace',
      },
    ]);
    expect(found.configMaps).toEqual([
      { metadata: { name: 'a', labels: { x: 'y' } }, data: { k: 'v' } },
      { metadata: { name: 'b' }, data: {} },
      { metadata: { name: 'c' }, data: {} },
    ]);
    expect(found.nodes[0]).toMatchObject({ metadata: { name: 'n' }, spec: {}, status: { nodeInfo: { systemUUID: 'u' } } });
    expect(found.notes).toEqual(['a.yaml: a Pod is left out; ConfigMaps, Secrets and Nodes are read']);
  });

  it('know the line of the file for a line of a text', () => {
    const found = read(`# top
kind: ConfigMap
metadata: {name: a}
data:
  block: |-
    one
    two
  quoted: "one\\ntwo"
  folded: >-
    one

    two
`);
    const lineOf = (where: string): number | undefined => found.locate(where)?.line;
    expect(lineOf('ConfigMap a')).toBe(2);
    expect(lineOf('ConfigMap a, key block, line 2')).toBe(7);
    expect(lineOf('ConfigMap a, key quoted, line 2')).toBe(8);
    expect(lineOf('ConfigMap a, key folded, line 2')).toBe(10);
    expect(lineOf('ConfigMap a, key gone, line 2')).toBe(2);
    expect(lineOf('ConfigMap b, key block')).toBeUndefined();
  });

  it('of Secrets hold base64, or text under stringData, which wins', () => {
    const found = read('{kind: Secret, metadata: {name: s}, data: {a: YQ==, b: YQ==}, stringData: {b: text}}');
    expect(found.secrets.map(decoded)).toEqual([{ a: 'a', b: 'text' }]);
  });

  it.each([
    ['broken YAML', 'kind: [', 1, /is not YAML/],
    ['a key twice', 'kind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: a\n  x: b', 5, /is not YAML: .*unique/],
    ['an alias that is a password', 'kind: Secret\nmetadata: {name: s}\nstringData: {password: *hunter2}', 1, /quote values that begin with \*/],
    ['an object without a name', 'kind: ConfigMap', 1, /has no metadata.name/],
    ['a number without quotes', 'kind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: 1', 4, /ConfigMap a, key x is not a text: quote it/],
    ['plain text under data', 'kind: Secret\nmetadata: {name: s}\ndata:\n  password: change-me', 4, /Secret s, key password is not base64/],
    [
      'one name twice',
      'kind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\nmetadata: {name: a}',
      4,
      /ConfigMap a is already in a.yaml, line 1/,
    ],
  ])('%s is told with its line, and no value', (_what, text, line, message) => {
    const { problems } = read(text);
    expect(problems[0]).toMatchObject({ file: 'a.yaml', line, message: expect.stringMatching(message) as string });
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  it('of a list that holds itself, or others again and again, are read once', () => {
    const itself = read('&a\n- {kind: Node, metadata: {name: n}}\n- *a\n- {kind: List, items: [*a]}');
    const again = 'a.yaml: the list of line 2 is named again by an alias, and read once';
    expect([itself.nodes.length, itself.problems, itself.notes]).toEqual([1, [], [again, again]]);
    const levels = Array.from({ length: 30 }, (_, level) => `- &l${level} [${level === 0 ? 'x' : [1, 2].map(() => `*l${level - 1}`).join()}]`);
    expect(read(levels.join('\n')).notes.length).toBeLessThan(100);
  });

  it('of any text are read without throwing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => read(text)).not.toThrow();
      }),
    );
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(() => read(text, 'a.json')).not.toThrow();
      }),
    );
  });
});
