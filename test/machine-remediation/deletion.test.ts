import { describe, expect, it } from 'vitest';
import { perform } from '../../src/controllers/machine-remediation/perform.ts';
import type { Observation } from '../../src/controllers/machine-remediation/observe.ts';
import { Conflict } from '../../src/controllers/shared/conflict.ts';
import { ReadObjects } from '../../src/controllers/shared/baremetal-host/write.ts';
import { MINUTE_MS, World } from './world.ts';

const TARGET = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'Machine', namespace: 'machines', name: 'm', uid: 'uid-m' };

/** What is asked of the API server when the Machine is deleted that stands under the name. */
async function deleted(uid = TARGET.uid): Promise<unknown[]> {
  const asked: unknown[] = [];
  const objects = new ReadObjects();
  objects.put(TARGET, { metadata: { name: 'm', namespace: 'machines', uid, resourceVersion: '77' } });
  const remove = (_resource: unknown, name: string, options: object): Promise<boolean> => {
    asked.push({ name, ...options });
    return Promise.resolve(true);
  };
  const performer = {
    cluster: { list: () => Promise.resolve([]), remove },
    recorder: { event: () => undefined },
    life: undefined,
  } as unknown as Parameters<typeof perform>[0];
  await perform(performer, { objects } as unknown as Observation, { kind: 'delete-machine', target: TARGET });
  return asked;
}

describe('the deletion of a Machine', () => {
  it('is asked for under the uid and the version that it was decided for', async () => {
    expect(await deleted()).toEqual([{ name: 'm', namespace: 'machines', uid: 'uid-m', resourceVersion: '77' }]);
  });

  it('is not asked for where another one stands under its name', async () => {
    await expect(deleted('uid-of-another')).rejects.toBeInstanceOf(Conflict);
  });

  it('waits for every hold, and follows when it ends', () => {
    const world = new World();
    world.isBroken = true;
    world.run(2 * MINUTE_MS);
    world.holds = [{ reason: 'storm', message: 'too many', isStop: false }];
    world.run(60 * MINUTE_MS);
    expect(world.machine).toBeDefined();
    expect(world.kinds()).not.toContain('MachineDeleted');
    world.holds = [];
    world.run(MINUTE_MS);
    expect(world.machine).toBeUndefined();
  });
});
