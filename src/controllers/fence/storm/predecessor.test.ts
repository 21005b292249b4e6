import { describe, expect, it } from 'vitest';
import { ObjectCache } from '../../../kube/lister.ts';
import type { Lease } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness } from '../testing/harness.ts';
import { Predecessor } from './predecessor.ts';

class Stage {
  readonly clock = new ManualClock();
  readonly leases = new ObjectCache<Lease>({}, new FenceHarness(this.clock).dependencies.log);
  readonly predecessor = new Predecessor(this.leases, this.clock, () => 'us');
  #renewals = 0;

  holder(holderIdentity: string): void {
    this.#renewals += 1;
    this.leases.put({ metadata: { name: 'leader', namespace: 'here' }, spec: { holderIdentity, renewTime: `renewal ${this.#renewals}` } });
  }
}

describe('a take-over', () => {
  it('follows a leader that was seen to renew within the minute', async () => {
    const stage = new Stage();
    stage.holder('other');
    stage.holder('other');
    await stage.clock.advance(59_000);
    stage.holder('us');
    stage.predecessor.acquired();
    expect(stage.predecessor.tookOver).toBe(true);
  });

  it('follows a leader that gave the Lease back', () => {
    const stage = new Stage();
    stage.holder('other');
    stage.holder('');
    stage.holder('us');
    stage.predecessor.acquired();
    expect(stage.predecessor.tookOver).toBe(true);
  });

  it('is none when the record of a dead leader was only found and waited out', async () => {
    const stage = new Stage();
    stage.holder('dead');
    await stage.clock.advance(15_000);
    stage.holder('us');
    stage.predecessor.acquired();
    stage.holder('us');
    expect(stage.predecessor.tookOver).toBe(false);
  });

  it('is none when nobody led for more than a minute, and at a first start', async () => {
    const stage = new Stage();
    stage.holder('other');
    stage.holder('other');
    await stage.clock.advance(61_000);
    stage.predecessor.acquired();
    expect(stage.predecessor.tookOver).toBe(false);
    const first = new Stage();
    first.holder('us');
    first.predecessor.acquired();
    expect(first.predecessor.tookOver).toBe(false);
  });
});
