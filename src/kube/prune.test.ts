import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../ports/objects.ts';
import { CONFIG_MAPS, LEASES, NODE_FENCE_REPORTS, NODE_FENCES, NODES, PODS, VOLUME_ATTACHMENTS } from '../ports/resources.ts';
import { pruneFor } from './prune.ts';
import { isAtMost } from './resource-version.ts';

function wire(text: object): never {
  return JSON.parse(JSON.stringify(text)) as never;
}

const META = { name: 'x', uid: 'u', resourceVersion: '7', managedFields: [{ manager: 'kubectl' }] };

describe('pruning', () => {
  it('keeps of a node what decides and drops the rest', () => {
    const pruned = pruneFor(NODES)(
      wire({
        metadata: { ...META, labels: { zone: 'a' }, annotations: { mine: '1', 'kubectl.kubernetes.io/last-applied-configuration': 'big' } },
        spec: { providerID: 'p', podCIDR: '10.0.0.0/24', taints: [{ key: 'k', effect: 'NoExecute' }] },
        status: { conditions: [{ type: 'Ready', status: 'True' }], images: [{ names: ['big'] }], nodeInfo: { bootID: 'b', kernelVersion: '6' } },
      }),
    );
    expect(pruned).toEqual({
      metadata: { name: 'x', uid: 'u', resourceVersion: '7', labels: { zone: 'a' }, annotations: { mine: '1' } },
      spec: { providerID: 'p', taints: [{ key: 'k', effect: 'NoExecute' }] },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: 'b' } },
    });
  });

  it('keeps of a pod its place, owners, claims and phase', () => {
    const pruned = pruneFor(PODS)(
      wire({
        metadata: { ...META, namespace: 'shop', annotations: { big: 'x' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
        spec: {
          nodeName: 'n',
          containers: [{ image: 'big' }],
          volumes: [
            { name: 'data', persistentVolumeClaim: { claimName: 'c', readOnly: false } },
            { name: 'tmp', emptyDir: {} },
          ],
        },
        status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null }] },
      }),
    );
    expect(pruned).toEqual({
      metadata: { name: 'x', uid: 'u', resourceVersion: '7', namespace: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { nodeName: 'n', volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  });

  it('keeps what says that a node is cordoned, and that something holds an object that is being deleted', () => {
    const finalizers = ['foregroundDeletion'];
    expect(pruneFor(NODES)(wire({ metadata: { ...META, finalizers }, spec: { unschedulable: true } }))).toMatchObject({
      metadata: { finalizers },
      spec: { unschedulable: true },
    });
  });

  it('keeps of a pod what it tolerates and how soon it is to be let go', () => {
    const spec = {
      nodeName: 'n',
      tolerations: [{ key: 'k', operator: 'Exists' }],
      priorityClassName: 'high',
      priority: 7,
      terminationGracePeriodSeconds: 0,
    };
    const pod = { metadata: { ...META, namespace: 'shop', deletionGracePeriodSeconds: 30 }, spec };
    expect(pruneFor(PODS)(wire(pod))).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 }, spec });
  });

  it('keeps whole what is our own, and all data of a ConfigMap', () => {
    const data = { 'config.properties': 'a=b' };
    expect(pruneFor(CONFIG_MAPS)(wire({ metadata: META, data }))).toEqual({ metadata: { name: 'x', uid: 'u', resourceVersion: '7' }, data });
    const status = { state: 'running', future: { field: 1 } };
    expect(pruneFor(NODE_FENCES)(wire({ metadata: META, spec: { node: 'x' }, status }))).toMatchObject({ spec: { node: 'x' }, status });
  });

  it('survives objects that lack everything but a name', () => {
    for (const resource of [NODES, PODS, LEASES, VOLUME_ATTACHMENTS, CONFIG_MAPS]) {
      const prune = pruneFor<KubeObject>(resource);
      expect(prune({ metadata: { name: 'bare' } }).metadata).toEqual({ name: 'bare' });
    }
  });

  it('takes from the known version what has not changed, so that a heartbeat leaves nothing new but its time', () => {
    const prune = pruneFor(NODES);
    const node = (version: string, at: string): never =>
      wire({
        metadata: { ...META, resourceVersion: version, labels: { zone: 'a' } },
        spec: {},
        status: { addresses: [], conditions: [{ type: 'Ready', at }] },
      });
    const before = prune(node('7', 'x'));
    const after = prune(node('8', 'y'), before);
    expect(after).toEqual(prune(node('8', 'y')));
    expect([after.metadata.labels, after.status.addresses]).toEqual([before.metadata.labels, before.status.addresses]);
    expect(after.metadata.labels).toBe(before.metadata.labels);
    expect(before.status.conditions).toEqual([{ type: 'Ready', at: 'x' }]);
  });

  it('holds once what replicas have in common', () => {
    const prune = pruneFor(PODS);
    const pod = (name: string, app: string): never =>
      wire({ metadata: { ...META, name, labels: { app } }, spec: { tolerations: [{ operator: 'Exists' }] }, status: { phase: 'Running' } });
    const [one, other, third] = [prune(pod('a', 'x')), prune(pod('b', 'x')), prune(pod('c', 'y'))];
    expect([one.metadata.labels, other.metadata.labels, third.metadata.labels]).toEqual([{ app: 'x' }, { app: 'x' }, { app: 'y' }]);
    expect(other.metadata.labels).toBe(one.metadata.labels);
    expect(third.spec.tolerations).toBe(one.spec.tolerations);
    expect(third.status).toBe(one.status);
  });

  it('holds once by what the fences of thousands of nodes were proven', () => {
    const prune = pruneFor(NODE_FENCE_REPORTS);
    const of = (name: string): unknown =>
      prune(wire({ metadata: { ...META, name }, status: { incidents: [{ evidence: ['power-off'] }] } })).status?.incidents?.[0]?.evidence;
    const one = of('a');
    expect(one).toEqual(['power-off']);
    expect(of('b')).toBe(one);
  });

  it('freezes the result all the way down', () => {
    const pruned = pruneFor(NODES)(wire({ metadata: META, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] }, status: {} }));
    expect(Object.isFrozen(pruned.spec.taints?.[0])).toBe(true);
  });
});

describe('resource versions', () => {
  it.each([
    ['9', '10', true],
    ['10', '10', true],
    ['10', '9', false],
    ['99999999999999999998', '99999999999999999999', true],
    ['abc', '10', undefined],
    ['10', '', undefined],
    ['010', '9', undefined],
  ])('of %s and %s the first is at most the second: %s', (left, right, expected) => {
    expect(isAtMost(left, right)).toBe(expected);
  });
});
