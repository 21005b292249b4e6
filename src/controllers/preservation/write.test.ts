import { beforeEach, describe, expect, it } from 'vitest';
import type { Cluster, RemoveOptions } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';
import { Moved } from '../shared/moved.ts';
import { unprovenBecause } from './quorum-proof.ts';
import { Writer } from './write.ts';

const MACHINE = { kind: 'Machine', name: 'm', namespace: 'machines', uid: 'uid-m' } as const;
const NODE = { kind: 'Node', name: 'n', uid: 'uid-n' } as const;

describe('what can not be taken back', () => {
  let objects: Map<string, KubeObject>;
  let removed: RemoveOptions[];
  let writes: number;
  let cluster: Cluster;

  beforeEach(() => {
    objects = new Map();
    [removed, writes] = [[], 0];
    const write = (_resource: unknown, object: KubeObject): Promise<never> => {
      writes += 1;
      return Promise.resolve(object as never);
    };
    cluster = {
      get: (resource: { plural: string }, name: string) => Promise.resolve(objects.get(`${resource.plural}/${name}`)),
      list: () => Promise.resolve([]),
      create: write,
      remove: (_resource: unknown, _name: string, options: RemoveOptions) => {
        removed.push(options);
        return Promise.resolve(true);
      },
    } as unknown as Cluster;
  });

  function writer(): Writer {
    const machine = { metadata: { name: 'm', namespace: 'machines', uid: 'uid-m', resourceVersion: '7' } };
    const picture = { objectOf: () => machine, machine: () => undefined };
    const side = { cluster, recorder: { event: () => undefined } };
    return new Writer({ mode: () => 'own', nodes: side, machines: side, picture } as never);
  }

  it('is done to the Machine as it was when it was decided upon', async () => {
    await writer().perform({ kind: 'delete-machine', target: MACHINE } as never);
    expect(removed).toEqual([{ namespace: 'machines', uid: 'uid-m', resourceVersion: '7' }]);
  });

  it('is not done to the Node that has come under the name of the one that is to be switched off', async () => {
    objects.set('nodes/n', { metadata: { name: 'n', uid: 'another' } });
    const order = { kind: 'power-off', target: NODE, requestedBy: MACHINE };
    await expect(writer().perform(order as never)).rejects.toBeInstanceOf(Moved);
    expect(writes).toBe(0);
  });

  it('does not rest on the proof of a Node whose name another one has now', async () => {
    const observedAt = '2027-01-01T00:00:00Z';
    const evidence = [{ kind: 'power-off', grade: 'read-back', source: 'j', detail: 'off', observedAt }];
    const status = { state: 'final', evidence, journal: [], restarts: 0, frozen: { nodeUID: 'uid-n', plan: { minimumEvidence: ['power-off'] } } };
    objects.set('nodefences/node-fence-n', { metadata: { name: 'node-fence-n', uid: 'f' }, spec: { node: 'n' }, status } as KubeObject);
    objects.set('nodes/n', { metadata: { name: 'n', uid: 'uid-n' }, spec: {}, status: {} } as KubeObject);
    expect(await unprovenBecause(cluster, NODE, 'isOff')).toBeUndefined();
    objects.set('nodes/n', { metadata: { name: 'n', uid: 'another' }, spec: {}, status: {} } as KubeObject);
    expect(await unprovenBecause(cluster, NODE, 'isOff')).toBe('another node stands under its name, or none');
  });
});
