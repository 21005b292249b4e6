import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness } from '../testing/harness.ts';
import { ForeignObjects, KURED } from './foreign-objects.ts';

class Stage {
  readonly clock = new ManualClock();
  readonly requests: string[] = [];
  maintained: string[] | ApiStatusError = [];
  lock: string | undefined | ApiStatusError;
  readonly changes: (readonly string[])[] = [];
  readonly objects: ForeignObjects;

  constructor() {
    const answer = (value: unknown): Promise<never> => (value instanceof ApiStatusError ? Promise.reject(value) : Promise.resolve(value as never));
    const cluster: Pick<Cluster, 'get' | 'list'> = {
      list: ({ plural }) => {
        this.requests.push(plural);
        const { maintained } = this;
        return answer(
          maintained instanceof ApiStatusError
            ? maintained
            : maintained.map((nodeName) => ({ metadata: { name: `m-${nodeName}` }, spec: { nodeName } })),
        );
      },
      get: ({ plural }) => {
        this.requests.push(plural);
        const { lock } = this;
        const annotations = typeof lock === 'string' ? { [KURED.lock]: lock } : {};
        return answer(lock instanceof ApiStatusError ? lock : { metadata: { name: KURED.name, annotations } });
      },
    };
    const { log } = new FenceHarness(this.clock).dependencies;
    this.objects = new ForeignObjects({ cluster, clock: this.clock, log });
    this.objects.onChange((nodes) => this.changes.push(nodes));
  }

  sources(node: string): string[] {
    return this.objects.marksOf(node).map(({ source }) => source);
  }
}

describe('objects of others that have a node in hand', () => {
  it('are NodeMaintenance objects and the lock of kured, as they come and go', async () => {
    const stage = new Stage();
    stage.maintained = ['a'];
    stage.lock = JSON.stringify({ nodeID: 'b', created: '2026-01-01T00:00:00Z', TTL: 0 });
    stage.objects.ask();
    await stage.clock.settle();
    expect([stage.sources('a'), stage.sources('b'), stage.sources('c')]).toEqual([['node-maintenance'], ['kured'], []]);
    expect(stage.changes).toEqual([['a', 'b']]);
    stage.maintained = [];
    stage.lock = undefined;
    await stage.clock.advance(30_000);
    expect([stage.sources('a'), stage.sources('b')]).toEqual([[], []]);
  });

  it('are the locks of kured where several nodes may reboot at once, each from when it was taken', async () => {
    const stage = new Stage();
    const lockOf = (nodeID: string): object => ({ nodeID, metadata: { unschedulable: false }, created: '2026-01-01T00:00:00Z', TTL: 0 });
    const locked = (...nodes: string[]): string => JSON.stringify({ maxOwners: 2, locks: nodes.map(lockOf) });
    const sources = (): string[][] => ['a', 'b', 'c'].map((node) => stage.sources(node));
    stage.lock = locked('a', 'b');
    stage.objects.ask();
    await stage.clock.settle();
    expect([sources(), stage.changes]).toEqual([[['kured'], ['kured'], []], [['a', 'b']]]);
    stage.lock = locked('b', 'c');
    await stage.clock.advance(1_799_000);
    expect(sources()).toEqual([[], ['kured'], ['kured']]);
    await stage.clock.advance(1_000);
    expect(sources()).toEqual([[], [], ['kured']]);
    for (const lock of ['{"locks":7}', '{"locks":[null,7,{"nodeID":7}]}', '[]', 'null']) {
      stage.lock = lock;
      await stage.clock.advance(30_000);
      expect(sources(), lock).toEqual([[], [], []]);
    }
  });

  it('are read only while something has failed', async () => {
    const stage = new Stage();
    await stage.clock.advance(60_000);
    expect(stage.requests).toEqual([]);
    stage.objects.ask();
    await stage.clock.settle();
    stage.objects.rest();
    await stage.clock.advance(120_000);
    expect(stage.requests).toHaveLength(2);
  });

  it('are seldom asked for where they are not installed or may not be read', async () => {
    const stage = new Stage();
    stage.maintained = new ApiStatusError(404, 'NotFound', 'no such kind');
    stage.lock = new ApiStatusError(403, 'Forbidden', 'not ours');
    stage.objects.ask();
    await stage.clock.advance(590_000);
    expect(stage.requests).toHaveLength(2);
    await stage.clock.advance(60_000);
    expect(stage.requests).toHaveLength(4);
  });

  it('stand as they were last read while the API server does not answer', async () => {
    const stage = new Stage();
    stage.maintained = ['a'];
    stage.objects.ask();
    await stage.clock.settle();
    stage.maintained = new ApiStatusError(500, 'InternalError', 'not now');
    await stage.clock.advance(30_000);
    expect(stage.sources('a')).toEqual(['node-maintenance']);
  });

  it('are not read until the answer to what was asked last is there, or an error, whatever an earlier one says', async () => {
    const stage = new Stage();
    const answers: PromiseWithResolvers<never>[] = [];
    const list = (): Promise<never> => {
      const answer = Promise.withResolvers<never>();
      answers.push(answer);
      return answer.promise;
    };
    const { log } = new FenceHarness(stage.clock).dependencies;
    const objects = new ForeignObjects({ cluster: { list, get: () => Promise.resolve(undefined) }, clock: stage.clock, log });
    objects.ask();
    objects.rest();
    objects.ask();
    answers[0]?.resolve([] as never);
    await stage.clock.settle();
    expect(objects.isRead).toBe(false);
    answers[1]?.reject(new ApiStatusError(500, 'InternalError', 'not now'));
    await stage.clock.settle();
    expect(objects.isRead).toBe(true);
  });

  it('are waited for by nobody where it was known beforehand that they are not installed, for as long as this process leads', async () => {
    const stage = new Stage();
    stage.maintained = new ApiStatusError(404, 'NotFound', 'no such kind');
    stage.lock = new ApiStatusError(404, 'NotFound', 'no kured');
    void stage.objects.prepare();
    await stage.clock.advance(3_599_000);
    expect(stage.requests).toHaveLength(2 * 6);
    stage.objects.ask();
    expect(stage.objects.isRead).toBe(true);
    stage.objects.close();
    await stage.clock.advance(3_600_000);
    expect(stage.requests).toHaveLength(2 * 6);
  });

  it('of a node that never returned from its reboot count for half an hour, and an unreadable lock never', async () => {
    const stage = new Stage();
    stage.lock = JSON.stringify({ nodeID: 'b' });
    stage.objects.ask();
    await stage.clock.advance(1_799_000);
    expect(stage.sources('b')).toEqual(['kured']);
    await stage.clock.advance(1_000);
    expect(stage.sources('b')).toEqual([]);
    stage.lock = 'not json';
    await stage.clock.advance(30_000);
    expect(stage.sources('b')).toEqual([]);
  });
});
