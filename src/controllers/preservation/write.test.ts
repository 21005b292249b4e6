import { beforeEach, describe, expect, it } from 'vitest';
import type { Cluster, RemoveOptions } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Conflict } from '../shared/conflict.ts';
import { Writer } from './write.ts';

const MACHINE = { kind: 'Machine', name: 'm', namespace: 'machines', uid: 'uid-m' } as const;
const NODE = { kind: 'Node', name: 'n', uid: 'uid-n' } as const;

describe('what can not be taken back', () => {
  let objects: Map<string, KubeObject>;
  let removed: RemoveOptions[];
  let writes: number;
  let standing: KubeObject[];
  let cluster: Cluster;

  beforeEach(() => {
    objects = new Map();
    [removed, writes, standing] = [[], 0, []];
    const write = (_resource: unknown, object: KubeObject): Promise<never> => {
      writes += 1;
      return Promise.resolve(object as never);
    };
    cluster = {
      get: (resource: { plural: string }, name: string) => Promise.resolve(objects.get(`${resource.plural}/${name}`)),
      list: (resource: { plural: string }) => Promise.resolve(resource.plural === 'machines' ? standing : []),
      create: write,
      remove: (_resource: unknown, _name: string, options: RemoveOptions) => {
        removed.push(options);
        return Promise.resolve(true);
      },
    } as unknown as Cluster;
  });

  function writer(): Writer {
    const machine = { metadata: { name: 'm', namespace: 'machines', uid: 'uid-m', resourceVersion: '7' } };
    const cache = { objectOf: () => machine, machine: () => undefined };
    const side = { cluster, recorder: { event: () => undefined } };
    return new Writer({ clock: new ManualClock(), mode: () => 'own', nodes: side, machines: side, cache } as never);
  }

  it('is done to the Machine as it was when it was decided upon', async () => {
    await writer().perform({ kind: 'delete-machine', target: MACHINE } as never);
    expect(removed).toEqual([{ namespace: 'machines', uid: 'uid-m', resourceVersion: '7' }]);
  });

  it('is not done again to a Machine that is deleted though no watch shows it, but to one that a restore has brought back', async () => {
    const writing = writer();
    const order = { kind: 'delete-machine', target: MACHINE } as never;
    await writing.perform(order);
    await expect(writing.perform(order)).rejects.toBeInstanceOf(Conflict);
    standing = [{ metadata: { name: 'm', uid: 'uid-m', deletionTimestamp: '2027-01-01T00:00:00Z' } }];
    await expect(writing.perform(order)).rejects.toBeInstanceOf(Conflict);
    expect(removed).toHaveLength(1);
    standing = [{ metadata: { name: 'm', uid: 'uid-m' } }];
    await writing.perform(order);
    expect(removed).toHaveLength(2);
  });

  it('is not done to the Node that has come under the name of the one that is to be switched off', async () => {
    objects.set('nodes/n', { metadata: { name: 'n', uid: 'another' } });
    const order = { kind: 'power-off', target: NODE, requestedBy: MACHINE };
    await expect(writer().perform(order as never)).rejects.toBeInstanceOf(Conflict);
    expect(writes).toBe(0);
  });
});
