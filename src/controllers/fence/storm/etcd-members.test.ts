import { describe, expect, it } from 'vitest';
import { ObjectCache } from '../../../kube/lister.ts';
import type { Node, Pod } from '../../../ports/objects.ts';
import { FenceHarness } from '../testing/harness.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { EtcdMembers, isControlPlane } from './etcd-members.ts';

function podOf(name: string, nodeName: string, labels: Record<string, string>, ready = true, namespace = 'kube-system'): Pod {
  return { metadata: { name, namespace, labels }, spec: { nodeName }, status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } };
}

function stage(pods: readonly Pod[]): { cache: ObjectCache<Pod>; nodes: ObjectCache<Node>; members: EtcdMembers; changes: () => number } {
  const { log } = new FenceHarness(new ManualClock()).dependencies;
  const [cache, nodes] = [new ObjectCache<Pod>({}, log), new ObjectCache<Node>({}, log)];
  cache.replaceAll(pods);
  let changes = 0;
  const members = new EtcdMembers({ pods: cache, nodes }, () => {
    changes += 1;
  });
  return { cache, nodes, members, changes: () => changes };
}

const ETCD = { component: 'etcd' };
const NO_ANSWERS = new Map<string, boolean>();
const UP = (): boolean => true;
const healthOf = (members: EtcdMembers, isUp: (node: string) => boolean | undefined, answers: ReadonlyMap<string, boolean> = NO_ANSWERS): string[] =>
  (members.list(isUp, answers) ?? []).map(({ name, isHealthy, source }) => `${name} ${isHealthy ? 'healthy' : 'lost'} by ${source}`);

describe('members of etcd', () => {
  it('are not known where no pod or label shows any, as with a managed control plane', () => {
    expect(stage([podOf('web', 'a', { app: 'etcd' })]).members.list(UP, NO_ANSWERS)).toBeUndefined();
  });

  it('are static pods: healthy while they are Ready on a node that is heard of', () => {
    const { members } = stage([podOf('etcd-a', 'a', ETCD), podOf('etcd-b', 'b', ETCD, false), podOf('etcd-c', 'c', ETCD)]);
    expect(healthOf(members, (node) => node !== 'c')).toEqual([
      'etcd-a healthy by static pod etcd-a',
      'etcd-b lost by static pod etcd-b',
      'etcd-c lost by static pod etcd-c',
    ]);
  });

  it('are lost, not dismissed, when the pod of a dead node is removed; dismissed with their node', () => {
    const { cache, members } = stage([podOf('etcd-a', 'a', ETCD), podOf('etcd-b', 'b', ETCD)]);
    cache.remove('kube-system/etcd-b');
    expect(healthOf(members, () => true)).toEqual(['etcd-a healthy by static pod etcd-a', 'etcd-b lost by static pod etcd-b']);
    expect(healthOf(members, (node) => (node === 'b' ? undefined : true))).toEqual(['etcd-a healthy by static pod etcd-a']);
  });

  it('are what their health endpoint says, where it answers', () => {
    const { members } = stage([podOf('etcd-a', 'a', ETCD), podOf('etcd-b', 'b', ETCD)]);
    const answers = new Map([
      ['etcd-a', true],
      ['etcd-b', false],
    ]);
    expect(healthOf(members, UP, answers)).toEqual(['etcd-a healthy by health endpoint', 'etcd-b lost by health endpoint']);
  });

  it('an answer does not outweigh a node that failed', () => {
    const { members } = stage([podOf('etcd-a', 'a', ETCD)]);
    expect(healthOf(members, () => false, new Map([['etcd-a', true]]))).toEqual(['etcd-a lost by static pod etcd-a']);
  });

  it('of OpenShift are as healthy as their guard is ready', () => {
    const namespace = 'openshift-etcd';
    const pods = [podOf('etcd-a', 'a', { app: 'etcd' }, true, namespace), podOf('etcd-guard-a', 'a', { app: 'guard' }, false, namespace)];
    expect(healthOf(stage(pods).members, UP)).toEqual(['etcd-a lost by guard pod etcd-guard-a']);
  });

  it('of K3s are the nodes that carry its label', () => {
    const node: Node = { metadata: { name: 'k', labels: { 'node-role.kubernetes.io/etcd': 'true' } }, spec: {}, status: {} };
    const { nodes, members, changes } = stage([]);
    nodes.put(node);
    nodes.put({ ...node, metadata: { name: 'worker' } });
    expect(members.list(() => false, NO_ANSWERS)).toMatchObject([{ name: 'k', node: 'k', isHealthy: false }]);
    expect(isControlPlane(node)).toBe(true);
    nodes.put({ ...node, metadata: { name: 'k', labels: {} } });
    expect(members.list(UP, NO_ANSWERS)).toBeUndefined();
    nodes.put(node);
    nodes.remove('k');
    expect(members.list(UP, NO_ANSWERS)).toBeUndefined();
    expect(changes()).toBe(4);
  });
});
