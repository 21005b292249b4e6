import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Action } from '../../src/controllers/node-remediation/actions.ts';
import { removeNode } from '../../src/controllers/node-remediation/node-removal.ts';
import type { LeaseObservations } from '../../src/controllers/node-remediation/node-removal.ts';
import { Conflict } from '../../src/controllers/shared/conflict.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { LEASES, NODE_FENCE_STOPS, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';
import { request, SECOND_MS, World } from './world.ts';

let world: ShellWorld;
let operator: Cluster;
let observations: LeaseObservations;

beforeEach(async () => {
  world = await ShellWorld.create();
  ({ operator } = world.own);
  observations = new Map();
  await world.addNode('n');
  await operator.create(NODE_FENCES, { metadata: { name: 'node-fence-n' }, spec: { node: 'n' } });
  await world.fenced('n', { state: 'final', outcome: 'fenced-off', evidence: world.proof() });
});
afterEach(() => world.end());

async function orderOf(): Promise<Extract<Action, { kind: 'delete-node' }>> {
  const node = await operator.get(NODES, 'n');
  const fence = await world.fence('n');
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: node?.metadata.uid ?? '' };
  return { kind: 'delete-node', target, fence: { name: 'node-fence-n', uid: fence?.metadata.uid ?? '' } };
}

const unlessTakenBack = (): Promise<void> => Promise.resolve();

/** After its Lease was seen to stand still. */
async function removal(order: Extract<Action, { kind: 'delete-node' }>, cluster: Cluster = operator): Promise<unknown> {
  const { clock, device: reader } = world;
  await removeNode({ clock, reader, cluster: operator, unlessTakenBack }, order, observations).catch((error: unknown) => error);
  await clock.advance(41 * SECOND_MS);
  return removeNode({ clock, reader, cluster, unlessTakenBack }, order, observations).catch((error: unknown) => error);
}

describe('the deletion of a Node for good, when all is read anew right before it', () => {
  it('is done on the standing proof of the fence that was named', async () => {
    expect(await removal(await orderOf()), 'volumes that are still attached').toBe(0);
    expect(await operator.get(NODES, 'n')).toBeUndefined();
  });

  it('is not done when the proof was taken away meanwhile', async () => {
    const order = await orderOf();
    const voided = world.proof().map((proof) => ({ ...proof, voidedAt: world.now() }));
    await world.fenced('n', { state: 'final', outcome: 'fenced-off', evidence: voided });
    expect(await removal(order)).toBeInstanceOf(Conflict);
    expect(await operator.get(NODES, 'n')).toBeDefined();
  });

  it('is not done on the proof of another fence that has its name now', async () => {
    const order = await orderOf();
    await operator.remove(NODE_FENCES, 'node-fence-n');
    await operator.create(NODE_FENCES, { metadata: { name: 'node-fence-n' }, spec: { node: 'n' } });
    await world.fenced('n', { state: 'final', outcome: 'fenced-off', evidence: world.proof() });
    expect(await removal(order)).toBeInstanceOf(Conflict);
    expect(await operator.get(NODES, 'n')).toBeDefined();
  });

  it('is not done to a Node that came under the name after the fence', async () => {
    await operator.remove(NODES, 'n');
    await operator.remove(LEASES, 'n', { namespace: NODE_LEASE_NAMESPACE });
    await world.addNode('n');
    expect(await removal(await orderOf())).toBeInstanceOf(Conflict);
    expect(await operator.get(NODES, 'n')).toBeDefined();
  });

  it('is not done to a Node that was written to since it was read', async () => {
    let writes = 0;
    const lately: Cluster = {
      ...({} as Cluster),
      list: (...asked) => operator.list(...asked),
      remove: (...asked) => operator.remove(...asked),
      get: async (resource, ...asked) => {
        const found = await operator.get(resource, ...asked);
        if (resource.plural === 'nodes') await operator.mergePatch(NODES, 'n', { metadata: { labels: { late: `${(writes += 1)}` } } });
        return found;
      },
    };
    expect(await removal(await orderOf(), lately)).toMatchObject({ status: 409 });
    expect(await operator.get(NODES, 'n')).toBeDefined();
  });
});

describe('the deletion of a Node for good, whose fence reads its device no more', () => {
  it('is not done when its device reads on again, and says so', async () => {
    world.device.doubt = 'it reads on';
    expect(String(await removal(await orderOf()))).toBe('Error: node n is not deleted: it reads on');
    expect(await operator.get(NODES, 'n')).toBeDefined();
    world.device.doubt = undefined;
    await removal(await orderOf());
    expect(await operator.get(NODES, 'n')).toBeUndefined();
  });

  it.each([
    [
      'boots while the device is read',
      () => operator.mergePatch(NODES, 'n', { status: { nodeInfo: { bootID: 'boot-2' } } }, { subresource: 'status' }),
    ],
    ['is stopped meanwhile', () => operator.create(NODE_FENCE_STOPS, { metadata: { name: 'wait' }, spec: { node: 'n', reason: 'look' } })],
  ])('is not done when its node %s', async (_what, meanwhile) => {
    const { readAnew } = world.device;
    world.device.readAnew = async () => {
      await meanwhile();
      return readAnew();
    };
    expect(await removal(await orderOf())).toBeInstanceOf(Conflict);
    expect(world.device.reads).toBe(1);
    expect(await operator.get(NODES, 'n')).toBeDefined();
  });

  it('is not sent on a read that has grown old on the way', async () => {
    const slow: Cluster = {
      ...({} as Cluster),
      get: (...asked) => operator.get(...asked),
      list: (...asked) => operator.list(...asked),
      remove: async (resource, name, options) => {
        await world.clock.advance(5 * SECOND_MS);
        return operator.remove(resource, name, options);
      },
    };
    expect(String(await removal(await orderOf(), slow))).toContain('the last read of its device is older than 4 s');
    expect(await operator.get(NODES, 'n')).toBeDefined();
  });
});

describe('a request whose fence ended', () => {
  const ended = (course: object): string => {
    const decided = new World({ request: request({}, { retryLimit: 0 }), courses: [course] });
    decided.run(600 * SECOND_MS);
    return decided.own.phase;
  };
  const FINAL = { sentMs: 10 * SECOND_MS, finalMs: 60 * SECOND_MS, staysSilent: true };

  it.each(['stopped', 'failed', 'untouched'])('%s has not succeeded', (outcome) => {
    expect(ended({ ...FINAL, outcome })).toBe('Failed');
  });

  it('without its node has succeeded only where the off was proven', () => {
    expect(ended({ ...FINAL, outcome: 'node-gone' })).toBe('Failed');
    expect(ended({ ...FINAL, offMs: 30 * SECOND_MS, outcome: 'node-gone' })).toBe('Succeeded');
  });
});
