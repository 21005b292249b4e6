import { describe, expect, it } from 'vitest';
import { readFence } from '../../src/controllers/shared/claims/fence-facts.ts';
import { MULTIPLE_TEMPLATES, NODE_NAME, PHASES, TIMED_OUT } from '../../src/controllers/node-remediation/names.ts';
import { contradictionOf, targetOf } from '../../src/controllers/node-remediation/target.ts';
import { decideTemplate } from '../../src/controllers/node-remediation/template.ts';
import { API, EPOCH_MS, MINUTE_MS, node, ownerMachine, request, SECOND_MS, World } from './world.ts';

const CAPI = { apiVersion: 'cluster.x-k8s.io/v1beta2', name: 'm', namespace: 'machines', nodeName: 'n' };
const OPENSHIFT = { ...CAPI, apiVersion: 'machine.openshift.io/v1beta1' };
const SLOW = { sentMs: 60 * SECOND_MS, offMs: 80 * SECOND_MS, finalMs: 120 * SECOND_MS, outcome: 'recovered' } as const;

describe('medik8s NodeHealthCheck, step by step', () => {
  /** As it creates requests: the node in an annotation, the name made up, its own label and owner. */
  function made(facts = {}, spec: unknown = {}): World {
    const annotations = { [NODE_NAME]: 'n', 'remediation.medik8s.io/template-name': 'template' };
    const own = request({ name: 'n-x7k2p', annotations, labels: { 'app.kubernetes.io/part-of': 'node-healthcheck-controller' }, ...facts }, spec);
    return new World({ request: own });
  }

  it('creates a request; Processing is True and Succeeded Unknown, then False and True; it deletes the request when the node is healthy', () => {
    const world = made();
    world.until('Fencing');
    expect([world.condition('Processing'), world.condition('Succeeded')]).toEqual(['True', 'Unknown']);
    world.until('Succeeded');
    expect([world.condition('Processing'), world.condition('Succeeded')]).toEqual(['False', 'True']);
    expect(world.condition('PermanentNodeDeletionExpected')).toBeUndefined();
    world.delete();
    world.run(MINUTE_MS);
    expect(world.request).toBeUndefined();
  });

  it('reads Succeeded=False as soon as nothing more is tried, and escalates', () => {
    const world = made({}, { retryLimit: 0 });
    world.until('Fencing');
    world.fence = { ...world.fence!, isStuck: true };
    world.until('Failed');
    expect([world.condition('Processing'), world.condition('Succeeded')]).toEqual(['False', 'False']);
  });

  it('never sees its request deleted by us', () => {
    const world = made();
    world.run(60 * MINUTE_MS);
    expect(world.request).toBeDefined();
  });

  it('times the request out before the off: nothing is begun any more, the fence is withdrawn, the request stays until it is deleted', () => {
    const annotations = { [NODE_NAME]: 'n' };
    const world = new World({ request: request({ annotations }), courses: [SLOW] });
    world.until('Fencing');
    world.annotate(TIMED_OUT, '2027-01-01T00:00:05Z');
    world.run(5 * MINUTE_MS);
    expect([world.condition('Processing'), world.condition('Succeeded')]).toEqual(['False', 'False']);
    expect(world.reasons()).toContain('RemediationStopped');
    expect(world).toMatchObject({ fence: undefined, isOn: true, fences: 1 });
    world.node = undefined;
    world.delete();
    world.run(MINUTE_MS);
    expect(world.request).toBeUndefined();
  });

  it('times the request out after the off: the fence brings the node back, and nothing is tried again', () => {
    const world = made();
    world.until('Recovering');
    world.annotate(TIMED_OUT);
    world.run(5 * MINUTE_MS);
    expect(world).toMatchObject({ isOn: true, fences: 1 });
    expect(world.own.phase).toBe('Stopped');
  });

  it('times nothing out that has succeeded', () => {
    const world = made();
    world.until('Succeeded');
    world.annotate(TIMED_OUT);
    world.run(MINUTE_MS);
    expect(world.condition('Succeeded')).toBe('True');
  });

  it('deletes the request of a node that is healthy again before the off: it is cancelled', () => {
    const world = new World({ request: request({ annotations: { [NODE_NAME]: 'n' } }), courses: [SLOW] });
    world.until('Fencing');
    world.delete();
    world.run(MINUTE_MS);
    expect(world).toMatchObject({ request: undefined, isOn: true });
  });

  it('is told PermanentNodeDeletionExpected when the instance is replaced by another', () => {
    const world = made();
    world.until('Recovering');
    world.fence = { ...world.fence!, isFinal: true, outcome: 'replaced' };
    world.until('Succeeded');
    expect(world.condition('PermanentNodeDeletionExpected')).toBe('True');
  });

  it('is told by events whose messages begin as those of all remediators do', () => {
    const world = made();
    world.run(5 * MINUTE_MS);
    const messages = world.done.flatMap(({ event }) => (event === undefined ? [] : [event.message]));
    expect(messages.length).toBeGreaterThan(1);
    for (const message of messages) expect(message).toMatch(/^\[remediation\] /);
  });

  it('finds on every template that several of a kind may be used', () => {
    const target = { apiVersion: API, kind: 'NodeFenceRemediationTemplate', name: 't', namespace: 'machines', uid: 'uid-t' };
    expect(decideTemplate(target, {})?.changes).toEqual([{ key: MULTIPLE_TEMPLATES, was: undefined, to: 'true' }]);
    expect(decideTemplate(target, { [MULTIPLE_TEMPLATES]: '' })).toBeUndefined();
  });
});

