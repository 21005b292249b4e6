import { beforeEach, describe, expect, it } from 'vitest';
import type { Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { ManualClock } from '../runtime/manual-clock.ts';
import { ElectorHarness, held } from './testing/elector-harness.ts';
import type { LeaseServer } from './testing/elector-harness.ts';

describe('a candidate that sees no Lease', () => {
  let harness: ElectorHarness;
  let clock: ManualClock;
  let server: LeaseServer;

  beforeEach(() => {
    harness = new ElectorHarness();
    ({ clock, server } = harness);
    server.set(undefined);
  });

  it('waits a whole lease for one that another created right before it would have, deleted before it ever read it', async () => {
    let isOvertaken = true;
    const create = <T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> => {
      if (isOvertaken) server.set(held('now'));
      isOvertaken = false;
      return server.create(resource, object);
    };
    const elector = harness.build('a', { cluster: { get: server.get.bind(server), replace: server.replace.bind(server), create } });
    await clock.advance(15_000);
    expect([elector.isLeading, server.writes]).toEqual([false, 1]);
    server.set(undefined);
    await clock.advance(15_000);
    expect(elector.isLeading).toBe(false);
    await clock.advance(4_000);
    expect(elector.isLeading).toBe(true);
  });

  it('waits a whole lease also where only a watch showed that somebody held one', async () => {
    const elector = harness.build('a');
    await clock.advance(14_000);
    elector.wasHeld();
    await clock.advance(14_000);
    expect(elector.isLeading).toBe(false);
    await clock.advance(4_000);
    expect(elector.isLeading).toBe(true);
  });
});
