import { expect, it } from 'vitest';
import { planOf } from '../../domain/testing/model.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { AskedPods } from '../shared/release/asked-pods.ts';
import { Evictions } from './evictions.ts';
import type { NodeMemory } from './memory.ts';

const NODE = { metadata: { name: 'a', uid: 'uid-a' }, spec: {}, status: {} } as Node;

/** Pods of node `a` that are gone after ten passes within a minute, of twelve that may go in it. */
async function goneInAMinute(answer: (call: number) => Promise<void>): Promise<number> {
  const clock = new ManualClock();
  let pods: Pod[] = Array.from({ length: 40 }, (_pod, index) => ({
    metadata: { name: `p-${String(index)}`, namespace: 'web', uid: `uid-${String(index)}` },
    spec: { nodeName: 'a' },
  }));
  let calls = 0;
  const cluster = {
    get: () => Promise.resolve(NODE),
    list: () => Promise.resolve(pods),
    evict: async (name: string) => {
      calls += 1;
      await answer(calls);
      pods = pods.filter(({ metadata }) => metadata.name !== name);
    },
  } as unknown as Cluster;
  const evictions = new Evictions(cluster, clock, () => planOf({ podsPerMinute: 12 }));
  const standing = (_of: unknown, all: readonly { uid: string | undefined }[]): Set<string | undefined> => new Set(all.map(({ uid }) => uid));
  const memory = { asked: new AskedPods(), standing } as unknown as NodeMemory;
  for (let pass = 0; pass < 20; pass += 1) {
    const going = evictions.evict(NODE, memory, {} as never, () => undefined).catch(() => undefined);
    await clock.settle();
    await clock.advance(2_000);
    await going;
  }
  return 40 - pods.length;
}

it.each([
  ['all are answered', () => Promise.resolve()],
  [
    'the API server is away for one of two',
    (call: number) => (call % 2 === 0 ? Promise.reject(new ApiStatusError(503, 'ServiceUnavailable', 'away')) : Promise.resolve()),
  ],
])('pods_per_minute is kept where %s', async (_where, answer) => {
  expect(await goneInAMinute(answer)).toBe(12);
});

it('pods_per_minute is kept where each answer takes longer than it is waited for', async () => {
  const slow: (() => void)[] = [];
  const gone = await goneInAMinute(() => {
    const answers = slow.splice(0);
    for (const answer of answers) answer();
    return new Promise((resolve) => slow.push(resolve));
  });
  expect(gone).toBeLessThanOrEqual(12);
});
