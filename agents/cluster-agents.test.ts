import { AUTOSCALER_MARK, CORDON_MARK, SCALE_DOWN_DISABLED } from '../src/domain/node-fence.ts';
import { describe, expect, it } from 'vitest';

import { AgentError, type ActionAgent, type AgentDefinition, type Parameters, type Target } from '../src/ports/agents.ts';
import { ApiStatusError, TransportError } from '../src/ports/api-transport.ts';
import { failureOf } from '../src/ports/jobs.ts';
import type { Cluster, PatchOptions, Resource } from '../src/ports/cluster.ts';
import type { KubeObject, Node, Taint } from '../src/ports/objects.ts';
import { CORDON_BY_PRESERVATION } from '../src/ports/preservation.ts';
import { ManualClock } from '../src/runtime/manual-clock.ts';
import { cordon } from './cordon/agent.ts';
import { taint } from './taint/agent.ts';
import { uncordon } from './uncordon/agent.ts';

/** RFC 7386. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result[key] = undefined;
    else result[key] = merged(result[key], value);
  }
  return JSON.parse(JSON.stringify(result)) as unknown;
}

/** One Node behind the Cluster port, with compare-and-swap; `before` runs before each patch is looked at, `after` as a webhook that changes what is stored. */
class OneNode {
  node: Node | undefined;
  patches: unknown[] = [];
  reads = 0;
  before: () => void = () => undefined;
  after: () => void = () => undefined;
  failure: Error | undefined;

  constructor(node: Partial<Node['spec']> = {}, annotations: Record<string, string> = {}) {
    this.node = { metadata: { name: 'a', uid: 'u', resourceVersion: '1', annotations }, spec: node, status: {} };
  }

  get<T extends KubeObject>(): Promise<T | undefined> {
    this.reads += 1;
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return Promise.resolve(structuredClone(this.node) as unknown as T | undefined);
  }

  async mergePatch<T extends KubeObject>(_resource: Resource<T>, _name: string, patch: object, options?: PatchOptions): Promise<T> {
    options?.beforeSend?.();
    this.before();
    const { resourceVersion } = (patch as { metadata: { resourceVersion?: string } }).metadata;
    if (this.node?.metadata.resourceVersion !== resourceVersion)
      return Promise.reject(new ApiStatusError(409, 'Conflict', 'the object has been modified'));
    this.patches.push(patch);
    this.touch(merged(this.node, patch) as Node);
    this.after();
    return Promise.resolve(structuredClone(this.node) as unknown as T);
  }

  touch(node: Node | undefined = this.node): void {
    if (node === undefined) return;
    this.node = { ...node, metadata: { ...node.metadata, resourceVersion: String(Number(this.node?.metadata.resourceVersion) + 1) } };
  }
}

async function agentOf(definition: AgentDefinition, cluster: OneNode): Promise<ActionAgent> {
  const agent = await definition.create({ cluster: cluster as unknown as Cluster, clock: new ManualClock() });
  if (agent.kind !== 'action') throw new Error('not an action');
  return agent;
}

function target(parameters: Parameters = {}, overrides: Partial<Target> = {}): Target {
  return {
    plug: '',
    device: '',
    parameters,
    identity: { node: 'a' },
    signal: new AbortController().signal,
    deadlineMs: 1_000,
    beforeSend: () => undefined,
    ...overrides,
  };
}

const marked = { [CORDON_MARK]: 'node-fence-a' };
const keptAway = { [SCALE_DOWN_DISABLED]: 'true', [AUTOSCALER_MARK]: 'node-fence-a' };

