import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Notices, noticesIn } from './notices.ts';

const quiet = (): void => undefined;
const KEY = 'problem.nodefence.ha.k8s.io/own';

class Harness {
  readonly clock = new ManualClock();
  writes = 0;
  failure: Error | undefined;
  unread: Error | undefined;
  lease: Lease | undefined = { metadata: { name: 'lease' }, spec: {} };
  readonly notices: Notices;

  constructor() {
    const write = (annotations: Record<string, string | null>): Promise<never> => {
      this.writes += 1;
      if (this.failure !== undefined) return Promise.reject(this.failure);
      const before = this.lease?.metadata.annotations ?? {};
      const after = Object.entries({ ...before, ...annotations }).filter((entry): entry is [string, string] => entry[1] !== null);
      this.lease = { metadata: { name: 'lease', annotations: Object.fromEntries(after) }, spec: {} };
      return Promise.resolve(this.lease as never);
    };
    const cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch'> = {
      get: () => {
        const failure = this.failure ?? this.unread;
        return failure === undefined ? Promise.resolve(this.lease as never) : Promise.reject(failure);
      },
      create: (_resource, object) => write(object.metadata.annotations ?? {}),
      mergePatch: (_resource, _name, patch) =>
        this.lease === undefined
          ? Promise.reject(new ApiStatusError(404, 'NotFound', 'none'))
          : write((patch as { metadata: { annotations: Record<string, string | null> } }).metadata.annotations),
    };
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    this.notices = new Notices({ cluster, clock: this.clock, log, namespace: 'ns', lease: 'lease', id: 'own' });
  }

  said(): string[] {
    return noticesIn(this.lease, this.clock.wallMs());
  }
}

describe('what a replica says of itself', () => {
  it('is read while it stands, and taken back when it is over', async () => {
    const harness = new Harness();
    harness.notices.say('self-check', ['no right']);
    harness.notices.say('status', ['refused']);
    await harness.clock.advance(0);
    expect(harness.said()).toEqual(['no right', 'refused']);
    await harness.clock.advance(3_600_000);
    expect(harness.said()).toEqual(['no right', 'refused']);
    harness.notices.say('self-check', []);
    harness.notices.say('status', []);
    await harness.clock.advance(0);
    expect(harness.said()).toEqual([]);
  });

  it('writes nothing for words that stand already', async () => {
    const harness = new Harness();
    for (let look = 0; look < 10; look += 1) {
      harness.notices.say('preservation', ['refused']);
      await harness.clock.advance(1_000);
    }
    expect(harness.writes).toBe(1);
  });

  it('costs nothing while nothing is wrong', async () => {
    const harness = new Harness();
    harness.notices.say('self-check', []);
    await harness.clock.advance(3_600_000);
    await harness.notices.close();
    expect(harness.writes).toBe(0);
  });

  it('is gone with the process, also where that could not say so', async () => {
    const harness = new Harness();
    harness.notices.say('status', ['refused']);
    await harness.clock.advance(0);
    harness.failure = new ApiStatusError(503, 'ServiceUnavailable', '');
    await harness.notices.close();
    await harness.clock.advance(901_000);
    expect(harness.said()).toEqual([]);
  });

  it('is said again when it could not be said, and where there is no Lease yet', async () => {
    const harness = new Harness();
    harness.lease = undefined;
    harness.failure = new ApiStatusError(503, 'ServiceUnavailable', '');
    harness.notices.say('status', ['refused']);
    await harness.clock.advance(1_000);
    harness.failure = undefined;
    await harness.clock.advance(30_000);
    expect(harness.said()).toEqual(['refused']);
  });

  it('is read, however many processes ended without taking theirs back, and takes away what these left behind', async () => {
    const harness = new Harness();
    const left = (at: number): string => JSON.stringify({ at: new Date(at).toISOString(), words: ['old'] });
    const nowMs = harness.clock.wallMs();
    const dead = Array.from({ length: 100 }, (_, index): [string, string] => [`problem.nodefence.ha.k8s.io/${index}`, left(nowMs - 3_700_000)]);
    const others = {
      other: 'kept',
      'problem.nodefence.ha.k8s.io/zz': left(nowMs - 600_000),
      'problem.nodefence.ha.k8s.io/ahead': left(nowMs + 3_700_000),
    };
    const unread = { 'problem.nodefence.ha.k8s.io/broken': '{' };
    harness.lease = { metadata: { name: 'lease', annotations: { ...Object.fromEntries(dead), ...others, ...unread } }, spec: {} };
    expect(harness.said()).toEqual(['old']);
    harness.notices.say('status', ['refused']);
    await harness.clock.advance(0);
    expect(harness.said()).toContain('refused');
    expect(Object.keys(harness.lease.metadata.annotations ?? {}).sort()).toEqual(['other', ...Object.keys(others).slice(1), KEY].sort());
  });

  it('is said also where it cannot be seen what others left behind', async () => {
    const harness = new Harness();
    const refused = new ApiStatusError(403, 'Forbidden', '');
    harness.unread = refused;
    harness.notices.say('status', ['refused']);
    await harness.clock.advance(0);
    expect(harness.said()).toEqual(['refused']);
  });

  it('is read as what others may have written: bounded, and nothing of it is believed that makes no sense', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const nowMs = Date.parse(at);
    const read = (text: string): string[] => noticesIn({ metadata: { name: 'l', annotations: { [KEY]: text } }, spec: {} }, nowMs);
    for (const text of ['', '{', 'null', '[]', '{"at":1,"words":[]}', `{"at":"${at}","words":"x"}`]) expect(read(text)).toEqual([]);
    expect(read(JSON.stringify({ at, words: ['x'.repeat(10_000), 7, 'a', 'b', 'c', 'd', 'e'] })).map(({ length }) => length)).toEqual([
      600, 1, 1, 1, 1,
    ]);
  });
});