describe('Cluster API MachineHealthCheck, step by step', () => {
  it('creates a request with the name of the Machine; it is remediated, told on the Machine, and its mark is gone', () => {
    const machine = ownerMachine({ ...CAPI, annotations: { 'cluster.x-k8s.io/remediate-machine': '' } });
    const world = new World({ request: request({ name: 'm', labels: { 'cluster.x-k8s.io/cluster-name': 'c' } }), machine });
    world.until('Succeeded');
    expect(world.owner.annotations).toEqual({});
    const told = { type: 'ExternallyRemediated', status: 'True' };
    expect(world.owner).toMatchObject({ conditions: [told], olderConditions: [] });
    world.delete();
    world.run(MINUTE_MS);
    expect(world.request).toBeUndefined();
  });

  it('keeps the mark of a machine that stays off: it is not healthy', () => {
    const machine = ownerMachine({ ...CAPI, annotations: { 'cluster.x-k8s.io/remediate-machine': '' } });
    const world = new World({ request: request({ name: 'm' }, { strategy: 'fence' }), machine });
    world.until('Succeeded');
    expect(world.owner.annotations).toEqual({ 'cluster.x-k8s.io/remediate-machine': '' });
  });

  it('has no Machine replaced, and no host retired, for a request that can not be followed', () => {
    const spec = { strategy: 'escalate', nodeRemoval: 'DeleteNode', onExhaustion: 'Retire' };
    const world = new World({ request: request({ name: 'm' }, spec), machine: ownerMachine(CAPI) });
    world.run(MINUTE_MS);
    expect(world.own.phase).toBe('Failed');
    expect(world.reasons()).toEqual(['RemediationCannotStart']);
    expect(world.done.map(({ kind }) => kind)).toEqual(['status']);
    expect([...world.problems].join()).toContain('spec.nodeRemoval: DeleteNode goes with strategy fence alone');
  });

  it('has a Machine whose node never came up handed back to its owner, and nothing fenced', () => {
    const { nodeName: _nodeName, ...machine } = ownerMachine(CAPI);
    const world = new World({ request: request({ name: 'm' }, { strategy: 'escalate' }), machine, node: undefined });
    world.run(MINUTE_MS);
    expect(world.fences).toBe(0);
    expect(world.reasons()).toContain('RemediationCannotStart');
    expect(world.owner.conditions).toMatchObject([{ type: 'OwnerRemediated', status: 'False' }]);
  });

  it('ends with the Machine: its request does not outlive it', () => {
    const world = new World({ request: request({ name: 'm' }), machine: ownerMachine(CAPI) });
    world.until('Fencing');
    world.machine = 'gone';
    world.delete();
    world.run(MINUTE_MS);
    expect(world.request).toBeUndefined();
  });
});

