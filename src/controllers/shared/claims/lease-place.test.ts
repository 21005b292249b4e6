import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { LeasePlace } from './lease-place.ts';
import type { LeasePlaceState } from './lease-place.ts';

type Answer = 'there' | 'not there' | 403 | 401 | 'nothing';

describe('the place of node leases', () => {
  let clock: ManualClock;
  let answers: { Namespace: Answer; Lease: Answer };
  let told: LeasePlaceState[];

  beforeEach(() => {
    clock = new ManualClock();
    told = [];
  });

  const get: Cluster['get'] = ({ kind }) => {
    const answer = answers[kind as keyof typeof answers];
    if (answer === 'nothing') return Promise.reject(new TransportError('timeout', 'no answer'));
    if (typeof answer === 'number') return Promise.reject(new ApiStatusError(answer, 'Forbidden', 'no'));
    return Promise.resolve(answer === 'there' ? ({ metadata: { name: 'x' } } as never) : undefined);
  };
  const quiet = (): void => undefined;

  function place(Namespace: Answer, Lease: Answer): LeasePlace {
    answers = { Namespace, Lease };
    const made = new LeasePlace({ cluster: { get }, clock, log: { info: quiet, debug: quiet }, namespace: 'medik8s-leases' });
    made.onChange((state) => void told.push(state));
    return made;
  }

  it.each<[Answer, Answer, LeasePlaceState]>([
    ['not there', 403, 'absent'],
    ['not there', 'not there', 'absent'],
    ['there', 'not there', 'readable'],
    ['there', 'there', 'readable'],
    ['there', 403, 'unreadable'],
    ['there', 401, 'unreadable'],
    // Another namespace than the roles know of.
    [403, 'not there', 'readable'],
    [403, 403, 'unreadable'],
  ])('namespace %s, Leases %s: %s, and only what nobody may read refuses', async (namespace, lease, state) => {
    const made = place(namespace, lease);
    expect(await made.look()).toBe(state);
    expect(made.refusal).toEqual(state === 'unreadable' ? (expect.stringContaining('kubectl apply -k config/medik8s') as string) : undefined);
  });

  it('is not judged while the API server does not answer', async () => {
    const made = place('nothing', 'there');
    await expect(made.look()).rejects.toThrow('no answer');
    expect([made.refusal, told]).toEqual([undefined, []]);
  });

  it('stands as it was while an API server comes up and denies all, and is unreadable when that goes on', async () => {
    const made = place('not there', 403);
    await made.look();
    answers = { Namespace: 403, Lease: 403 };
    await expect(made.look()).rejects.toThrow('may not be read just now');
    await clock.advance(29_000);
    await expect(made.look()).rejects.toThrow('may not be read just now');
    expect([made.state, made.refusal]).toEqual(['absent', undefined]);
    await clock.advance(1_000);
    expect(await made.look()).toBe('unreadable');
  });

  it('is looked for again until its Leases can be read, and no longer', async () => {
    const made = place('not there', 403);
    made.start();
    await clock.advance(11_000);
    answers = { Namespace: 'there', Lease: 403 };
    await clock.advance(11_000);
    answers = { Namespace: 'nothing', Lease: 'nothing' };
    await clock.advance(11_000);
    answers = { Namespace: 'there', Lease: 'not there' };
    await clock.advance(11_000);
    answers = { Namespace: 'there', Lease: 403 };
    await clock.advance(60_000);
    expect(told).toEqual(['absent', 'unreadable', 'readable']);
    made.close();
  });
});
