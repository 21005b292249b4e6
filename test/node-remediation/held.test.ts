import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, request, SECOND_MS, World } from './world.ts';

const NEVER_OFF = { sentMs: 10 * SECOND_MS };

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

async function isWithdrawn(): Promise<boolean> {
  const fence = await world.fence('n');
  return fence === undefined || fence.metadata.deletionTimestamp !== undefined;
}

describe('a request whose fence was held for longer than its time', { timeout: 60_000 }, () => {
  it.each([
    ['at once', 0, 90],
    ['in the midst of its time', 60, 30],
  ])('%s has behind the hold what was left of it, and no more', async (_when, beforeSeconds, leftSeconds) => {
    await world.addNode('n');
    const owner = await world.addMachine('m', 'n');
    const { events } = world.start();
    await world.request({ name: 'm', owner, spec: { timeoutSeconds: 100, retryLimit: 1 } });
    await world.pass(5 * SECOND_MS);
    await world.fenced('n', {});
    await world.pass(beforeSeconds * SECOND_MS);
    await world.fenced('n', { hold: { policy: 'preservation', reason: 'preserved', message: 'somebody looks at it', since: world.now() } });
    await world.pass(10 * MINUTE_MS);
    expect(await isWithdrawn(), 'it is held').toBe(false);
    await world.fenced('n', {});
    await world.pass((leftSeconds - 10) * SECOND_MS);
    expect(await isWithdrawn(), 'its time is not over').toBe(false);
    await world.pass(40 * SECOND_MS);
    expect(await isWithdrawn(), 'its time is over').toBe(true);
    expect(events.join('\n')).toContain('its node is not proven off in time');
  });
});

describe('a request that is deleted', () => {
  it('says that its fence is not let go where that takes longer than anything of it may', () => {
    const alone = new World({ request: request({}, { powerOffTimeoutSeconds: 60, powerOnTimeoutSeconds: 60 }), courses: [NEVER_OFF] });
    alone.until('Fencing');
    alone.delete();
    alone.step();
    const told = (): string | undefined => alone.own.conditions.find(({ type }) => type === 'Processing')?.message;
    const look = (durationMs: number): void => {
      alone.nowMs += durationMs;
      while (alone.step() > 0);
    };
    look(100 * SECOND_MS);
    expect([told(), [...alone.problems]]).toEqual(['', []]);
    look(30 * SECOND_MS);
    expect(told()).toBe('NodeFence node-fence-n is being let go');
    expect([...alone.problems]).toEqual(['NodeFenceRemediation machines/n: NodeFence node-fence-n is being let go']);
  });
});