describe('the node of a request', () => {
  it('is the one of the annotation, then the one of the owner, then the one of its own name', () => {
    const named = request({ name: 'm', annotations: { [NODE_NAME]: 'a' } });
    expect(targetOf(named, ownerMachine(OPENSHIFT))).toEqual({ node: 'a' });
    expect(targetOf(request({ name: 'm' }), ownerMachine(OPENSHIFT))).toEqual({ node: 'n' });
    expect(targetOf(request({ name: 'm' }), 'none')).toEqual({ node: 'm' });
  });

  it('is none while its Machine has none, whatever Node bears its name', () => {
    const { nodeName: _nodeName, ...machine } = ownerMachine(CAPI);
    expect(targetOf(request({ name: 'm' }), machine)).toBeUndefined();
    expect(targetOf(request({ name: 'm' }), 'gone')).toBeUndefined();
  });

  it('that the annotation and the Machine name differently is told of', () => {
    const named = request({ annotations: { [NODE_NAME]: 'a' } });
    expect(contradictionOf(named, ownerMachine(CAPI))).toBe("annotation remediation.medik8s.io/node-name names a, the Machine's nodeRef n");
    expect(contradictionOf(named, 'none')).toBeUndefined();
  });

  it('of Cluster API is in the cluster of its Machine, by the Secret that leads there', () => {
    const machine = ownerMachine({ ...CAPI, labels: { 'cluster.x-k8s.io/cluster-name': 'c' } });
    expect(targetOf(request({ name: 'm' }), machine)).toEqual({ node: 'n', ofCluster: { namespace: 'machines', name: 'c' } });
  });
});

describe('the seed’s own kind', () => {
  it('is the same request, of strategy escalate, with the seed’s finalizer', () => {
    const spec = { strategy: 'escalate', deleteAfterRetries: 10, powerOnTimeoutSeconds: 600, powerOffTimeoutSeconds: 120 };
    const own = request({ apiVersion: 'remediation.metal3.io/v1alpha1', kind: 'Metal3Remediation', name: 'm' }, spec);
    expect(own.problems).toEqual([]);
    expect(own.settings).toMatchObject({ strategy: 'escalate', retryLimit: 10, powerOnTimeoutMs: 600_000, powerOffTimeoutMs: 120_000 });
    const world = new World({ request: own, machine: ownerMachine(CAPI) });
    world.until('Succeeded');
    expect(world.own.finalizers).toEqual(['remediation.metal3.io']);
  });
});

describe('a NodeFence, as a request sees it', () => {
  const metadata = { name: 'node-fence-n', uid: 'uid-f' };
  const spec = { node: 'n', requestedBy: { apiVersion: API, kind: 'NodeFenceRemediation', namespace: 'machines', name: 'n', uid: 'uid-r' } };

  it('that nobody has begun yet has sent and proven nothing', () => {
    expect(readFence({ metadata, spec }, 'X')).toEqual({
      name: 'node-fence-n',
      uid: 'uid-f',
      requestedByUID: 'uid-r',
      owner: 'X',
      isDeleting: false,
      isFinal: false,
      isOffSent: false,
      isOff: false,
      isStuck: false,
    });
  });

  it('has every phase told by conditions', () => {
    expect(PHASES).toHaveLength(6);
    const world = new World({ node: node(), request: request({ conditions: [{ type: 'Other', status: 'True' }] }) });
    world.until('Succeeded');
    expect(world.own.conditions.map(({ type }) => type)).toEqual(['Other', 'Processing', 'Succeeded']);
    expect(world.own.conditions[1]?.lastTransitionTime).toMatch(/^2027-01-01T00:0\d:\d\dZ$/);
    expect(EPOCH_MS).toBe(Date.UTC(2027, 0, 1));
  });
});
