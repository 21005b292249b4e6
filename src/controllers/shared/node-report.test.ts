import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { updateReport } from './node-report.ts';
import { WrittenLister } from './own-writes.ts';

type Listener = Parameters<Lister<NodeFenceReport>['onChange']>[0];

/** An API server with one report, and a watch that shows it when it is told to. */
class World {
  stored: NodeFenceReport | undefined = { metadata: { name: 'a', uid: 'r', resourceVersion: '10' }, status: { incident: 1 } };
  readonly requests: string[] = [];
  /** Each write waits for it. */
  answered: Promise<void> = Promise.resolve();
  /** The answer of the next write is lost. */
  isLost = false;
  readonly reports: WrittenLister<NodeFenceReport>;
  readonly #listeners: Listener[] = [];
  #shown: NodeFenceReport | undefined = this.stored;

  constructor() {
    this.reports = new WrittenLister<NodeFenceReport>({
      get: () => this.#shown,
      all: () => [],
      byIndex: () => [],
      onChange: (listener) => {
        this.#listeners.push(listener);
        return () => undefined;
      },
      synced: true,
      freshAtMs: 0,
    });
  }

  /** No report is there, or none that the watch has told of. */
  hide({ isThere }: { isThere: boolean }): void {
    this.#shown = undefined;
    if (!isThere) this.stored = undefined;
  }

  /** The watch catches up. */
  show(): void {
    const before = this.#shown;
    this.#shown = this.stored;
    for (const listener of this.#listeners) listener(before, this.stored);
  }

  /** Somebody else writes, under the same rules. */
  write(status: NodeFenceReport['status']): void {
    const { metadata = { name: 'a', uid: 'r' } } = this.stored ?? {};
    this.stored = {
      metadata: { ...metadata, resourceVersion: String(Number(metadata.resourceVersion) + 1) },
      ...(status === undefined ? {} : { status }),
    };
  }

  async update(change: Parameters<typeof updateReport>[2]): Promise<void> {
    const cluster = {
      get: () => {
        this.requests.push('get');
        return Promise.resolve(this.stored);
      },
      create: () => {
        this.requests.push('post');
        if (this.stored !== undefined) return Promise.reject(new ApiStatusError(409, 'AlreadyExists', 'it is there'));
        this.stored = { metadata: { name: 'a', uid: 'r', resourceVersion: '1' } };
        return Promise.resolve(this.stored);
      },
      replaceStatus: async (_resource: unknown, { metadata, status }: NodeFenceReport) => {
        this.requests.push('put');
        await this.answered;
        if (metadata.resourceVersion !== this.stored?.metadata.resourceVersion) throw new ApiStatusError(409, 'Conflict', 'it has changed');
        this.write(status);
        if (this.isLost) throw new ApiStatusError(504, 'Timeout', 'no answer');
        return this.stored;
      },
    };
    await updateReport({ cluster: cluster as unknown as Cluster, listers: { reports: this.reports } }, 'a', change);
  }
}

describe('changes of one report', () => {
  it('are made upon what was written before, also where no watch has shown it: nothing is read, and nothing conflicts', async () => {
    const world = new World();
    await world.update((status) => ({ ...status, incident: 2 }));
    await world.update((status) => ({ ...status, consecutiveFailures: 1 }));
    expect(world.requests).toEqual(['put', 'put']);
    expect(world.stored?.status).toEqual({ incident: 2, consecutiveFailures: 1 });
  });

  it('are made one after the other: of two that overlap none is lost', async () => {
    const world = new World();
    const answered = Promise.withResolvers<undefined>();
    world.answered = answered.promise;
    const both = [world.update((status) => ({ ...status, incident: 2 })), world.update((status) => ({ ...status, consecutiveFailures: 1 }))];
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
    expect(world.requests).toEqual(['put']);
    answered.resolve(undefined);
    await Promise.all(both);
    expect(world.requests).toEqual(['put', 'put']);
    expect(world.stored?.status).toEqual({ incident: 2, consecutiveFailures: 1 });
  });

  it('make the report where there is none, and nobody asks for it before', async () => {
    const world = new World();
    world.hide({ isThere: false });
    await world.update((status) => ({ ...status, incident: 2 }));
    expect(world.requests).toEqual(['post', 'put']);
    expect(world.stored?.status).toEqual({ incident: 2 });
  });

  it('keep what stands in a report of which the watch has not told', async () => {
    const world = new World();
    world.hide({ isThere: true });
    await world.update((status) => ({ ...status, consecutiveFailures: 1 }));
    expect(world.requests).toEqual(['post', 'get', 'put']);
    expect(world.stored?.status).toEqual({ incident: 1, consecutiveFailures: 1 });
  });

  it('keep what another process wrote meanwhile: they are read anew then', async () => {
    const world = new World();
    await world.update((status) => ({ ...status, incident: 2 }));
    world.write({ ...world.stored?.status, fence: 'never' });
    await world.update((status) => ({ ...status, consecutiveFailures: 1 }));
    expect(world.requests).toEqual(['put', 'put', 'get', 'put']);
    expect(world.stored?.status).toEqual({ incident: 2, fence: 'never', consecutiveFailures: 1 });
  });

  it('count what the watch shows once it is as new, and by a later writer', async () => {
    const world = new World();
    await world.update((status) => ({ ...status, incident: 2 }));
    world.write({ incident: 7 });
    world.show();
    expect(world.reports.get('a')?.status).toEqual({ incident: 7 });
    await world.update((status) => ({ ...status, consecutiveFailures: 1 }));
    expect(world.requests).toEqual(['put', 'put']);
    expect(world.stored?.status).toEqual({ incident: 7, consecutiveFailures: 1 });
  });

  it('do not build on a write of which nobody knows whether it arrived', async () => {
    const world = new World();
    await world.update((status) => ({ ...status, incident: 2 }));
    world.isLost = true;
    await expect(world.update((status) => ({ ...status, incident: 3 }))).rejects.toThrow('no answer');
    world.isLost = false;
    await world.update((status) => ({ ...status, consecutiveFailures: 1 }));
    expect(world.stored?.status).toEqual({ incident: 3, consecutiveFailures: 1 });
  });

  it('go on after one that failed, and write nothing where nothing changes', async () => {
    const world = new World();
    const failing = world.update(() => {
      throw new Error('a defect');
    });
    const next = world.update((status) => ({ ...status, incident: 2 }));
    await expect(failing).rejects.toThrow('a defect');
    await next;
    await world.update((status) => status);
    expect(world.requests).toEqual(['put']);
  });

  it('begin anew where the report is gone by the watch', async () => {
    const world = new World();
    await world.update((status) => ({ ...status, incident: 2 }));
    world.stored = undefined;
    world.show();
    expect(world.reports.get('a')).toBeUndefined();
  });
});

it('reports that show own writes too tell as their watch does since when they are heard', () => {
  const unheard = { get: () => undefined, all: () => [], byIndex: () => [], onChange: () => () => undefined, synced: true, freshAtMs: 5 };
  const heard = new WrittenLister<NodeFenceReport>({ ...unheard, freshSinceMs: 3, resumedAtMs: 4 });
  expect([heard.synced, heard.freshAtMs, heard.freshSinceMs, heard.resumedAtMs]).toEqual([true, 5, 3, 4]);
  const never = new WrittenLister<NodeFenceReport>(unheard);
  expect([never.freshSinceMs, never.resumedAtMs]).toEqual([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]);
});
