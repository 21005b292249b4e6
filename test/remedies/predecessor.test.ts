import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ActiveHold } from '../../src/domain/snapshot.ts';
import { DEADLOCK } from './configurations.ts';
import { RemedyShellWorld, SECOND_MS } from './shell-world.ts';

const STORM: ActiveHold = { policy: 'max-concurrent', reason: 'max-concurrent', message: '1 under way (a) of 1 at once' };

let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

async function running(): Promise<void> {
  await world.addNode('a');
  await world.configure(DEADLOCK);
  await world.pass(6 * SECOND_MS);
  await world.says('a', { KernelDeadlock: 'True' });
  await world.pass(33 * SECOND_MS);
}

it.each(['/api/v1/nodes/a', '/apis/ha.k8s.io/v1/nodefencereports/a'])(
  'what a predecessor began is counted also while %s cannot be read',
  async (path) => {
    const first = world.start();
    await running();
    await world.addNode('b');
    await first.close();
    world.unreadable.add(path);
    const counted: unknown[] = [];
    world.storm = (node, stages) => {
      if (node === 'b') counted.push(stages.get('a')?.kind);
      return stages.get('a')?.kind === 'begun' ? [STORM] : [];
    };
    world.start();
    await world.says('b', { KernelDeadlock: 'True' });
    await world.says('a', { Idle: 'True' });
    await world.pass(40 * SECOND_MS);
    expect(await world.position('b')).toMatch(/^(waiting|starting \S+) 1$/);
    expect(new Set(counted)).toEqual(new Set(['begun']));
  },
);
