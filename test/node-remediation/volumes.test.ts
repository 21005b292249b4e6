import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODES, VOLUME_ATTACHMENTS } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const VOLUME = 'csi-data-n';
let world: ShellWorld;
const off = () => ({ evidence: world.proof(), journal: [] });

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

/** Fenced for good; released by the taint, and a volume is still being taken from it. */
async function fencedOff(): Promise<ReturnType<ShellWorld['start']>> {
  await world.addNode('n');
  const replica = world.start();
  await world.request({ spec: { strategy: 'fence', nodeRemoval: 'DeleteNode' } });
  await world.pass(5 * SECOND_MS);
  await world.fenced('n', off());
  await world.pass(6 * SECOND_MS);
  await world.fenced('n', { ...off(), state: 'final', outcome: 'fenced-off', timeline: { finalAt: world.now() } });
  const spec = { attacher: 'csi', nodeName: 'n', source: { persistentVolumeName: 'data' } };
  await world.own.operator.create(VOLUME_ATTACHMENTS, { metadata: { name: VOLUME }, spec });
  const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
  await world.own.operator.mergePatch(NODES, 'n', { spec: { taints } });
  return replica;
}

describe('a Node that goes for good', () => {
  it('goes as soon as its volumes are detached', async () => {
    await fencedOff();
    await world.pass(80 * SECOND_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
    await world.own.operator.remove(VOLUME_ATTACHMENTS, VOLUME);
    await world.pass(10 * SECOND_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeUndefined();
  });

  it('goes with those that are not detached in two minutes, and a person is told', async () => {
    const { events } = await fencedOff();
    await world.pass(100 * SECOND_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeDefined();
    await world.pass(MINUTE_MS);
    expect(await world.own.operator.get(NODES, 'n')).toBeUndefined();
    expect(events.join()).toContain('node n is deleted while 1 volume of it is still attached, after a wait of 120 s');
  });
});
