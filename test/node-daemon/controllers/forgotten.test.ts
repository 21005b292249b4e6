import { beforeEach, describe, expect, it } from 'vitest';
import { perform } from '../../../src/controllers/node-daemons/write.ts';
import type { WriteParts } from '../../../src/controllers/node-daemons/write.ts';
import { ATTESTATION, attestationName } from '../../../src/domain/node-daemon/attestation.ts';
import { fenceName } from '../../../src/domain/node-fence.ts';
import type { Cluster, Resource } from '../../../src/ports/cluster.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { LEASES, NODE_FENCES, NODES } from '../../../src/ports/resources.ts';
import { ControllerWorld, NAMESPACE } from './world.ts';
import type { Replica } from './world.ts';

const MINUTE_MS = 60_000;
const STEP_MS = 5_000;

describe('the Lease of a node whose Node is gone', () => {
  let world: ControllerWorld;
  let leader: Replica;

  beforeEach(async () => {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
    await world.add('there');
    for (const node of ['there', 'gone']) await world.attest(node, {});
    await world.operator.create(LEASES, { metadata: { name: 'somebodys', namespace: NAMESPACE }, spec: {} });
  });

  const names = async (): Promise<string[]> =>
    (await world.operator.list(LEASES, { namespace: NAMESPACE })).map(({ metadata }) => metadata.name).toSorted();
  const passes = async (minutes: number): Promise<void> => world.run(minutes * MINUTE_MS, STEP_MS);
  const gone = attestationName('gone');

  it('is removed by the leader when it has seen nobody write it for an hour, and no other Lease is', async () => {
    await passes(58);
    expect(await names()).toContain(gone);
    await passes(3);
    expect(await names()).toEqual(['nodefence-candidates', 'nodefence-controller', attestationName('there'), 'somebodys']);
    expect([leader.counts.get('forget-node done'), leader.problems]).toEqual([1, []]);
  });

  it('stays while a daemon still writes it, or a NodeFence of the node is there', async () => {
    await passes(58);
    const annotations = { [ATTESTATION]: JSON.stringify({ ...(await world.attestation('gone')), address: 'gone:7412' }) };
    await world.operator.mergePatch(LEASES, gone, { metadata: { annotations } }, { namespace: NAMESPACE });
    await passes(58);
    expect(await names()).toContain(gone);
    await world.operator.create(NODE_FENCES, { metadata: { name: fenceName('gone') }, spec: { node: 'gone' } });
    await passes(5);
    expect(await names()).toContain(gone);
    await world.operator.remove(NODE_FENCES, fenceName('gone'));
    await passes(2);
    expect(await names()).not.toContain(gone);
  });

  it('stays where the Node is there again, which a watch that is late does not show', async () => {
    const removed: string[] = [];
    const cluster: Pick<Cluster, 'get' | 'remove'> = {
      get: <T extends KubeObject>({ plural }: Resource<T>) =>
        Promise.resolve(plural === NODES.plural ? ({ metadata: { name: 'gone' } } as unknown as T) : undefined),
      remove: (_resource, name) => Promise.resolve(removed.push(name) > 0),
    };
    const parts = { cluster, namespace: NAMESPACE } as WriteParts;
    await expect(perform(parts, { kind: 'forget-node', node: 'gone', uid: 'u', version: '1' })).rejects.toThrow('node gone is there again');
    expect(removed).toEqual([]);
  });
});
