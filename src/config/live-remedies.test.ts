import { describe, expect, it } from 'vitest';
import type { Lister } from '../ports/cluster.ts';
import type { ConfigMap, KubeObject, Node } from '../ports/objects.ts';
import { LiveRemedies } from './live-remedies.ts';
import type { RemedyText } from './remedies.ts';

const TEXT = `
apiVersion: node-remedy/v1alpha
kind: Configuration
nodeSelector: type=compute
thresholdConfigs: [{nodeConditionType: X, nodeConditionStatus: true, nodeConditionPeriod: 1m, remedy1: {name: drain}}]
`;
const BAD = TEXT.replace('1m', 'often');

class Watched<T extends KubeObject> {
  readonly items = new Map<string, T>();
  #listener: (before: T | undefined, after: T | undefined) => void = () => undefined;
  readonly lister = {
    all: () => this.items.values(),
    onChange: (listener: (before: T | undefined, after: T | undefined) => void) => {
      this.#listener = listener;
      return () => undefined;
    },
  } as unknown as Lister<T>;

  put(item: T): void {
    const before = this.items.get(item.metadata.name);
    this.items.set(item.metadata.name, item);
    this.#listener(before, item);
  }
}

function world(files?: () => readonly RemedyText[]) {
  const configMaps = new Watched<ConfigMap>();
  const nodes = new Watched<Node>();
  const remedies = new LiveRemedies({ configMaps: configMaps.lister, nodes: nodes.lister, clock: { monotonicMs: () => 0 }, files });
  let changes = 0;
  remedies.onChange(() => (changes += 1));
  const node = (labels: Record<string, string>): Node => ({ metadata: { name: 'a', labels }, spec: {}, status: {} });
  const idsOf = (labels: Record<string, string>): string[] => remedies.remediesOf(node(labels)).thresholds.map(({ id }) => id);
  const configure = (text: string): void => configMaps.put({ metadata: { name: 'fence-remedies' }, data: { 'a.yaml': text } });
  return { remedies, configMaps, configure, idsOf, node, changes: () => changes };
}

describe('remedies as they are configured now', () => {
  it('follow the ConfigMaps of remedies, and the labels of nodes', () => {
    const { idsOf, configure, configMaps, changes } = world();
    expect(idsOf({ type: 'compute' })).toEqual([]);
    configure(TEXT);
    expect([idsOf({ type: 'compute' }), idsOf({ type: 'storage' }), idsOf({ type: 'compute' })]).toEqual([['X=True'], [], ['X=True']]);
    configMaps.put({ metadata: { name: 'fence-config-a' }, data: {} });
    expect(changes()).toBe(1);
  });

  it('with an error are not used, are told, and make what is missing unsure', () => {
    const { remedies, configure, node } = world();
    configure(BAD);
    expect(remedies.remediesOf(node({ type: 'compute' }))).toMatchObject({ thresholds: [], isIncomplete: true });
    expect(remedies.problems()).toEqual([expect.stringContaining('ConfigMap fence-remedies, key a.yaml, line 5')]);
    configure(TEXT);
    expect(remedies.remediesOf(node({ type: 'compute' })).isIncomplete).toBeUndefined();
  });

  it('of files are asked for now and then; what cannot be read stays as it was', () => {
    const file = (text: string): RemedyText[] => [{ name: 'f.yaml', text, where: (line) => `f.yaml, line ${line}` }];
    let read: () => readonly RemedyText[] = () => file(TEXT);
    const { remedies, idsOf, changes } = world(() => read());
    expect(idsOf({ type: 'compute' })).toEqual(['X=True']);
    read = () => {
      throw new Error('EIO');
    };
    remedies.lookAtFiles();
    expect([idsOf({ type: 'compute' }), remedies.problems()]).toEqual([['X=True'], ['files of remedies: EIO']]);
    read = () => file(TEXT.replaceAll('type: X', 'type: Y').replace('nodeConditionType: X', 'nodeConditionType: Y'));
    remedies.lookAtFiles();
    expect([idsOf({ type: 'compute' }), remedies.problems(), changes() > 0]).toEqual([['Y=True'], [], true]);
  });
});
