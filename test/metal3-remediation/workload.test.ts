import { describe, expect, it } from 'vitest';
import { workloadOf } from '../../src/controllers/metal3-remediation/workload.ts';
import type { Pod } from '../../src/ports/objects.ts';
import { MINUTE_MS, World } from './world.ts';

function pod(metadata: Partial<Pod['metadata']> = {}, more: Partial<Omit<Pod, 'metadata'>> = {}): Pod {
  return { metadata: { name: 'p', namespace: 'shop', ...metadata }, spec: { nodeName: 'n' }, ...more };
}

const ownedBy = (kind: string): Partial<Pod['metadata']> => ({
  ownerReferences: [{ apiVersion: 'v1', kind, name: 'x', uid: 'x', controller: true }],
});
const tolerating = (tolerationSeconds?: number): Pod =>
  pod({}, { spec: { nodeName: 'n', tolerations: [{ operator: 'Exists', ...(tolerationSeconds !== undefined && { tolerationSeconds }) }] } });

it.each([
  ['that nobody has asked to end', pod(), [0, 1]],
  ['that was asked to', pod({ deletionTimestamp: '2027-01-01T00:00:00Z' }), [1, 0]],
  ['of a DaemonSet', pod(ownedBy('DaemonSet')), [0, 0]],
  ['that is static', pod(ownedBy('Node')), [0, 0]],
  ['that tolerates the taint', tolerating(), [0, 0]],
  ['that tolerates it for a while', tolerating(300), [0, 0]],
  ['that has ended', pod({}, { status: { phase: 'Succeeded' } }), [0, 0]],
])('a pod %s is counted as what it is to the taint', (_which, one, [terminatingPods, awaitedPods]) => {
  expect(workloadOf([one], 2)).toEqual({ terminatingPods, awaitedPods, volumeAttachments: 2 });
});

describe('the taint of a release', () => {
  function tainted(evictMs: number): World {
    const world = new World({ servesOutOfService: true });
    world.evictMs = evictMs;
    while (!world.kinds().includes('NodeOutOfService')) if (world.step(1) === 0) world.pass(5_000);
    return world;
  }

  it('stays until the pods that it ends were asked to: whoever does that forgets it when the taint is gone', () => {
    const world = tainted(3 * MINUTE_MS);
    world.run(2 * MINUTE_MS);
    expect(world.node).toMatchObject({ taints: [{ key: 'node.kubernetes.io/out-of-service' }] });
    world.run(2 * MINUTE_MS);
    expect(world.node).toMatchObject({ taints: [] });
  });

  it('is taken back, and the host let on, when nobody asks them', () => {
    const world = tainted(60 * MINUTE_MS);
    world.run(15 * MINUTE_MS);
    expect(world.node).toMatchObject({ taints: [] });
    expect(world.operator.isOn).toBe(true);
  });
});
