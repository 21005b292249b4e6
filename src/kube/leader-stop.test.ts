import { beforeEach, describe, expect, it } from 'vitest';
import type { ManualClock } from '../runtime/manual-clock.ts';
import type { LeaderElector, LeaderElectorOptions } from './leader-elector.ts';
import { ElectorHarness } from './testing/elector-harness.ts';
import type { LeaseServer } from './testing/elector-harness.ts';

describe('the leader elector that is stopped while it stands', () => {
  let harness: ElectorHarness;
  let clock: ManualClock;
  let server: LeaseServer;

  beforeEach(() => {
    harness = new ElectorHarness();
    ({ clock, server } = harness);
  });

  const slowly = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    await new Promise<void>((resolve) => clock.after(100, resolve));
    return done;
  };
  const release = async (elector: LeaderElector): Promise<void> => {
    const releasing = elector.release();
    await clock.advance(1000);
    await releasing;
  };

  it('empties a Lease that it took in the moment of its release: the successor waits for nobody', async () => {
    const { create, replace } = writesOf(server);
    const first = harness.build('a', {
      cluster: {
        get: () => server.get(),
        create: (resource, object) => slowly(create(resource, object)),
        replace: (resource, object) => slowly(replace(resource, object)),
      },
    });
    await clock.advance(50);
    expect([first.isLeading, server.lease?.spec.holderIdentity]).toEqual([false, 'a_uuid1']);
    await release(first);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 });
    const second = harness.build('b');
    await clock.advance(0);
    expect([second.epoch, harness.log]).toEqual([2, ['b acquired 2']]);
  });

  it('empties a Lease that it took without hearing so', async () => {
    server.fault = 'lose-answer';
    const elector = harness.build('a', { cluster: { ...writesOf(server), get: () => readOf(server) } });
    await clock.advance(0);
    expect([elector.isLeading, server.lease?.spec.holderIdentity]).toEqual([false, 'a_uuid1']);
    server.fault = undefined;
    await release(elector);
    expect(server.lease?.spec.holderIdentity).toBe('');
  });

  it('takes none by a look that is answered afterwards', async () => {
    const elector = harness.build('a', { cluster: { ...writesOf(server), get: () => slowly(server.get()) } });
    await clock.advance(50);
    elector.close();
    await clock.advance(1000);
    expect(server.writes).toBe(0);
  });
});

function writesOf(server: LeaseServer): Pick<LeaderElectorOptions['cluster'], 'create' | 'replace'> {
  return { create: (resource, object) => server.create(resource, object), replace: (resource, object) => server.replace(resource, object) };
}

/** Also while answers to writes are lost. */
function readOf<T>(server: LeaseServer): Promise<T | undefined> {
  return Promise.resolve(structuredClone(server.lease) as T | undefined);
}
