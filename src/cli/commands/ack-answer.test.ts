import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import type { NodeFenceAcknowledgement } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { awaitAnswer } from './ack-answer.ts';
import type { Session } from './person-command.ts';
import { PLAIN } from './terminal/ink.ts';
import { fence } from './testing/pictured-cluster.ts';

const word: NodeFenceAcknowledgement = {
  metadata: { name: 'ack-a-1' },
  spec: { node: 'a', nodeFenceUID: 'u', incident: 1, bootID: 'b', reason: 'seen' },
};

/** Nobody answers the word, or somebody `answersAfterMs`. The Lease was last renewed so long before it is read; `forbidden`: it may not be. */
async function answer(renewedAgoMs: number | 'forbidden', answersAfterMs = Number.POSITIVE_INFINITY): Promise<{ code: number; said: string }> {
  const clock = new ManualClock();
  const startedAtMs = clock.monotonicMs();
  const get = async ({ plural }: Resource): Promise<unknown> => {
    if (plural === 'nodefenceacknowledgements')
      return clock.monotonicMs() - startedAtMs < answersAfterMs ? word : { ...word, status: { state: 'accepted', message: 'It is evidence now.' } };
    if (plural === 'nodefences') return { ...fence('a', {}), status: { ...fence('a', {}).status, message: 'its BMC is silent' } };
    if (renewedAgoMs === 'forbidden') throw new ApiStatusError(403, 'Forbidden', 'no');
    const renewTime = new Date(clock.wallMs() - renewedAgoMs).toISOString();
    const spec = { holderIdentity: 'pod-1', leaseDurationSeconds: 15, renewTime, acquireTime: renewTime, leaseTransitions: 4 };
    return { metadata: { name: 'nodefence-controller' }, spec };
  };
  const said: string[] = [];
  const console = { print: (text: string) => void said.push(text), say: () => undefined, ink: PLAIN, width: undefined };
  const access = { cluster: { get } as unknown as Cluster, clock, namespace: 'nodefence-system' };
  const answered = awaitAnswer({ access, console } as unknown as Session, word);
  await clock.advance(50_000);
  return { code: await answered, said: said.join('\n') };
}

describe('an acknowledgement while two dead devices are asked', () => {
  it('is waited for until both have been', async () => {
    const { code, said } = await answer(2_000, 37_000);
    expect(said).toContain('ACCEPTED: It is evidence now.');
    expect(code).toBe(0);
  });
});

describe('an acknowledgement that the controller did not answer in time', () => {
  it('is told by the fence where a controller leads: its lease is read after the wait, which is longer than a lease', async () => {
    const { code, said } = await answer(2_000);
    expect(code).toBe(3);
    expect(said).toContain('It is still pending: its BMC is silent');
    expect(said).not.toContain('no controller leads');
  });

  it('is told by the leader where none leads', async () => {
    expect((await answer(60_000)).said).toContain('no controller leads: pod-1 renewed 1m ago, its lease is over');
  });

  it('is told by the fence where the lease may not be read', async () => {
    expect((await answer('forbidden')).said).toContain('It is still pending: its BMC is silent');
  });
});
