import { beforeEach, describe, expect, it } from 'vitest';
import { FENCE_STATES, fenceName } from '../../../domain/node-fence.ts';
import type { FenceState, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { TransportError } from '../../../ports/api-transport.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import { NODE_FENCES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { FINALIZER, NODE_LABEL, TRIGGER_LABEL } from '../ownership.ts';
import { claim, ownerOf, releaseClaim, withdraw } from './claim.ts';
import type { Claimant, ClaimDependencies } from './claim.ts';
import { bent, installedCluster } from '../../../../test/scenarios/installed-cluster.ts';

const KIND = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceRemediation', namespace: 'default' };
const OURS: Claimant = { ...KIND, name: 'a', uid: 'uid-ours' };
const THEIRS: Claimant = { apiVersion: 'machine.sapcloud.io/v1alpha1', kind: 'Machine', name: 'm1', uid: 'uid-theirs' };

function standing({ state }: { state: FenceState }): NodeFenceStatus {
  const begun = { incident: 1, epoch: 1, level: 1, retries: 0, restarts: 0, frozen: { nodeUID: 'n', plan: planOf() } };
  return { state, step: 'isolation', ...begun, jobs: [], journal: [], evidence: [], timeline: {}, conditions: [], history: [] };
}

describe('a claim of a node', () => {
  let cluster: Cluster;
  let events: string[];
  let dependencies: ClaimDependencies;

  beforeEach(async () => {
    cluster = await installedCluster();
    events = [];
    dependencies = { cluster, recorder: { event: (about, _type, reason, message) => events.push(`${about.metadata.name} ${reason}: ${message}`) } };
  });

  const fence = async (): Promise<NodeFence | undefined> => cluster.get(NODE_FENCES, fenceName('a'));
  const begun = async (state: FenceState, requestUID?: string): Promise<NodeFence> => {
    const created = (await fence()) as NodeFence;
    const status = standing({ state });
    const trigger = { kind: 'remediation' as const, since: '2026-01-01T00:00:00Z', ...(requestUID === undefined ? {} : { requestUID }) };
    return cluster.replaceStatus(NODE_FENCES, { ...created, status: { ...status, trigger } });
  };

  it('creates the NodeFence as the fence controller would, and says once who has the node', async () => {
    expect(await claim(dependencies, 'a', OURS)).toMatchObject({ kind: 'claimed', fence: { spec: { node: 'a', requestedBy: OURS } } });
    const { metadata } = (await fence()) as NodeFence;
    expect(metadata.finalizers).toEqual([FINALIZER]);
    expect(metadata.labels).toEqual({ [NODE_LABEL]: 'a', [TRIGGER_LABEL]: 'remediation' });
    expect((await claim(dependencies, 'a', OURS)).kind).toBe('claimed');
    expect((await fence())?.metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(events).toEqual(['node-fence-a NodeClaimed: NodeFenceRemediation default/a has node a: every other controller leaves it alone.']);
  });

  it('whose answer was lost is found again by its uid', async () => {
    const losing = bent(cluster, {
      create: async (resource, object) => {
        await cluster.create(resource, object);
        throw new TransportError('timeout', 'no answer');
      },
    });
    await expect(claim({ ...dependencies, cluster: losing }, 'a', OURS)).rejects.toThrow('no answer');
    expect((await claim(dependencies, 'a', OURS)).kind).toBe('claimed');
  });

  it('of two at the same time is given to one; the other hears who has it', async () => {
    const outcomes = await Promise.all([claim(dependencies, 'a', OURS), claim(dependencies, 'a', THEIRS)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['claimed', 'taken']);
    const winner = (await fence())?.spec.requestedBy?.uid === OURS.uid ? 'NodeFenceRemediation default/a' : 'Machine m1';
    expect(outcomes.flatMap((outcome) => (outcome.kind === 'taken' ? [outcome.by] : []))).toEqual([winner]);
  });

  it('is refused while the fence controller has the node by its condition, in words', async () => {
    await cluster.create(NODE_FENCES, { metadata: { name: fenceName('a') }, spec: { node: 'a' } });
    const created = (await fence()) as NodeFence;
    const trigger = { kind: 'node-condition' as const, conditionType: 'Ready', status: 'Unknown', since: '2026-01-01T00:00:00Z' };
    await cluster.replaceStatus(NODE_FENCES, { ...created, status: { ...standing({ state: 'new' }), trigger } });
    expect(await claim(dependencies, 'a', OURS)).toMatchObject({ kind: 'taken', by: 'the fence controller, because Ready is Unknown' });
    expect(events).toEqual([]);
  });

  it.each(FENCE_STATES)('of somebody else whose fence is %s is a claim unless it is final', async (state) => {
    await claim(dependencies, 'a', THEIRS);
    await begun(state, THEIRS.uid);
    expect((await claim(dependencies, 'a', OURS)).kind).toBe(state === 'final' ? 'claimed' : 'taken');
  });

  it.each([
    ['a lease', 'medik8s-lease', 'node-lease'],
    ['a controller that has only just come up', 'my-grace', 'startup-grace'],
  ])('joins a fence that the fence controller began and that waits for %s, where it says so, and no other', async (_what, own, reason) => {
    const held = async (policy: string): Promise<void> => {
      const created = (await fence()) as NodeFence;
      const hold = { policy, reason: policy === own ? reason : policy, message: '', since: '2026-01-01T00:00:00Z' };
      await cluster.replaceStatus(NODE_FENCES, { ...created, status: { ...standing({ state: 'new' }), hold } });
    };
    await cluster.create(NODE_FENCES, { metadata: { name: fenceName('a') }, spec: { node: 'a' } });
    await held('max-unhealthy');
    expect((await claim(dependencies, 'a', OURS, { joinsHeld: true })).kind).toBe('taken');
    await held(own);
    expect((await claim(dependencies, 'a', OURS)).kind).toBe('taken');
    const joined = await claim(dependencies, 'a', OURS, { joinsHeld: true });
    expect(joined).toMatchObject({ kind: 'claimed', fence: { spec: { node: 'a', requestedBy: OURS }, status: { state: 'new' } } });
    expect(joined.fence.spec).not.toHaveProperty('joinsHeld');
    expect((await claim(dependencies, 'a', THEIRS, { joinsHeld: true })).kind).toBe('taken');
  });

  it('says what the fence is to end in, and takes back what an earlier claim said of that', async () => {
    await claim(dependencies, 'a', OURS, { ending: 'off' });
    expect((await fence())?.spec.ending).toBe('off');
    await begun('final', OURS.uid);
    await claim(dependencies, 'a', THEIRS);
    expect((await fence())?.spec.ending).toBeUndefined();
    await begun('final', THEIRS.uid);
    await claim(dependencies, 'a', { ...OURS, uid: 'uid-again' }, { ending: 'off' });
    expect((await fence())?.spec.ending).toBe('off');
  });

  it('takes a final fence up: uid and history stay, the requester is another', async () => {
    await claim(dependencies, 'a', OURS);
    const before = await begun('final', OURS.uid);
    await claim(dependencies, 'a', THEIRS);
    const after = (await fence()) as NodeFence;
    expect([after.metadata.uid, after.spec.requestedBy, after.status?.state]).toEqual([before.metadata.uid, THEIRS, 'final']);
    expect(ownerOf(after)).toBe('Machine m1');
  });

  it('waits until a fence that is being taken back is gone', async () => {
    await claim(dependencies, 'a', OURS);
    expect(await releaseClaim(dependencies, 'a', OURS)).toBe('released');
    expect(await claim(dependencies, 'a', THEIRS)).toMatchObject({ kind: 'taken', by: expect.stringContaining('takes back') as string });
  });
});

describe('a claim of somebody who has claimed the node before, under another uid,', () => {
  const RUN = { apiVersion: 'node-remedy/v1alpha', kind: 'RemedyConfiguration', name: 'disks' };
  const FIRST: Claimant = { ...RUN, uid: 'run-1' };
  const SECOND: Claimant = { ...RUN, uid: 'run-2' };
  const isOwn = ({ uid }: Claimant): boolean => uid.startsWith('run-');
  let cluster: Cluster;
  let dependencies: ClaimDependencies;

  beforeEach(async () => {
    cluster = await installedCluster();
    dependencies = { cluster, recorder: { event: () => undefined } };
    await claim(dependencies, 'a', FIRST, { lastStep: 'isolation' });
  });

  const spec = async (): Promise<NodeFence['spec'] | undefined> => (await cluster.get(NODE_FENCES, fenceName('a')))?.spec;

  it('asks for less first, and for the whole fence then, in one NodeFence', async () => {
    expect(await spec()).toEqual({ node: 'a', requestedBy: FIRST, lastStep: 'isolation' });
    const taken = await claim(dependencies, 'a', SECOND, { isOwn });
    expect(taken.kind).toBe('claimed');
    expect(await spec()).toEqual({ node: 'a', requestedBy: SECOND });
  });

  it.each<[string, Claimant, Parameters<typeof claim>[3]]>([
    ['another name', { ...SECOND, name: 'memory' }, { isOwn }],
    ['another kind', { ...SECOND, kind: 'Machine' }, { isOwn }],
    ['another API', { ...SECOND, apiVersion: 'v1' }, { isOwn }],
    ['a run that it does not call its own', SECOND, { isOwn: () => false }],
    ['nobody who says which are its own', SECOND, {}],
  ])('leaves a fence of %s alone', async (_words, claimant, asked) => {
    expect(await claim(dependencies, 'a', claimant, asked)).toMatchObject({ kind: 'taken', by: 'RemedyConfiguration disks' });
    expect(await spec()).toMatchObject({ requestedBy: FIRST, lastStep: 'isolation' });
  });

  it('waits for one that is being taken back', async () => {
    await releaseClaim(dependencies, 'a', FIRST);
    expect((await claim(dependencies, 'a', SECOND, { isOwn })).kind).toBe('taken');
  });
});

describe('taking a request back', () => {
  let cluster: Cluster;
  let dependencies: ClaimDependencies;

  beforeEach(async () => {
    cluster = await installedCluster();
    dependencies = { cluster, recorder: { event: () => undefined } };
    await claim(dependencies, 'a', OURS, { lastStep: 'isolation', release: 'none', ending: 'off' });
  });

  it('takes back all that was asked for, and leaves the fence to end by itself', async () => {
    expect(await withdraw(dependencies, 'a', OURS)).toBe('withdrawn');
    const standing = await cluster.get(NODE_FENCES, fenceName('a'));
    expect(standing?.spec).toEqual({ node: 'a' });
    expect(standing?.metadata.deletionTimestamp).toBeUndefined();
    expect(await withdraw(dependencies, 'a', OURS)).toBe('not-ours');
  });

  it('touches no request of somebody else, also where he comes between our read and our write', async () => {
    expect(await withdraw(dependencies, 'a', THEIRS)).toBe('not-ours');
    const overtaken = bent(cluster, {
      mergePatch: async (...given) => {
        await cluster.mergePatch(NODE_FENCES, fenceName('a'), { spec: { requestedBy: { ...THEIRS, namespace: null } } });
        return cluster.mergePatch(...given);
      },
    });
    expect(await withdraw({ cluster: overtaken }, 'a', OURS)).toBe('not-ours');
    expect((await cluster.get(NODE_FENCES, fenceName('a')))?.spec).toMatchObject({ requestedBy: THEIRS, lastStep: 'isolation' });
  });

  it('of a NodeFence that is gone has nothing to take back', async () => {
    await cluster.mergePatch(NODE_FENCES, fenceName('a'), { metadata: { finalizers: [] } });
    await cluster.remove(NODE_FENCES, fenceName('a'));
    expect(await withdraw(dependencies, 'a', OURS)).toBe('gone');
  });
});

describe('giving a claim back', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await installedCluster();
  });

  it('takes an ending in off back first, so that the machine is switched on before its NodeFence goes', async () => {
    const dependencies = { cluster, recorder: { event: () => undefined } };
    await claim(dependencies, 'a', OURS, { ending: 'off' });
    expect(await releaseClaim(dependencies, 'a', OURS)).toBe('released');
    const standing = await cluster.get(NODE_FENCES, fenceName('a'));
    expect(standing?.spec).toEqual({ node: 'a', requestedBy: OURS });
    expect(standing?.metadata.deletionTimestamp).toBeDefined();
  });

  it('deletes our own NodeFence only, and is the same when asked twice', async () => {
    const dependencies = { cluster, recorder: { event: () => undefined } };
    await claim(dependencies, 'a', OURS);
    expect(await releaseClaim(dependencies, 'a', THEIRS)).toBe('not-ours');
    expect((await cluster.get(NODE_FENCES, fenceName('a')))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await releaseClaim(dependencies, 'a', OURS)).toBe('released');
    expect(await releaseClaim(dependencies, 'a', OURS)).toBe('released');
    expect((await cluster.get(NODE_FENCES, fenceName('a')))?.metadata.deletionTimestamp).toBeDefined();
    await cluster.mergePatch(NODE_FENCES, fenceName('a'), { metadata: { finalizers: [] } });
    expect(await releaseClaim(dependencies, 'a', OURS)).toBe('gone');
  });

  it('leaves a fence alone that another claimant takes up between our read and our delete', async () => {
    const dependencies = { cluster, recorder: { event: () => undefined } };
    await claim(dependencies, 'a', OURS);
    const overtaken = bent(cluster, {
      remove: async (...given) => {
        await cluster.mergePatch(NODE_FENCES, fenceName('a'), { spec: { requestedBy: { ...THEIRS, namespace: null } } });
        return cluster.remove(...given);
      },
    });
    expect(await releaseClaim({ cluster: overtaken }, 'a', OURS)).toBe('not-ours');
    expect((await cluster.get(NODE_FENCES, fenceName('a')))?.metadata.deletionTimestamp).toBeUndefined();
  });
});
