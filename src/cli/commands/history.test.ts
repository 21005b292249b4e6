import { describe, expect, it } from 'vitest';
import type { IncidentRecord } from '../../domain/incident-record.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { forgive } from './forgive.ts';
import { pastFences } from './history.ts';
import { historyPage } from './pages/history-page.ts';
import { PLAIN } from './terminal/ink.ts';
import { ago, NOW_MS } from './testing/pictured-cluster.ts';

function record(incident: number, startedSeconds: number, more: Partial<IncidentRecord> = {}): IncidentRecord {
  return { incident, startedAt: ago(startedSeconds), trigger: 'node-condition', evidence: [], timeline: {}, summary: '', ...more };
}

function reportOf(name: string, incidents: IncidentRecord[]): NodeFenceReport {
  return { metadata: { name, resourceVersion: '5' }, status: { incidents } };
}

const REPORTS = [
  reportOf('a', [
    record(1, 7_200, {
      endedAt: ago(7_000),
      outcome: 'recovered',
      evidence: ['power-off'],
      timeline: { isolatedAt: ago(7_195), poweredOffAt: ago(7_180), releasedAt: ago(7_179), poweredOnAt: ago(7_150), readyAt: ago(7_040) },
      summary: 'The node is healthy and recovered.',
    }),
    record(2, 600, { outcome: 'failed', heldBy: 'stop: hands off', trigger: 'remediation' }),
  ]),
  reportOf('b', [record(1, 3_600)]),
  { metadata: { name: 'quiet' } },
];
const SHEET = { ink: PLAIN, width: 120, nowMs: NOW_MS };

describe('nodefence history', () => {
  it('lists the fences of all nodes, the newest first, with outcome, proof and what held them', () => {
    const lines = historyPage(pastFences(REPORTS), { node: undefined, wide: false }, SHEET).split('\n');
    expect(lines).toEqual([
      'NODE  INCIDENT  BEGAN      TOOK      OUTCOME    EVIDENCE   HELD BY',
      'a     2         02:05:00Z  not over  failed     none       stop',
      'b     1         01:15:00Z  not over  open       none       -',
      'a     1         00:15:00Z  3m20s     recovered  power-off  -',
    ]);
  });

  it('tells how one fence went, from its beginning', () => {
    const page = historyPage(pastFences(REPORTS.slice(0, 1)), { node: 'a', wide: true }, SHEET);
    expect(page).toContain('a, incident 1, asked by node-condition');
    expect(page).toContain('isolated +5s, proven off +20s, released +21s, on +50s, Ready +2m40s');
    expect(page).toContain('hands off');
  });

  it('says that nothing is on record', () => {
    expect(historyPage([], { node: 'a', wide: true }, SHEET)).toBe('No fence of node a is on record.');
  });
});

describe('nodefence resume of a node that its own record holds', () => {
  async function resumed(incidents: IncidentRecord[], fence?: NodeFence): Promise<{ words: string | undefined; patch: unknown }> {
    let patch: unknown;
    const cluster: Pick<Cluster, 'get' | 'mergePatch'> = {
      get: (resource) => Promise.resolve((resource.kind === 'NodeFence' ? fence : reportOf('a', incidents)) as never),
      mergePatch: (_resource, _name, body) => {
        patch = body;
        return Promise.resolve(undefined as never);
      },
    };
    const transport = { request: () => Promise.resolve({ status: 201, body: { status: { userInfo: { username: 'olga' } } } }) };
    const access = { cluster, clock: new ManualClock(), transport } as unknown as Parameters<typeof forgive>[0];
    return { words: await forgive(access, 'a'), patch };
  }
  const failed = [record(3, 9_000, { outcome: 'failed' }), record(4, 8_000, { outcome: 'failed' })];

  it('writes into the report after which incident, and by whom, under the version that was read', async () => {
    const { words, patch } = await resumed(failed);
    expect(words).toContain('breaker: incidents 3, 4 of this node ended without recovery');
    expect(patch).toEqual({
      metadata: { resourceVersion: '5', annotations: { 'nodefence.ha.k8s.io/requested-by': 'olga' } },
      spec: { resumed: { incident: 4, reason: 'nodefence resume by olga' } },
    });
  });

  it('does so too for the hold that stands on the open fence', async () => {
    const hold = { reason: 'fences-per-day', policy: 'max-fences-per-day', message: 'fenced 3 times', since: '' };
    const fence = { metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: { hold } } as unknown as NodeFence;
    expect((await resumed([record(1, 60)], fence)).words).toBe('max-fences-per-day: fenced 3 times');
  });

  it('changes nothing when nothing of the kind holds', async () => {
    expect(await resumed([record(1, 60, { outcome: 'recovered' })])).toEqual({ words: undefined, patch: undefined });
  });
});
