import { describe, expect, it } from 'vitest';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import { Requests } from './requests.ts';

interface Said {
  phase?: string;
  message?: string;
  isGoing?: boolean;
  finalizers?: string[];
}

function harness() {
  const clock = { nowMs: 0 };
  const requests = new Requests(() => clock.nowMs);
  const hear = (verb: ApiEvent['verb'], { phase, message = '', isGoing = false, finalizers = ['ours'] }: Said, status = 200): void => {
    const metadata = { name: 'r', finalizers, ...(isGoing && { deletionTimestamp: 'now' }) };
    const object = { metadata, status: { phase, conditions: [{ type: 'Processing', message }] } };
    requests.hear({ kind: 'api', at: 0, user: 'x', verb, resource: 'nodefenceremediations.ha.k8s.io', name: 'r', status, object });
  };
  return { clock, requests, hear };
}

describe('a request', () => {
  it('is open from its creation until it has ended', () => {
    const { requests, hear } = harness();
    hear('create', {});
    expect(requests.open().join()).toContain('stands as new for 0 s: it says nothing');
    hear('patch', { phase: 'Fencing', message: 'waits for its turn' });
    expect(requests.open().join()).toContain('Fencing for 0 s: waits for its turn');
    hear('patch', { phase: 'Succeeded' });
    expect(requests.open()).toEqual([]);
  });

  it('that is deleted is open until its last finalizer is gone, however it had ended', () => {
    const { requests, hear } = harness();
    hear('create', { phase: 'Succeeded' });
    hear('delete', { phase: 'Succeeded', isGoing: true });
    expect(requests.open().join()).toContain('which is being deleted, stands as Succeeded');
    hear('patch', { phase: 'Succeeded', isGoing: true, finalizers: [] });
    expect(requests.open()).toEqual([]);
  });

  it('may wait for longer where it says why, and is open for ever where it says nothing', () => {
    const { clock, requests, hear } = harness();
    hear('create', { message: 'its fence is held' });
    clock.nowMs = 200_000;
    expect(requests.open()).toEqual([]);
    hear('patch', {});
    clock.nowMs = 900_000;
    expect(requests.open()).toHaveLength(1);
  });

  it('is not what a refused write says', () => {
    const { requests, hear } = harness();
    hear('create', {}, 409);
    expect(requests.open()).toEqual([]);
  });
});
