import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Announcer } from './announcer.ts';
import { Candidates } from './candidates.ts';

const quiet = (): void => undefined;

class Harness {
  readonly clock = new ManualClock();
  readonly calls: string[] = [];
  isNeeded = true;
  failure: Error | undefined;

  build(): Announcer {
    const write = (verb: string, annotations: object): Promise<never> => {
      this.calls.push(`${verb} ${Object.values(annotations).join()}`);
      return this.failure === undefined || verb === 'create' ? Promise.resolve(undefined as never) : Promise.reject(this.failure);
    };
    const cluster: Pick<Cluster, 'create' | 'mergePatch'> = {
      create: (_resource, object) => write('create', object.metadata.annotations ?? {}),
      mergePatch: (_resource, _name, patch) => write('patch', (patch as { metadata: { annotations: object } }).metadata.annotations),
    };
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const candidates = new Candidates('own');
    const isNeeded = (): boolean => this.isNeeded;
    return new Announcer({ cluster, clock: this.clock, log, namespace: 'ns', ownNode: 'a', mode: 'enforce', candidates, isNeeded });
  }
}

const said = (count: number): string => `{"node":"a","mode":"enforce","count":${count}}`;

describe('a candidate', () => {
  it('says every half minute that it could lead, and at its end that it cannot any more', async () => {
    const harness = new Harness();
    const announcer = harness.build();
    announcer.start();
    await harness.clock.advance(4_999);
    expect(harness.calls).toEqual([]);
    await harness.clock.advance(60_001);
    expect(harness.calls).toEqual([1, 2, 3].map((count) => `patch ${said(count)}`));
    await announcer.close();
    await harness.clock.advance(60_000);
    expect(harness.calls.slice(3)).toEqual(['patch ']);
  });

  it('that leads, or need not be known, says nothing, also not at its end', async () => {
    const harness = new Harness();
    harness.isNeeded = false;
    const announcer = harness.build();
    announcer.start();
    await harness.clock.advance(300_000);
    await announcer.close();
    expect(harness.calls).toEqual([]);
  });

  it('creates the Lease where there is none', async () => {
    const harness = new Harness();
    harness.failure = new ApiStatusError(404, 'NotFound', 'none');
    harness.build().start();
    await harness.clock.advance(5_000);
    expect(harness.calls).toEqual([`patch ${said(1)}`, `create ${said(1)}`]);
  });

  it('goes on when the API server is away', async () => {
    const harness = new Harness();
    harness.failure = new ApiStatusError(500, 'InternalError', 'no');
    harness.build().start();
    await harness.clock.advance(35_000);
    expect(harness.calls).toHaveLength(2);
  });
});
