import { afterEach, describe, expect, it } from 'vitest';

import { AgentError, type Target } from '../../src/ports/agents.ts';
import { failureOf } from '../../src/testbed/devices/cloud/testing.ts';
import type { ComputeExtras } from '../../src/testbed/devices/cloud/gce-compute.ts';
import { NODE, PROVIDER_ID, startedIn, type Emulated } from '../../test/agents/gce-emulated.ts';

const open: Emulated[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** With its instance stopped. */
async function stopped(extras: ComputeExtras = {}): Promise<Emulated> {
  const started = await startedIn(open, extras);
  await started.agent.set(started.target(), 'off');
  await expect.poll(async () => (await started.agent.read(started.target())).state, { interval: 5 }).toBe('off');
  return started;
}

const deletions = ({ cloud }: Emulated): string[] => cloud.requests.filter((name) => name.startsWith('DELETE'));
const denied = (): void => {
  throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'the lease is gone' });
};

describe('an instance of Compute Engine that is deleted', () => {
  it('goes only when it is stopped, and is gone when the cloud knows it no more', async () => {
    const running = await startedIn(open);
    expect((await failureOf(running.agent.remove(running.target()))).facts.answered).toContain('nothing was sent: it is not off');
    const off = await stopped();
    expect(await off.agent.removal(off.target())).toMatchObject({ isGone: false });
    expect(await off.agent.remove(off.target({ intent: 'end-1' }))).toMatchObject({ result: 'accepted' });
    await expect.poll(() => off.agent.removal(off.target())).toEqual({ isGone: true, detail: 'the cloud does not know it any more' });
    expect(deletions(off)).toEqual(['DELETE instance']);
    const read = await failureOf(off.agent.read(off.target()));
    expect([read.kind, read.facts.answered], 'for a fence that proves nothing').toEqual([
      'Misconfigured',
      expect.stringContaining('not known to be off'),
    ]);
  });

  it('is still there while its deletion is under way, and is deleted once for one intent', async () => {
    const off = await stopped();
    off.cloud.setFaults({ stopMs: 60_000 });
    await off.agent.remove(off.target({ intent: 'end-1' }));
    expect(await off.agent.removal(off.target())).toMatchObject({
      isGone: false,
      detail: expect.stringMatching(/our deletion operation-\d+ is under way/) as string,
    });
    expect((await failureOf(off.agent.remove(off.target({ intent: 'end-1' })))).facts.answered).toContain('it is not off');
    expect(off.cloud.queries.map((query) => [...query.keys()].sort().join())).toEqual(['noGracefulShutdown,requestId', 'requestId']);
  });

  it('is looked for by its id: another that bears its name by now is not it, and is not deleted', async () => {
    const off = await stopped();
    off.cloud.setFaults({ stopMs: 60_000 });
    await off.agent.remove(off.target());
    off.cloud.setFaults({ isReplaced: true });
    expect(await off.agent.removal(off.target())).toMatchObject({ isGone: true });
    const second = await failureOf(off.agent.remove(off.target()));
    expect(second.kind).toBe('Misconfigured');
    expect(deletions(off)).toHaveLength(1);
  });

  it.each<[string, ComputeExtras, string]>([
    ['of a managed group', { managedBy: 'workers' }, 'it is managed by instance group workers'],
    ['that is protected', { isProtected: true }, 'protected against deletion'],
  ])('%s stays, in words', async (_what, extras, words) => {
    const off = await stopped(extras);
    const error = await failureOf(off.agent.remove(off.target()));
    expect([error.kind, error.facts.answered]).toEqual(['Refused', expect.stringContaining(words)]);
    expect(await off.agent.removal(off.target())).toMatchObject({ isGone: false });
  });

  it('of a managed group stays, also where the one that bore its name before was of none', async () => {
    const off = await stopped({ replacementManagedBy: 'workers' });
    off.cloud.setFaults({ isReplaced: true });
    const heir = off.target({ identity: { node: NODE, providerID: PROVIDER_ID, addresses: ['192.0.2.250'] } });
    const error = await failureOf(off.agent.remove(heir));
    expect([error.kind, error.facts.answered]).toEqual(['Refused', expect.stringContaining('it is managed by instance group workers')]);
    expect(deletions(off)).toEqual([]);
  });

  it('stays where nothing proves that it is the node’s, and without a lease', async () => {
    const off = await stopped();
    const refused = async (change: Partial<Target>): Promise<string> => (await failureOf(off.agent.remove(off.target(change)))).kind;
    expect(await refused({ identity: { node: 'worker-1' } })).toBe('Refused');
    expect(await refused({ beforeSend: denied })).toBe('NotSent');
    expect(deletions(off)).toEqual([]);
  });

  it('has its right asked for by a probe', async () => {
    const lacking = await startedIn(open, { denied: ['compute.instances.delete'] });
    expect((await lacking.agent.read(lacking.target({ isProbe: true }))).wouldRefuse).toBeUndefined();
    expect((await lacking.agent.read(lacking.target({ isProbe: true, deletes: true }))).wouldRefuse).toContain('compute.instances.delete');
    const grouped = await startedIn(open, { managedBy: 'workers' });
    expect((await grouped.agent.read(grouped.target({ isProbe: true, deletes: true }))).wouldRefuse).toContain('instance group workers');
  });
});
