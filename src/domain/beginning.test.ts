import { describe, expect, it } from 'vitest';
import type { NodeFenceSpec } from './node-fence.ts';
import { beginning } from './rows/beginning.ts';
import type { NodeFacts, Snapshot } from './snapshot.ts';
import { Model } from './testing/model.ts';

const SINCE = '2026-01-01T00:00:00Z';

function snapshotOf(more: Partial<Snapshot> = {}, node: Partial<NodeFacts> = {}): Snapshot {
  const model = new Model();
  model.fail();
  const snapshot = model.snapshot();
  return { ...snapshot, node: { ...(snapshot.node as NodeFacts), readySince: SINCE, ...node }, ...more };
}

function askedBy(spec: Partial<NodeFenceSpec>): Pick<Snapshot, 'fence'> {
  return { fence: { uid: 'fence-1', spec: { node: 'a', ...spec }, status: undefined, deleting: false, finalized: true } };
}

describe('what an incident freezes of the identity', () => {
  it('is what was recorded while the node was healthy, whatever the Node says since', () => {
    const identity = { systemUUID: 'recorded', providerID: 'aws:///a/i-1', addresses: ['10.0.0.1'] };
    const status = beginning(snapshotOf({ identity }, { systemUUID: 'said', providerID: 'aws:///a/i-2', addresses: ['10.0.0.2'] }), [], 1);
    expect(status?.frozen).toMatchObject({ nodeUID: 'uid-a', bootID: 'boot-1', ...identity });
  });

  it('is what the Node says where nothing was recorded', () => {
    const said = { systemUUID: 'said', providerID: 'aws:///a/i-2', addresses: ['10.0.0.2'] };
    expect(beginning(snapshotOf({}, said), [], 1)?.frozen).toMatchObject(said);
  });

  it('is nothing where neither says anything', () => {
    const nothing = { systemUUID: undefined, providerID: undefined, addresses: [], bootID: undefined };
    const frozen = beginning(snapshotOf({}, nothing), [], 1)?.frozen;
    expect(Object.keys(frozen ?? {}).sort()).toEqual(['nodeUID', 'plan']);
  });
});

describe('the wishes of a request', () => {
  const wishes = { ending: 'off', lastStep: 'isolation' } as const;
  const requestedBy = { kind: 'NodeFenceRemediation', name: 'r', uid: 'r-1', apiVersion: 'x/v1' };

  it('are taken over by the incident that serves it, which counts from now', () => {
    const snapshot = snapshotOf(askedBy({ ...wishes, requestedBy }));
    const status = beginning(snapshot, [], 1);
    expect(status).toMatchObject({ ...wishes, trigger: { kind: 'remediation', requestUID: 'r-1', since: snapshot.wall } });
    expect(status?.timeline.failedAt).toBe(snapshot.wall);
  });

  it('are nobody’s without a request: the incident counts from when the node failed', () => {
    const status = beginning(snapshotOf(askedBy(wishes)), [], 1);
    expect(status).not.toHaveProperty('ending');
    expect(status).not.toHaveProperty('lastStep');
    expect(status).toMatchObject({ trigger: { kind: 'node-condition', since: SINCE }, timeline: { failedAt: SINCE } });
  });

  it('begins nothing where there is no Node', () => {
    expect(beginning(snapshotOf({ node: undefined }), [], 1)).toBeUndefined();
  });
});

describe('what a person reads when an incident begins', () => {
  it('of a node that failed is what follows', () => {
    expect(beginning(snapshotOf(), [], 1)?.message).toBe('Ready is Unknown (NodeStatusUnknown); isolation follows after isolation_delay.');
  });

  it('of a well node, for which somebody made a NodeFence, is that nothing follows, and how a fence of it is asked for', () => {
    expect(beginning(snapshotOf({}, { ready: 'True', readyReason: 'KubeletReady' }), [], 1)?.message).toBe(
      'Ready is True (KubeletReady); nothing is done while it is healthy. A NodeFence asks for nothing: to have a healthy node fenced, create a NodeFenceRemediation.',
    );
  });

  it('of a well node that a request names is what follows', () => {
    const requestedBy = { kind: 'NodeFenceRemediation', name: 'r', uid: 'r-1', apiVersion: 'x/v1' };
    expect(beginning(snapshotOf(askedBy({ requestedBy }), { ready: 'True', readyReason: 'KubeletReady' }), [], 1)?.message).toBe(
      'Asked for by NodeFenceRemediation r. Ready is True (KubeletReady); isolation follows after isolation_delay.',
    );
  });
});