describe('cordon', () => {
  it('makes the Node unschedulable with our mark, once', async () => {
    const cluster = new OneNode({}, { other: 'stays' });
    const agent = await agentOf(cordon, cluster);
    expect(await agent.confirm(target())).toBe(false);
    await agent.run(target());
    await agent.run(target());
    expect(cluster.node?.spec.unschedulable).toBe(true);
    expect(cluster.node?.metadata.annotations).toEqual({ other: 'stays', ...marked, ...keptAway });
    expect(cluster.patches).toHaveLength(1);
    expect(await agent.confirm(target())).toBe(true);
  });

  it('leaves the cordon of an admin as it is, without a mark', async () => {
    const cluster = new OneNode({ unschedulable: true });
    const outcome = await (await agentOf(cordon, cluster)).run(target());
    expect(outcome.detail).toContain('somebody else');
    expect(cluster.node?.metadata.annotations, 'only the autoscaler is told').toEqual(keptAway);
    await (await agentOf(uncordon, cluster)).run(target());
    expect(cluster.node?.spec.unschedulable).toBe(true);
    expect(cluster.node?.metadata.annotations).toEqual({});
  });

  it('says that a cordon is of preservation where it is, and leaves it alone as well', async () => {
    const cluster = new OneNode({ unschedulable: true }, { [CORDON_BY_PRESERVATION]: 'true' });
    expect(await (await agentOf(cordon, cluster)).run(target())).toMatchObject({ detail: 'already cordoned by preservation; left alone' });
  });

  it('says that a cordon is of a remedy where it is, and leaves it alone as well', async () => {
    const cluster = new OneNode({ unschedulable: true }, { 'nodefence.ha.k8s.io/cordoned-by-remedy': 'r-1' });
    expect(await (await agentOf(cordon, cluster)).run(target())).toMatchObject({ detail: 'already cordoned by a remedy; left alone' });
  });

  it('does not mark the cordon of an admin who was faster', async () => {
    const cluster = new OneNode();
    cluster.before = () => {
      cluster.before = () => undefined;
      cluster.touch({ ...cluster.node!, spec: { unschedulable: true } });
    };
    await (await agentOf(cordon, cluster)).run(target());
    expect(cluster.node?.metadata.annotations).toEqual(keptAway);
  });

  it('is not done where a webhook takes it away: what the server stored counts', async () => {
    const cluster = new OneNode();
    cluster.after = () => cluster.touch({ ...cluster.node!, spec: {} });
    await expect((await agentOf(cordon, cluster)).run(target())).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('reads the Node once, and not at all where it was read ahead', async () => {
    const cluster = new OneNode();
    const agent = await agentOf(cordon, cluster);
    await agent.run(target());
    expect(cluster.reads).toBe(1);
    expect(cluster.patches).toHaveLength(1);
    expect(await agent.run(target({}, { standing: cluster.get<Node>() }))).toEqual({ result: 'accepted', detail: 'already cordoned by this fence' });
    expect(cluster.reads).toBe(2);
  });

  it('starts again from a read of its own where the Node has changed since it was read ahead', async () => {
    const cluster = new OneNode();
    const standing = cluster.get<Node>();
    cluster.touch({ ...cluster.node!, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });
    expect(await (await agentOf(cordon, cluster)).run(target({}, { standing }))).toEqual({ result: 'accepted', detail: 'cordoned' });
    expect(cluster.node?.spec).toEqual({ taints: [{ key: 'k', effect: 'NoSchedule' }], unschedulable: true });
    expect(cluster.reads).toBe(2);
  });

  it('leaves another Node alone that was created under its name in between', async () => {
    const cluster = new OneNode();
    cluster.before = () => {
      cluster.before = () => undefined;
      cluster.node = { metadata: { name: 'a', uid: 'of-another', resourceVersion: '7' }, spec: {}, status: {} };
    };
    const agent = await agentOf(cordon, cluster);
    await expect(agent.run(target())).rejects.toMatchObject({ kind: 'Refused' });
    expect(cluster.patches).toEqual([]);
  });

  it('tells of a read ahead that failed as of its own', async () => {
    const agent = await agentOf(cordon, new OneNode());
    const standing = Promise.reject(new TransportError('timeout', 'no answer'));
    await expect(agent.run(target({}, { standing }))).rejects.toMatchObject({ kind: 'Timeout' });
    await expect(agent.run(target({}, { standing: Promise.resolve(undefined) }))).rejects.toMatchObject({ kind: 'Refused' });
  });

  it('is confirmed by a cordon of whomever: the mark is no part of it', async () => {
    const agent = await agentOf(cordon, new OneNode({ unschedulable: true }));
    expect(await agent.confirm(target())).toBe(true);
    expect(await (await agentOf(cordon, new OneNode({}, marked))).confirm(target())).toBe(false);
  });

  it('neither changes nor claims what somebody else has told the autoscaler', async () => {
    const theirs = { [SCALE_DOWN_DISABLED]: 'false' };
    const cluster = new OneNode({}, theirs);
    await (await agentOf(cordon, cluster)).run(target());
    expect(cluster.node?.metadata.annotations).toEqual({ ...theirs, ...marked });
    await (await agentOf(uncordon, cluster)).run(target());
    expect(cluster.node?.metadata.annotations).toEqual(theirs);
  });

  it('sends nothing when the lease check throws or the call was given up', async () => {
    const cluster = new OneNode();
    const agent = await agentOf(cordon, cluster);
    const beforeSend = (): never => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: 'cordon', answered: 'no lease' });
    };
    await expect(agent.run(target({}, { beforeSend }))).rejects.toMatchObject({ kind: 'NotSent' });
    await expect(agent.run(target({}, { signal: AbortSignal.abort() }))).rejects.toMatchObject({ kind: 'NotSent' });
    expect(cluster.patches).toEqual([]);
  });

  it('asks for the lease again for each try, and gives up in the end', async () => {
    const cluster = new OneNode();
    cluster.before = () => cluster.touch();
    let checks = 0;
    await expect((await agentOf(cordon, cluster)).run(target({}, { beforeSend: () => void (checks += 1) }))).rejects.toMatchObject({
      kind: 'Refused',
    });
    expect(checks).toBe(8);
  });

  it.each([
    [new ApiStatusError(403, 'Forbidden', 'may not'), 'Refused'],
    [new ApiStatusError(422, 'Invalid', 'no'), 'Refused'],
    [new ApiStatusError(429, 'TooManyRequests', 'later'), 'Unreachable'],
    [new ApiStatusError(500, 'InternalError', 'oh'), 'Unreachable'],
    [new TransportError('timeout', 'no answer'), 'Timeout'],
    [new TransportError('unreachable', 'no route'), 'Unreachable'],
  ])('calls %s %s', async (failure, kind) => {
    const cluster = new OneNode();
    cluster.failure = failure;
    const error: unknown = await (await agentOf(cordon, cluster)).run(target()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind, facts: { device: 'Kubernetes API' } });
    // A server that comes up denies everybody: the fence bears that for a while.
    expect(failureOf(error).isDenied).toBe(failure instanceof ApiStatusError && failure.status === 403 ? true : undefined);
  });

  it('is refused for a Node that is gone', async () => {
    const cluster = new OneNode();
    cluster.node = undefined;
    await expect((await agentOf(cordon, cluster)).run(target())).rejects.toMatchObject({ kind: 'Refused' });
  });
});

