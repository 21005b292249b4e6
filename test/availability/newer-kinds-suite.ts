import { afterAll, beforeAll, expect, it } from 'vitest';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Node } from '../../src/ports/objects.ts';
import { NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { until } from '../scenarios/waiting.ts';
import { changed, check, NODE_FENCE_DEFINITION, overwrite } from '../self-check/cases.ts';
import type { Site } from '../self-check/cases.ts';
import { clusterOf, lead } from './controller.ts';
import type { Running } from './controller.ts';

interface Part {
  properties?: Record<string, Part>;
  items?: Part;
  type?: string;
}

const FIELD = 'ofALaterVersion';

/** Fields are added, none is removed: that is what a later version may do to a kind that is served. */
const NEWER = changed(NODE_FENCE_DEFINITION, (schema) => {
  const { status, spec } = (schema as Part).properties ?? {};
  const entry = status?.properties?.['journal']?.items;
  for (const part of [status, spec, status?.properties?.['frozen'], status?.properties?.['timeline'], entry]) {
    if (part?.properties !== undefined) part.properties[FIELD] = { type: 'string' };
  }
});

/** An older controller under newer kinds, with an object that a newer one has written. */
export function newerKindsSuite(given: () => Site): void {
  let cluster: Cluster;
  let controller: Running;

  beforeAll(async () => {
    cluster = clusterOf(given().admin);
    await overwrite(given(), NEWER);
    await until('the newer kind is served', async () => ((await isKept(cluster)) ? true : undefined));
    controller = lead(given().controller, { identity: 'older' });
  });

  afterAll(async () => {
    await controller.stop();
    await cluster.remove(NODE_FENCE_STOPS, 'for-now');
    await overwrite(given(), NODE_FENCE_DEFINITION);
  });

  it('are taken as they are by the self-check of this version', async () => {
    expect(await check(given())).toBe('');
  });

  it('lose nothing that this version does not know, in a fence that it writes', async () => {
    const spec = { node: 'later', requestedBy: { apiVersion: 'v1', kind: 'Person', name: 'anna', uid: 'request-9' }, [FIELD]: 'kept' };
    const metadata = { name: 'later' };
    await cluster.create(NODE_FENCE_STOPS, {
      apiVersion: 'ha.k8s.io/v1',
      kind: 'NodeFenceStop',
      metadata: { name: 'for-now' },
      spec: { all: true, reason: 'r' },
    });
    await cluster.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata, spec: {} } as unknown as Node);
    await cluster.create(NODE_FENCES, { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: { name: fenceName('later') }, spec });
    const began = await until('it is taken up', async () => {
      const fence = await cluster.get(NODE_FENCES, fenceName('later'));
      return fence?.status?.hold?.policy === 'stop' ? fence : undefined;
    });
    const { status } = began;
    if (status?.frozen === undefined) throw new Error('nothing is frozen');
    const more = { [FIELD]: 'kept' };
    const written = { ...status, ...more, frozen: { ...status.frozen, ...more }, timeline: { ...status.timeline, ...more } } as NodeFenceStatus;
    await cluster.replaceStatus(NODE_FENCES, { ...began, status: written });
    await cluster.remove(NODE_FENCE_STOPS, 'for-now');
    const after = await until('this version has written it', async () => {
      const fence = await cluster.get(NODE_FENCES, fenceName('later'));
      return fence?.status !== undefined && fence.status.hold?.policy !== 'stop' ? fence : undefined;
    });
    expect(after.spec).toMatchObject(more);
    expect(after.status).toMatchObject({ ...more, frozen: more, timeline: more });
  });
}

async function isKept(cluster: Cluster): Promise<boolean> {
  const sample = { apiVersion: 'ha.k8s.io/v1', kind: 'NodeFence', metadata: { name: fenceName('sample') }, spec: { node: 'sample', [FIELD]: 'x' } };
  const made = await cluster.create(NODE_FENCES, sample);
  await cluster.remove(NODE_FENCES, made.metadata.name);
  return FIELD in made.spec;
}
