import { afterEach, describe, expect, it } from 'vitest';
import { CORDON_MARK } from '../../src/domain/node-fence.ts';
import { NODES } from '../../src/ports/resources.ts';
import { node as nodeOfMetal3, World as Metal3World } from '../metal3-remediation/world.ts';
import { ShellWorld } from './shell-world.ts';
import { machine, MINUTE_MS, node, SECOND_MS, World } from './world.ts';

describe('the cordon of a Node that is deleted', () => {
  it('is there again when the Node is back, and nothing of it is left on the Machine', () => {
    const world = new World({ node: node({ isUnschedulable: true }) });
    world.run(10 * MINUTE_MS);
    expect(world.node).toMatchObject({ uid: 'uid-n-2', isUnschedulable: true });
    expect(world.machine?.annotations).toEqual({ 'metal3.io/BareMetalHost': 'metal/host' });
  });

  it('is there again for a Metal3Remediation too', () => {
    const world = new Metal3World({ node: nodeOfMetal3({ isUnschedulable: true }) });
    world.run(10 * MINUTE_MS);
    expect(world.node).toMatchObject({ uid: 'uid-n-2', isUnschedulable: true });
    expect(world.own.annotations).toEqual({});
  });

  it('is not where a fence of ours had set it, nor where there was none', () => {
    const fenced = node({ isUnschedulable: true, annotations: { [CORDON_MARK]: 'node-fence-n' } });
    for (const before of [fenced, node()]) {
      const world = new World({ node: before });
      world.run(10 * MINUTE_MS);
      expect(world.node?.uid).toBe('uid-n-2');
      expect(world.node?.isUnschedulable).toBeUndefined();
    }
  });

  it('waits with what else was kept for a Node that comes late', () => {
    const world = new World({ node: node({ isUnschedulable: true }), machine: machine({ hasController: false }) });
    world.isBroken = true;
    world.run(40 * MINUTE_MS);
    world.isBroken = false;
    world.run(5 * MINUTE_MS);
    expect(world.node).toMatchObject({ uid: 'uid-n-2', isUnschedulable: true });
  });
});

describe('the cordon of a Node that is deleted, at the API server', { timeout: 60_000 }, () => {
  let world: ShellWorld;

  afterEach(async () => {
    await world.end();
  });

  it('is there again', async () => {
    world = await ShellWorld.create();
    await world.operator.mergePatch(NODES, 'n1', { spec: { unschedulable: true } });
    world.start();
    await world.pass(30 * SECOND_MS);
    const before = await world.node('n1');
    world.hardware('n1').isBroken = true;
    await world.pass(MINUTE_MS);
    await world.ask('n1');
    await world.pass(MINUTE_MS);
    world.hardware('n1').isBroken = false;
    await world.pass(3 * MINUTE_MS);
    const after = await world.node('n1');
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after?.spec.unschedulable).toBe(true);
    expect(await world.left('n1')).toEqual([]);
  });
});
