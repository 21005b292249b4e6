import { expect, it } from 'vitest';
import { workloadOf } from '../../src/controllers/metal3-remediation/workload.ts';
import type { Pod } from '../../src/ports/objects.ts';

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
