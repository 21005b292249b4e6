import { describe, expect, it } from 'vitest';
import type { NodeFacts } from './configuration.ts';
import { MachineIndex } from './machine-index.ts';

function machine(name: string, systemUUID: string, host = name): NodeFacts {
  return { name, systemUUID, providerID: `cloud:///zone/${name}-1`, labels: {}, annotations: {}, addresses: [{ type: 'Hostname', address: host }] };
}

describe('which node a machine is', () => {
  it('is known by name, host name, instance and UUID, however they are written', () => {
    const index = new MachineIndex([machine('a', 'UUID-A', 'Host-A'), machine('b', 'uuid-b')]);
    expect(['a', 'HOST-a', 'cloud:///zone/a-1', ' a-1 ', 'uuid-a', 'c'].map((name) => index.nodeOf(name))).toEqual([
      'a',
      'a',
      'a',
      'a',
      'a',
      undefined,
    ]);
  });

  it('is nobody while two claim it, and the other one when one of them stops', () => {
    const [a, b] = [machine('a', 'same'), machine('b', 'same')];
    const index = new MachineIndex([a, b]);
    expect(index.nodeOf('same')).toBeUndefined();
    index.replace(a, machine('a', 'other'));
    expect([index.nodeOf('same'), index.nodeOf('other')]).toEqual(['b', 'a']);
  });

  it('stays nobody while two of three are left, and nobody when all are gone', () => {
    const [a, b, c] = [machine('a', 'same'), machine('b', 'same'), machine('c', 'same')];
    const index = new MachineIndex([a, b, c]);
    index.replace(b, undefined);
    expect(index.nodeOf('same')).toBeUndefined();
    index.replace(a, undefined);
    expect(index.nodeOf('same')).toBe('c');
    index.replace(c, undefined);
    expect([index.nodeOf('same'), index.nodeOf('c')]).toEqual([undefined, undefined]);
  });

  it('goes with its names: what a changed node is called no more is nobody', () => {
    const before = machine('a', 'uuid-a', 'old-host');
    const index = new MachineIndex([before]);
    index.replace(before, machine('a', 'uuid-a', 'new-host'));
    expect(['old-host', 'new-host', 'uuid-a'].map((name) => index.nodeOf(name))).toEqual([undefined, 'a', 'a']);
  });

  it('ends as one that is made anew, whatever changed on the way', () => {
    const index = new MachineIndex([]);
    const now = new Map<string, NodeFacts>();
    for (let turn = 0; turn < 500; turn += 1) {
      const name = `n${String(turn % 7)}`;
      const after = turn % 5 === 0 ? undefined : machine(name, `uuid-${String(turn % 3)}`, `host-${String(turn % 4)}`);
      index.replace(now.get(name), after);
      if (after === undefined) now.delete(name);
      else now.set(name, after);
      const anew = new MachineIndex(now.values());
      for (const asked of ['n0', 'n1', 'n6', 'uuid-0', 'uuid-1', 'uuid-2', 'host-0', 'host-1', 'host-2', 'host-3']) {
        expect(index.nodeOf(asked)).toBe(anew.nodeOf(asked));
      }
    }
  });
});
