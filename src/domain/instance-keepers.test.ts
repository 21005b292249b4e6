import { describe, expect, it } from 'vitest';
import { keeperOf, type KeptNode } from './instance-keepers.ts';
import { AUTOSCALER_MARK, SCALE_DOWN_DISABLED } from './node-fence.ts';

describe('whose a machine is to delete', () => {
  it.each<[string, KeptNode, RegExp | undefined]>([
    ['nobody is named', { labels: { zone: 'a' }, annotations: {}, taints: [{ key: 'node.kubernetes.io/unreachable' }] }, undefined],
    ['a Machine of Cluster API', { annotations: { 'cluster.x-k8s.io/machine': 'm' } }, /kubectl delete machine/u],
    ['a Machine of OpenShift', { annotations: { 'machine.openshift.io/machine': 'ns/m' } }, /OpenShift/u],
    ['a Machine of machine-controller-manager', { labels: { 'node.gardener.cloud/machine-name': 'm' } }, /machine-controller-manager/u],
    ['a NodeClaim', { labels: { 'karpenter.sh/nodepool': '' } }, /kubectl delete nodeclaim/u],
    ['an owner that is a Machine', { ownerReferences: [{ kind: 'NodeClaim', name: 'c' }] }, /owned by NodeClaim c/u],
    ['an owner that is none', { ownerReferences: [{ kind: 'ConfigMap', name: 'c' }] }, undefined],
    ['the autoscaler', { taints: [{ key: 'ToBeDeletedByClusterAutoscaler' }] }, /leave it to it/u],
    ['the control plane', { labels: { 'node-role.kubernetes.io/control-plane': '' } }, /control plane/u],
    ['somebody who wants it kept', { annotations: { [SCALE_DOWN_DISABLED]: 'true' } }, /somebody wants it kept/u],
    ['somebody who lets it go', { annotations: { [SCALE_DOWN_DISABLED]: 'false' } }, undefined],
    ['our own fence', { annotations: { [SCALE_DOWN_DISABLED]: 'true', [AUTOSCALER_MARK]: 'node-fence-a' } }, undefined],
  ])('%s', (_who, node, expected) => {
    const found = keeperOf(node);
    expect(found === undefined ? expected === undefined : expected?.test(found) === true, found).toBe(true);
  });
});
