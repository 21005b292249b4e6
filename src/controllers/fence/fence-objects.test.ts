import { describe, expect, it } from 'vitest';
import { planOf } from '../../domain/testing/model.ts';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FINALIZER } from '../shared/ownership.ts';
import { FenceObjects } from './fence-objects.ts';
import { KnownFences } from './known-fences.ts';
import { LostFences } from './lost-fences.ts';
import { FenceHarness, provenStatus } from './testing/harness.ts';

const UNANSWERED = new TransportError('timeout', 'no answer within 5000 ms');

function fenceAt(resourceVersion: string, metadata: Partial<NodeFence['metadata']> = {}): NodeFence {
  const status = provenStatus(planOf());
  return { metadata: { name: 'node-fence-a', uid: 'f', resourceVersion, finalizers: [FINALIZER], ...metadata }, spec: { node: 'a' }, status };
}

/** The watch shows version 5; this process has written version 9 since. What the API server is asked is told in `asked`. */
function world(cluster: Partial<Cluster>) {
  const harness = new FenceHarness(new ManualClock());
  harness.fences.items = [fenceAt('5')];
  Object.assign(harness.dependencies.cluster, cluster);
  const known = new KnownFences(harness.fences);
  known.wrote(fenceAt('9'));
  const objects = new FenceObjects(harness.dependencies, known, new LostFences(harness.dependencies, known));
  return { objects, version: () => known.newest('a')?.metadata.resourceVersion };
}

describe('a NodeFence of which nobody knows whether a write arrived', () => {
  it('is never taken for older than what was written before, and is read before the next pass', async () => {
    let answers = false;
    const get = (): Promise<never> => (answers ? Promise.resolve(fenceAt('10') as never) : Promise.reject(UNANSWERED));
    const { objects, version } = world({ get });
    await objects.settle('a');
    await expect(objects.readAfter(fenceAt('9'))).rejects.toThrow('no answer');
    expect(version(), 'the watch is behind').toBe('9');
    await expect(objects.settle('a')).rejects.toThrow('no answer');
    answers = true;
    await objects.settle('a');
    expect(version()).toBe('10');
    answers = false;
    await objects.settle('a');
  });

  it.each([
    ['claimed', (objects: FenceObjects) => objects.claim(fenceAt('9', { finalizers: [] }))],
    ['let go', (objects: FenceObjects) => objects.letGo(fenceAt('9'), false)],
  ])('is read before the next pass too where it could not be %s', async (_what, write) => {
    const mergePatch = (): Promise<never> => Promise.reject(new ApiStatusError(409, 'Conflict', 'changed'));
    const { objects, version } = world({ get: () => Promise.resolve(fenceAt('12') as never), mergePatch });
    await expect(write(objects)).rejects.toThrow('changed');
    await objects.settle('a');
    expect(version()).toBe('12');
  });
});

describe('a NodeFence that is over', () => {
  it('is deleted as it was let go: one that somebody asks for by then stays', async () => {
    const deleted: unknown[] = [];
    const { objects } = world({
      mergePatch: () => Promise.resolve(fenceAt('10', { finalizers: [] }) as never),
      remove: (_resource, name, options) => {
        deleted.push([name, options]);
        return Promise.resolve(true);
      },
    });
    await objects.letGo(fenceAt('9'), true);
    expect(deleted).toEqual([['node-fence-a', { uid: 'f', resourceVersion: '10' }]]);
  });
});
