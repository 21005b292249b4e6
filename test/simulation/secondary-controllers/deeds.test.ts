import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../src/kube/client.ts';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import { Deeds } from './deeds.ts';

const FINALIZER = 'ours';

/** A request for node b that somebody takes back after a minute; `finalizers`: what holds it then. */
async function harness(finalizers: readonly string[]) {
  const due: { atMs: number; task: () => void }[] = [];
  const kernel = { schedule: (delayMs: number, task: () => void) => (due.push({ atMs: delayMs, task }), () => undefined), trace: () => undefined };
  const switchedOn: string[] = [];
  const removed: string[] = [];
  const there = { node: true };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const admin = {
    create: () => Promise.resolve({}),
    get: ({ plural }: { plural: string }) =>
      Promise.resolve(plural === 'leases' ? { spec: { holderIdentity: 'NodeHealthCheck-simulated' } } : there.node ? {} : undefined),
    remove: ({ plural }: { plural: string }) => {
      removed.push(plural);
      if (plural === 'nodefenceremediations') hear('delete', finalizers);
      return Promise.resolve(true);
    },
  } as unknown as ApiClient;
  const deeds = new Deeds({ kernel, admin, wallMs: () => 0, switchOn: (node) => switchedOn.push(node) });
  function hear(verb: ApiEvent['verb'], held: readonly string[]): void {
    const object = { metadata: { name: 'by-hand-0', deletionTimestamp: 'now', finalizers: [...held] } };
    deeds.hear({ kind: 'api', at: 0, user: 'x', verb, resource: 'nodefenceremediations.ha.k8s.io', name: 'by-hand-0', status: 200, object });
  }
  deeds.schedule([{ what: 'request', node: 'b', atMs: 0, durationMs: 60_000, spec: {}, hasLease: true }]);
  const pass = async (): Promise<void> => {
    for (const { task } of due.splice(0)) task();
    await settle();
  };
  await pass();
  return { deeds, hear, pass, there, switchedOn, removed };
}

describe('a request that somebody takes back', () => {
  it('whose Node goes before the last finalizer does has its machine taken into use again', async () => {
    const { deeds, hear, pass, there, switchedOn, removed } = await harness([FINALIZER]);
    await pass();
    there.node = false;
    expect([switchedOn, removed]).toEqual([[], ['nodefenceremediations']]);
    hear('patch', []);
    expect(deeds.isPending).toBe(true);
    await pass();
    expect([switchedOn, removed, deeds.isPending]).toEqual([['b'], ['nodefenceremediations', 'leases'], false]);
  });

  it('that nothing holds is gone at once', async () => {
    const { pass, switchedOn, removed } = await harness([]);
    await pass();
    expect([switchedOn, removed]).toEqual([[], ['nodefenceremediations', 'leases']]);
  });
});