describe('uncordon', () => {
  it('takes back our cordon with its mark and nothing else', async () => {
    const taints: Taint[] = [{ key: 'example.org/x', effect: 'NoSchedule' }];
    const cluster = new OneNode({ unschedulable: true, taints }, { ...marked, other: 'stays' });
    const agent = await agentOf(uncordon, cluster);
    expect(await agent.confirm(target())).toBe(false);
    await agent.run(target());
    expect(cluster.node?.spec).toEqual({ taints });
    expect(cluster.node?.metadata.annotations).toEqual({ other: 'stays' });
    expect(await agent.confirm(target())).toBe(true);
  });

  it.each([
    ['by whom nothing is told', undefined, undefined],
    ['that the same writer set as its mark', 'nodefence', undefined],
    ['of somebody who took ours away and set another', 'kubectl', true],
  ])('goes by our mark, and by what the API server tells of the writers: a cordon %s', async (_words, manager, unschedulable) => {
    const cluster = new OneNode({ unschedulable: true }, { [CORDON_MARK]: 'node-fence-a' });
    const marked = { manager: 'nodefence', fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${CORDON_MARK}`]: {} } } } };
    const managedFields = [
      marked,
      { manager: 'kubelet', fieldsV1: {} },
      { manager: manager ?? '', fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } },
    ];
    if (cluster.node !== undefined && manager !== undefined) cluster.node.metadata.managedFields = managedFields;
    const agent = await agentOf(uncordon, cluster);
    await agent.run(target());
    expect(cluster.node?.spec.unschedulable).toBe(unschedulable);
    expect(cluster.node?.metadata.annotations?.[CORDON_MARK]).toBeUndefined();
    expect(await agent.confirm(target())).toBe(true);
  });

  it.each(['nodefence.ha.k8s.io/cordoned-by-remedy', 'ha.k8s.io/preserve-cordoned'])(
    'leaves the cordon that another of us set after a person had taken ours away: %s',
    async (other) => {
      const cluster = new OneNode({ unschedulable: true }, { ...marked, [other]: 'true' });
      await (await agentOf(uncordon, cluster)).run(target());
      expect(cluster.node?.spec.unschedulable).toBe(true);
      expect(cluster.node?.metadata.annotations).toEqual({ [other]: 'true' });
    },
  );

  it('lets the autoscaler back, but not where somebody has changed our word meanwhile', async () => {
    const cluster = new OneNode({}, { ...keptAway, [SCALE_DOWN_DISABLED]: 'never' });
    const agent = await agentOf(uncordon, cluster);
    expect(await agent.confirm(target())).toBe(false);
    expect((await agent.run(target())).detail).toBe('was not cordoned by this fence');
    expect(cluster.node?.metadata.annotations).toEqual({ [SCALE_DOWN_DISABLED]: 'never' });
    expect(await agent.confirm(target())).toBe(true);
  });

  it('is not done where a webhook puts our mark back: what the server stored counts', async () => {
    const cluster = new OneNode({ unschedulable: true }, marked);
    cluster.after = () => cluster.touch({ ...cluster.node!, metadata: { ...cluster.node!.metadata, annotations: marked } });
    await expect((await agentOf(uncordon, cluster)).run(target())).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('takes back the cordon and the word to the autoscaler together', async () => {
    const cluster = new OneNode({ unschedulable: true }, { ...marked, ...keptAway });
    expect(await (await agentOf(uncordon, cluster)).run(target())).toEqual({ result: 'accepted', detail: 'uncordoned' });
    expect(cluster.node).toMatchObject({ metadata: { annotations: {} }, spec: {} });
    expect(cluster.patches).toHaveLength(1);
  });

  it('tells that a Node stays cordoned by somebody else', async () => {
    const cluster = new OneNode({ unschedulable: true }, keptAway);
    expect((await (await agentOf(uncordon, cluster)).run(target())).detail).toBe('still cordoned by somebody else; left alone');
  });

  it('leaves what carries the mark of another fence', async () => {
    const cluster = new OneNode({ unschedulable: true }, { [CORDON_MARK]: 'node-fence-b' });
    await (await agentOf(uncordon, cluster)).run(target());
    expect(cluster.node?.spec.unschedulable).toBe(true);
    expect(cluster.patches).toEqual([]);
  });
});

describe('taint', () => {
  const ours = { key: 'example.org/fenced', value: 'yes', effect: 'NoExecute' };

  it('adds its taint to those of others, and takes back only its own', async () => {
    const others: Taint[] = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }];
    const cluster = new OneNode({ taints: others });
    const agent = await agentOf(taint, cluster);
    await agent.run(target(ours));
    expect(cluster.node?.spec.taints).toEqual([...others, { key: ours.key, value: 'yes', effect: 'NoExecute' }]);
    expect(await agent.confirm(target(ours))).toBe(true);
    await agent.run(target({ ...ours, state: 'absent' }));
    expect(cluster.node?.spec.taints).toEqual(others);
    expect(cluster.node?.metadata.annotations).toEqual({});
    expect(await agent.confirm(target({ ...ours, state: 'absent' }))).toBe(true);
  });

  it('keeps a taint that the node lifecycle controller adds in between', async () => {
    const cluster = new OneNode();
    const added: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    cluster.before = () => {
      cluster.before = () => undefined;
      cluster.touch({ ...cluster.node!, spec: { taints: [added] } });
    };
    await (await agentOf(taint, cluster)).run(target(ours));
    expect(cluster.node?.spec.taints).toEqual([added, { key: ours.key, value: 'yes', effect: 'NoExecute' }]);
  });

  it('is not done where a webhook removes it, or puts ours back: what the server stored counts', async () => {
    const cluster = new OneNode();
    cluster.after = () => cluster.touch({ ...cluster.node!, spec: {} });
    const agent = await agentOf(taint, cluster);
    await expect(agent.run(target(ours))).rejects.toMatchObject({ kind: 'Unreachable' });
    const { annotations } = cluster.node!.metadata;
    cluster.after = () => cluster.touch({ ...cluster.node!, metadata: { ...cluster.node!.metadata, annotations: annotations! } });
    await expect(agent.run(target({ ...ours, state: 'absent' }))).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('is one of several of ours: each has its mark, and goes alone', async () => {
    const second = { ...ours, key: 'example.org/second', effect: 'NoSchedule' };
    const cluster = new OneNode();
    const agent = await agentOf(taint, cluster);
    await agent.run(target(ours));
    await agent.run(target(second));
    await agent.run(target({ ...ours, state: 'absent' }));
    expect(cluster.node?.spec.taints).toEqual([{ key: second.key, value: 'yes', effect: 'NoSchedule' }]);
    expect(await agent.confirm(target({ ...second, state: 'absent' }))).toBe(false);
    await agent.run(target({ ...second, state: 'absent' }));
    expect(cluster.node).toMatchObject({ metadata: { annotations: {} }, spec: {} });
  });

  it('is another one with another effect', async () => {
    const theirs: Taint = { key: ours.key, value: 'theirs', effect: 'NoSchedule' };
    const cluster = new OneNode({ taints: [theirs] });
    const agent = await agentOf(taint, cluster);
    await agent.run(target(ours));
    await agent.run(target({ ...ours, state: 'absent' }));
    expect(cluster.node?.spec.taints).toEqual([theirs]);
  });

  it('is neither confirmed nor removed once somebody gave it another value', async () => {
    const cluster = new OneNode();
    const agent = await agentOf(taint, cluster);
    await agent.run(target(ours));
    const changed: Taint = { key: ours.key, value: 'other', effect: 'NoExecute' };
    cluster.touch({ ...cluster.node!, spec: { taints: [changed] } });
    expect(await agent.confirm(target(ours))).toBe(false);
    await agent.run(target({ ...ours, state: 'absent' }));
    expect(cluster.node?.spec.taints).toEqual([changed]);
    expect(cluster.node?.metadata.annotations).toEqual({});
  });

  it('leaves the same taint of an admin, and does not take it back', async () => {
    const cluster = new OneNode({ taints: [{ key: ours.key, value: 'yes', effect: 'NoExecute' }] });
    const agent = await agentOf(taint, cluster);
    await agent.run(target(ours));
    await agent.run(target({ ...ours, state: 'absent' }));
    expect(cluster.patches).toEqual([]);
  });

  it('refuses to replace the value that somebody else set', async () => {
    const cluster = new OneNode({ taints: [{ key: ours.key, value: 'other', effect: 'NoExecute' }] });
    await expect((await agentOf(taint, cluster)).run(target(ours))).rejects.toMatchObject({ kind: 'Refused' });
  });

  it('does not take the release taint: only evidence sets that', async () => {
    const parameters = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
    expect(taint.check(parameters, true)[0]?.message).toContain('evidence');
    await expect((await agentOf(taint, new OneNode())).run(target(parameters))).rejects.toMatchObject({ kind: 'Misconfigured' });
  });

  it.each([{ effect: 'Never' }, { key: '/x' }, { key: 'a b' }, { value: '-' }, { state: 'gone' }])('refuses %o', (parameters) => {
    expect(taint.check(parameters, true)).toHaveLength(1);
  });
});
