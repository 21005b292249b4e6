import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Announcer } from './announcer.ts';
import { Candidates } from './candidates.ts';

const quiet = (): void => undefined;

class Bench {
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
    const bench = new Bench();
    const announcer = bench.build();
    announcer.start();
    await bench.clock.advance(4_999);
    expect(bench.calls).toEqual([]);
    await bench.clock.advance(60_001);
    expect(bench.calls).toEqual([1, 2, 3].map((count) => `patch ${said(count)}`));
    await announcer.close();
    await bench.clock.advance(60_000);
    expect(bench.calls.slice(3)).toEqual(['patch ']);
  });

  it('that leads, or need not be known, says nothing, also not at its end', async () => {
    const bench = new Bench();
    bench.isNeeded = false;
    const announcer = bench.build();
    announcer.start();
    await bench.clock.advance(300_000);
    await announcer.close();
    expect(bench.calls).toEqual([]);
  });

  it('creates the Lease where there is none', async () => {
    const bench = new Bench();
    bench.failure = new ApiStatusError(404, 'NotFound', 'none');
    bench.build().start();
    await bench.clock.advance(5_000);
    expect(bench.calls).toEqual([`patch ${said(1)}`, `create ${said(1)}`]);
  });

  it('goes on when the API server is away', async () => {
    const bench = new Bench();
    bench.failure = new ApiStatusError(500, 'InternalError', 'no');
    bench.build().start();
    await bench.clock.advance(35_000);
    expect(bench.calls).toHaveLength(2);
  });
});
