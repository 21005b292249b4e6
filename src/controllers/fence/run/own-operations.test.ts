import { expect, it } from 'vitest';

import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { EMPTY_PLAN } from '../../../domain/plan.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import type { Acknowledgements } from '../acknowledgements.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { NodeObservation } from '../observation.ts';
import { OwnOperations } from './own-operations.ts';
import type { Run } from './run.ts';

it('releases nothing on revoked storage while the daemon of the node may register again', async () => {
  const clock = new ManualClock();
  const asked: string[] = [];
  const unfencing = { of: () => undefined, mayRegister: (node: string) => (asked.push(node), Promise.resolve('it may register again')) };
  const reached: string[] = [];
  const cluster = new Proxy({}, { get: (_of, name) => () => (reached.push(String(name)), Promise.reject(new Error('reached'))) });
  const dependencies = { clock, unfencing, cluster } as unknown as FenceDependencies;
  const parts = { permission: { demand: () => undefined }, writes: {}, devices: {} } as unknown as ConstructorParameters<typeof OwnOperations>[2];
  const entry = { id: 'r', action: 'release', step: 'isolation', agent: 'kubernetes' } as JournalEntry;
  const status = {
    ...{
      state: 'running',
      step: 'isolation',
      journal: [entry],
      frozen: { nodeUID: 'u', plan: { ...EMPTY_PLAN, minimumEvidence: ['storage-revoked'] } },
    },
    evidence: [{ kind: 'storage-revoked', grade: 'read-back', source: 'x', detail: '', observedAt: '', storages: ['san'] }],
  } as unknown as NodeFenceStatus;
  const run = { node: 'a', kind: 'run', entry, status, fence: { metadata: { uid: 'u' } } } as unknown as Run;
  const own = new OwnOperations(dependencies, undefined as unknown as Acknowledgements, parts);
  expect(await own.run(run, new NodeObservation(0))).toEqual({ result: 'voided', message: 'it may register again' });
  expect([asked, reached]).toEqual([['a'], []]);
});
