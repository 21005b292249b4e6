import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { otherInstallation } from './other-installation.ts';
import type { Fault } from './questions.ts';

const NAME = 'nodefence-controller';

/** Leases by namespace; `renews`: the holder is alive. */
async function ask(
  leases: Readonly<Record<string, { created: string; holder?: string; renews?: boolean; mode?: string }>>,
): Promise<{ faults: Fault[]; tookMs: number }> {
  const clock = new ManualClock();
  const list = (): Promise<Lease[]> =>
    Promise.resolve(
      Object.entries(leases).map(([namespace, { created, holder = 'pod-1', renews = false, mode = 'enforce' }]) => ({
        metadata: { name: NAME, namespace, uid: namespace, creationTimestamp: created, annotations: { mode } },
        spec: { holderIdentity: holder, renewTime: new Date(renews ? clock.wallMs() : 0).toISOString() },
      })),
    );
  const cluster = { list } as unknown as Pick<Cluster, 'list'>;
  const acts = ({ metadata }: Lease): boolean => metadata.annotations?.['mode'] !== 'observe';
  const beganAtMs = clock.monotonicMs();
  const question = otherInstallation({ cluster, clock, namespace: 'ours', leaseName: NAME, acts });
  const answer = question.ask().then((faults) => ({ faults, tookMs: clock.monotonicMs() - beganAtMs }));
  for (let round = 0; round < 20; round += 1) await clock.advance(1_000);
  return answer;
}

const OLD = '2026-01-01T00:00:00Z';
const NEW = '2026-06-01T00:00:00Z';

describe('another installation in the cluster', () => {
  it('that is alive keeps a second one from acting, which names it and what mends that', async () => {
    const { faults } = await ask({ theirs: { created: OLD, renews: true } });
    expect(faults).toEqual([
      {
        part: 'installation',
        message: expect.stringContaining('in namespace theirs') as string,
        remedy: expect.stringContaining('kubectl -n theirs') as string,
      },
    ]);
    expect((await ask({ theirs: { created: OLD, renews: true }, ours: { created: NEW, renews: true } })).faults).toHaveLength(1);
  });

  it('that came later keeps the first from nothing', async () => {
    expect((await ask({ theirs: { created: NEW, renews: true }, ours: { created: OLD, renews: true } })).faults).toEqual([]);
  });

  it.each([
    ['left its Lease behind when it was uninstalled', { created: OLD }],
    ['has given its Lease back', { created: OLD, holder: '', renews: true }],
    ['only observes', { created: OLD, renews: true, mode: 'observe' }],
  ])('that %s is none', async (_what, theirs) => {
    expect((await ask({ theirs })).faults).toEqual([]);
  });

  it('is not waited for where there is no other Lease', async () => {
    expect(await ask({ ours: { created: OLD, renews: true } })).toEqual({ faults: [], tookMs: 0 });
  });
});
