import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { DEFAULT_TIMING, EMPTY_PLAN } from '../../src/domain/plan.ts';
import { TAKEN_UP_AS } from '../../src/domain/restored.ts';
import { ApiStatusError } from '../../src/ports/api-transport.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Node } from '../../src/ports/objects.ts';
import { NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { until } from '../scenarios/waiting.ts';
import type { Site } from '../self-check/cases.ts';
import { clusterOf, lead } from './controller.ts';
import type { Running } from './controller.ts';

const LONG_AGO = '2026-01-01T00:00:00Z';
const PERSON = { apiVersion: 'v1', kind: 'Person', name: 'anna', uid: 'request-1' };
const STOP = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFenceStop', metadata: { name: 'not-now' }, spec: { all: true, reason: 'backup' } };
const MACHINE = ['machineID', 'kernelVersion', 'osImage', 'containerRuntimeVersion', 'kubeletVersion', 'kubeProxyVersion', 'architecture'];

/** A tool of backups: it makes the object anew from what it kept, and writes the status where it is told to. */
async function restore(cluster: Cluster, kept: NodeFence, withStatus: boolean): Promise<NodeFence> {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, deletionTimestamp: _end, ...metadata } = kept.metadata;
  const made = await cluster.create(NODE_FENCES, { ...kept, metadata });
  // The controller may have let it go already, by its mark.
  if (withStatus && kept.status !== undefined) await cluster.replaceStatus(NODE_FENCES, { ...made, status: kept.status }).catch(unlessRefused);
  return made;
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof ApiStatusError) || (error.status !== 404 && error.status !== 409)) throw error;
}

async function gone(cluster: Cluster, { metadata }: NodeFence): Promise<true | undefined> {
  return (await cluster.get(NODE_FENCES, metadata.name))?.metadata.uid === metadata.uid ? undefined : true;
}

/** What a backup may bring, on whichever server: a NodeFence of another time. */
export function restoreSuite(given: () => Site): void {
  let cluster: Cluster;
  let controller: Running;

  async function node(ready: 'True' | 'Unknown'): Promise<Node> {
    const made = await cluster.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: {} } as unknown as Node);
    const nodeInfo = { ...Object.fromEntries(MACHINE.map((name) => [name, ''])), operatingSystem: 'linux', bootID: 'boot-2', systemUUID: 'uuid-1' };
    const condition = { type: 'Ready', status: ready, reason: 'r', message: '', lastTransitionTime: LONG_AGO, lastHeartbeatTime: LONG_AGO };
    const status = { nodeInfo, conditions: [condition] };
    await cluster.mergePatch(NODES, made.metadata.name, { status }, { subresource: 'status' });
    return made;
  }

  /** As a fence stood when a person's word had just become the proof of it. */
  function proven(nodeUID: string, fenceUID: string): NodeFenceStatus {
    const evidence = { kind: 'ack', grade: 'person', source: 'word-1', detail: 'I looked', observedAt: LONG_AGO, bootID: 'boot-1' } as const;
    const plan = { ...EMPTY_PLAN, timing: DEFAULT_TIMING };
    const counts = { level: 1, incident: 4, epoch: 1, retries: 0, restarts: 0 };
    const lists = {
      jobs: [],
      journal: [],
      evidence: [evidence],
      timeline: { failedAt: LONG_AGO, isolatedAt: LONG_AGO },
      conditions: [],
      history: [],
    };
    return { fenceUID, state: 'running', step: 'power-management', ...counts, frozen: { nodeUID, bootID: 'boot-1', plan }, ...lists };
  }

  function untouched(now: Node | undefined): object {
    return { isCordoned: now?.spec.unschedulable === true, taints: (now?.spec.taints ?? []).filter(({ key }) => key.includes('out-of-service')) };
  }

  beforeAll(() => {
    cluster = clusterOf(given().admin);
    controller = lead(given().controller);
  });

  afterEach(async () => {
    await cluster.remove(NODE_FENCE_STOPS, STOP.metadata.name);
    await cluster.remove(NODE_FENCES, fenceName('a'));
    await until('nothing is left', async () => ((await cluster.get(NODE_FENCES, fenceName('a'))) === undefined ? true : undefined));
    await cluster.remove(NODES, 'a');
  });

  afterAll(() => controller.stop());

  it.each([false, true])('a request that was taken up before fences no healthy node when it is restored (its status too: %s)', async (withStatus) => {
    await node('True');
    await cluster.create(NODE_FENCE_STOPS, STOP);
    const asked = { node: 'a', requestedBy: PERSON };
    await cluster.create(NODE_FENCES, { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: { name: fenceName('a') }, spec: asked });
    const kept = await until('it is taken up', async () => {
      const fence = await cluster.get(NODE_FENCES, fenceName('a'));
      return fence?.status?.trigger?.requestUID === 'request-1' ? fence : undefined;
    });
    expect(kept.metadata.annotations?.[TAKEN_UP_AS]).toBe(kept.metadata.uid);
    expect(kept.status?.fenceUID).toBe(kept.metadata.uid);
    await cluster.remove(NODE_FENCE_STOPS, STOP.metadata.name);
    await cluster.remove(NODE_FENCES, fenceName('a'));
    await until('it is gone', () => gone(cluster, kept));
    const before = untouched(await cluster.get(NODES, 'a'));

    const made = await restore(cluster, kept, withStatus);
    await until('the restored one is gone', () => gone(cluster, made));
    expect(controller.events.filter((event) => event.startsWith('RestoredFenceRemoved')).join()).toContain('Its request counts no more');
    expect(await cluster.get(NODE_FENCES, fenceName('a'))).toBeUndefined();
    expect(untouched(await cluster.get(NODES, 'a'))).toEqual(before);
  });

  it('a proof of another object releases nothing when its status is written over a fence', async () => {
    const made = await node('Unknown');
    await cluster.create(NODE_FENCE_STOPS, STOP);
    const own = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: { name: fenceName('a') }, spec: { node: 'a' } };
    const first = await cluster.create(NODE_FENCES, own);
    const status = proven(made.metadata.uid ?? '', 'another');
    await until('the status is written', async () => {
      const standing = await cluster.get(NODE_FENCES, fenceName('a'));
      if (standing?.metadata.uid !== first.metadata.uid) return true;
      await cluster.replaceStatus(NODE_FENCES, { ...first, ...standing, status }).catch(unlessRefused);
      return undefined;
    });
    expect(controller.events.join()).toContain('RestoredFenceRemoved');
    expect(untouched(await cluster.get(NODES, 'a'))).toEqual({ isCordoned: false, taints: [] });
  });
}
