import { expect, it } from 'vitest';
import type { Cluster, Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';
import { ElectorHarness } from './testing/elector-harness.ts';

/** How long each renewal takes from now on; the last one counts for all that follow. */
function taking(harness: ElectorHarness, delaysMs: readonly number[]): Pick<Cluster, 'get' | 'create' | 'replace'> {
  const { server, clock } = harness;
  let count = 0;
  const wait = (delayMs: number): Promise<void> => new Promise((resolve) => clock.after(delayMs, resolve));
  return {
    get: <T extends KubeObject>() => server.get<T>(),
    create: <T extends KubeObject>(resource: Resource<T>, object: T) => server.create(resource, object),
    replace: async <T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> => {
      const [first = 0] = delaysMs.slice(Math.min(count++, delaysMs.length - 1));
      await wait(first);
      return server.replace(resource, object);
    },
  };
}

it('a renewal that hangs leaves the next one all of its own time before the deadline', async () => {
  const harness = new ElectorHarness();
  const elector = harness.build('a', { cluster: taking(harness, [0, 1_000_000, 3_900, 0]) });
  await harness.clock.advance(9_950);
  expect([elector.isLeading, harness.log]).toEqual([true, ['a acquired 1']]);
  await harness.clock.advance(60_000);
  expect([elector.isLeading, harness.log]).toEqual([true, ['a acquired 1']]);
});

it('renewals that fail at once are tried every two seconds, and no sooner', async () => {
  const harness = new ElectorHarness();
  const elector = harness.build('a');
  await harness.clock.advance(0);
  harness.server.fault = 'refuse';
  const before = harness.server.writes;
  await harness.clock.advance(9_900);
  expect([elector.isLeading, harness.server.writes - before]).toEqual([true, 4]);
});
