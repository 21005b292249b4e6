import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRESERVE, SCALE_DOWN_DISABLED } from '../../src/controllers/preservation/names.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { DEFINITIONS, ShellWorld } from './shell-world.ts';

const MINUTE_MS = 60_000;
const NODE = 'node-of-m1';
let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(() => world.end());

describe('a write of preservation that somebody undoes each time', { timeout: 60_000 }, () => {
  it('is made again now and then, and not as fast as it can be', async () => {
    await world.add('m1', { node: { [PRESERVE]: 'now' }, timeout: '72h' });
    const { writes } = world.start();
    for (let round = 0; round < 600; round += 1) {
      await world.annotateNode(NODE, { [SCALE_DOWN_DISABLED]: 'false' });
      await world.pass(100);
    }
    const before = writes.length;
    expect(before).toBeLessThan(60);
    await world.pass(MINUTE_MS, 5_000);
    expect((await world.node(NODE)).metadata.annotations?.[SCALE_DOWN_DISABLED]).toBe('true');
  });

  it('is told where the API server takes it and drops it, and tried again later and later', async () => {
    const name = 'machinesets.machine.sapcloud.io';
    const definition = (await world.machines.operator.get(DEFINITIONS, name)) as KubeObject & { spec: { versions: object[] } };
    const text = JSON.stringify(definition.spec)
      .replaceAll('"autoPreserveFailedMachineCount"', '"somethingElse"')
      .replaceAll('"preservedFailedReplicas"', '"another"')
      .replaceAll(',"x-kubernetes-preserve-unknown-fields":true', '');
    await world.machines.operator.mergePatch(DEFINITIONS, name, { spec: JSON.parse(text) as object });
    await world.add('m1', { set: 's', phase: 'Failed', ready: 'False', node: { [PRESERVE]: 'now' } });
    const { writes, controller } = world.start();
    await world.pass(MINUTE_MS);
    expect(writes.filter((write) => write.includes('/machinesets/')).length).toBeLessThan(10);
    expect(controller.problems().join()).toContain('the API server took the counts and changed nothing');
  });
});

describe('a drain that fails again and again for one reason', () => {
  it('is one line of the log', async () => {
    world.device = () => ({ doubt: 'the device reads on' });
    await world.add('m1', { phase: 'Failed', ready: 'False', machine: { [PRESERVE]: 'when-failed' } });
    await world.addPod('web', NODE, { isBudgeted: true });
    await world.fenced(NODE);
    const { problems } = world.start();
    await world.pass(20 * MINUTE_MS, 5_000);
    expect(problems.filter((problem) => problem.startsWith('node could not be drained'))).toHaveLength(1);
  });
});
