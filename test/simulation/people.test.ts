import { describe, expect, it } from 'vitest';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { Evidence, NodeFenceStatus, Released } from '../../src/domain/node-fence.ts';
import { entry, plan, status as statusOf } from '../../src/laws/sample-trace.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { SimulatedApi } from './api.ts';
import { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { People } from './people.ts';

const WORD: Evidence = { kind: 'ack', grade: 'person', source: 'x', detail: 'x', observedAt: '2026-01-01T00:00:00Z' };
const RELEASED: Released = { by: 'out-of-service', at: '2026-01-01T00:00:00Z', pods: 1, evidence: 'x' };

/** Node `a`, and its fence as far as people look at it. */
async function harness(status: Partial<NodeFenceStatus> = {}) {
  const { admin, people } = await empty();
  const fence = await admin.create(NODE_FENCES, { metadata: { name: fenceName('a') }, spec: { node: 'a' } });
  const frozen = { nodeUID: 'u', bootID: 'boot-1', plan: plan() };
  await admin.replaceStatus(NODE_FENCES, { ...fence, status: statusOf([], { incident: 3, frozen, ...status }) });
  return { admin, people, uid: fence.metadata.uid };
}

async function empty() {
  const api = new SimulatedApi(new Kernel({ seed: 3 }), ['a'], () => undefined);
  await api.install();
  await api.admin.create(NODES, { metadata: { name: 'a' }, spec: {}, status: {} });
  return { admin: api.admin, people: new People(api.admin) };
}

describe('people', () => {
  it('stop all or one, once, and take it away again', async () => {
    const { admin, people } = await empty();
    const end = await people.stop(undefined);
    await people.stop(undefined);
    await people.stop('a');
    expect((await admin.list(NODE_FENCE_STOPS)).map(({ spec }) => [spec.all, spec.node])).toEqual([
      [true, undefined],
      [undefined, 'a'],
    ]);
    await end();
    expect((await admin.list(NODE_FENCE_STOPS)).map(({ spec }) => spec.node)).toEqual(['a']);
  });

  it.each([
    ['true', { incident: 3, bootID: 'boot-1' }],
    ['wrong-incident', { incident: 4, bootID: 'boot-1' }],
    ['wrong-boot', { incident: 3, bootID: 'another-boot' }],
  ] as const)('speak of the fence as it stands (%s)', async (word, said) => {
    const { admin, people, uid } = await harness();
    await people.acknowledge('a', word);
    expect((await admin.list(NODE_FENCE_ACKNOWLEDGEMENTS)).map(({ spec }) => spec)).toMatchObject([{ node: 'a', nodeFenceUID: uid, ...said }]);
  });

  it('say nothing of a node that has no fence', async () => {
    const { admin, people } = await empty();
    await people.acknowledge('a', 'true');
    expect(await admin.list(NODE_FENCE_ACKNOWLEDGEMENTS)).toEqual([]);
  });

  it.each<[what: string, status: Partial<NodeFenceStatus>, isOver: boolean]>([
    ['at once when nobody weighs it', {}, true],
    ['not while it is weighed', { journal: [entry('acknowledge')] }, false],
    ['not while it counts and the workload waits', { evidence: [WORD] }, false],
    ['when the workload is let go', { evidence: [WORD], released: RELEASED }, true],
  ])('take their word back %s', async (_words, status, isOver) => {
    const { admin, people } = await harness(status);
    await people.acknowledge('a', 'true');
    expect(await people.takeBack('a')).toBe(isOver);
    expect(await admin.list(NODE_FENCE_ACKNOWLEDGEMENTS)).toEqual([]);
  });

  it.each(['cordon', 'taint', 'annotation'] as const)('set a mark of their own (%s), and take it away', async (mark) => {
    const { admin, people } = await empty();
    const before = await admin.get(NODES, 'a');
    const end = await people.mark('a', mark);
    const marked = await admin.get(NODES, 'a');
    expect([marked?.spec, marked?.metadata.annotations]).not.toEqual([before?.spec, before?.metadata.annotations]);
    await end();
    const after = await admin.get(NODES, 'a');
    expect([after?.spec.unschedulable, after?.spec.taints ?? []]).toEqual([before?.spec.unschedulable, before?.spec.taints ?? []]);
    expect(after?.metadata.annotations ?? {}).toEqual(before?.metadata.annotations ?? {});
  });
});
