import { describe, expect, it } from 'vitest';
import { LiveRemedies } from '../../config/live-remedies.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { RemedyPositionStatus } from '../../ports/remedies.ts';
import type { NodeFenceStop } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { explainRemedies } from './explain-remedies.ts';
import type { RemedyLook } from './explain-remedies.ts';
import { dependenciesOf } from './explanation.ts';
import type { Leader } from './leader.ts';
import { listed } from './listed-cluster.ts';
import { explainPage } from './pages/explain-page.ts';
import { PLAIN } from './terminal/ink.ts';
import { ago, kubeletLease, leader, listersOf, node, NOW_MS } from './testing/pictured-cluster.ts';

const CONFIGURATION = `
apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
  - nodeConditionType: DiskSick
    nodeConditionStatus: true
    nodeConditionPeriod: 60s
    remedy1: {name: mend, period: 2m}
    remedy2: {name: cordon, period: 5m}
    recovery: {name: uncordon}
remedyConfigs:
  - name: mend
    podTemplate: {spec: {containers: [{name: mend, image: mend}]}}
`;
const STOP = { metadata: { name: 'stop-all' }, spec: { all: true, reason: 'storage works' } };
const WAITING = {
  threshold: 'DiskSick=True',
  episode: 'e',
  phase: 'waiting',
  attempt: 1,
  rung: 0,
  serial: 0,
  hasActed: false,
  since: ago(5),
} as const;
const STARTING = { ...WAITING, phase: 'starting', rung: 1, serial: 1, run: { id: 'e-1-1-1', remedy: 'mend', kind: 'podTemplate', of: '1' } } as const;

interface Situation {
  sickSince: number;
  positions?: readonly RemedyPositionStatus[];
  stops?: readonly NodeFenceStop[];
  leads?: Leader;
  configuration?: string;
  refused?: string;
}

function sick(sinceSeconds: number): Node {
  const one = node('a', 'True', 9_000);
  const condition = { type: 'DiskSick', status: 'True' as const, lastTransitionTime: ago(sinceSeconds), lastHeartbeatTime: ago(5) };
  return { ...one, status: { ...one.status, conditions: [...(one.status.conditions ?? []), condition] } };
}

async function looksAt({
  sickSince,
  positions = [],
  stops = [],
  leads = leader(),
  configuration = CONFIGURATION,
  refused,
}: Situation): Promise<RemedyLook[]> {
  const one = sick(sickSince);
  const reports = positions.length === 0 ? [] : [{ metadata: { name: 'a' }, status: { remedies: { positions: [...positions] } } }];
  const listers = listersOf({ nodes: [one], leases: [kubeletLease('a', 2)], reports, stops });
  const objects: Readonly<Record<string, readonly unknown[]>> = { nodes: [one], nodefencereports: reports, nodefencestops: stops };
  const answer = <T>({ plural }: { plural: string }, choose: (all: readonly unknown[]) => unknown): Promise<T> =>
    plural === refused
      ? Promise.reject(new ApiStatusError(403, 'Forbidden', `${plural} are not yours`))
      : Promise.resolve(choose(objects[plural] ?? []) as T);
  const cluster = {
    get: (resource: { plural: string }) => answer(resource, ([first]) => first),
    list: (resource: { plural: string }) => answer(resource, (all) => all),
  } as unknown as Cluster;
  const clock = new ManualClock({ monotonicMs: NOW_MS, wallMs: NOW_MS });
  const configMaps = listed([{ metadata: { name: 'fence-remedies' }, data: { 'a.yaml': configuration } }]);
  const settings = new LiveRemedies({ configMaps, nodes: listers.nodes, clock });
  const planner = { planFor: () => planOf(), parametersFor: () => Promise.reject(new Error('nothing runs')), stormPolicies: () => [] };
  const access = { cluster, random: new SystemRandom(), namespace: 'nodefence' };
  const input = { access, node: 'a', listers, planner, leader: leads, outOfService: true, nowMs: NOW_MS };
  return explainRemedies({ ...input, node: one, dependencies: dependenciesOf(input, clock), settings });
}

/** `row: message` and in how many seconds time alone changes it. */
async function toldOf(situation: Situation): Promise<string[]> {
  const looks = await looksAt(situation);
  return looks.map(({ row, message, dueMs }) => {
    const due = dueMs === undefined ? '' : ` +${Math.round((dueMs - NOW_MS) / 1_000)}`;
    return `${row ?? '?'}${message === undefined ? '' : `: ${message}`}${due}`;
  });
}

describe('what explain tells of the remedies of a node', () => {
  it('is the row of the table, by the period of the condition', async () => {
    expect(await toldOf({ sickSince: 20 })).toEqual(['none +40']);
    expect(await toldOf({ sickSince: 70 })).toEqual(['noticed']);
  });

  it('counts from when the leader began to lead, as that one does', async () => {
    const leads = { ...leader(), acquireTime: ago(30) };
    expect(await toldOf({ sickSince: 70, leads })).toEqual(['none +30']);
  });

  it('goes on from where the leader wrote it down, and names what holds', async () => {
    expect(await toldOf({ sickSince: 70, positions: [WAITING] })).toEqual(['next-remedy']);
    expect(await toldOf({ sickSince: 70, positions: [WAITING], stops: [STOP] })).toEqual([expect.stringMatching(/^held: held: .*storage works/u)]);
    expect(await toldOf({ sickSince: 70, positions: [WAITING], leads: { ...leader(), mode: 'observe' } })).toEqual([
      'held: held: --mode observe: nothing is changed',
    ]);
    expect(await toldOf({ sickSince: 70, positions: [{ ...WAITING, rung: 1 }] })).toEqual(['not-due: waits before the next remedy +115']);
  });

  it('takes a run that was written down and is held for one that was not begun, unless a predecessor wrote it', async () => {
    const held = { sickSince: 900, positions: [{ ...STARTING, since: ago(300) }], stops: [STOP] };
    expect(await toldOf(held)).toEqual([expect.stringMatching(/^run-held: held: .*storage works/u)]);
    expect(await toldOf({ ...held, leads: { ...leader(), acquireTime: ago(100) } })).toEqual(['run-seen']);
  });

  it('is not known of what no ConfigMap configures, and of what the caller may not read', async () => {
    const positions = [{ ...WAITING, threshold: 'Other=True' }];
    expect(await toldOf({ sickSince: 20, positions })).toEqual([
      'none +40',
      '?: not known: no ConfigMap configures it; a file of the controller may (--remedies names its folder)',
    ]);
    const [look] = await looksAt({ sickSince: 70, positions: [STARTING], refused: 'jobs' });
    expect([look?.threshold, look?.row, look?.message]).toEqual(['DiskSick=True', undefined, expect.stringContaining('jobs are not yours')]);
  });

  it('is printed with the words of the table', async () => {
    const remedyLooks = await looksAt({ sickSince: 70, positions: [{ ...WAITING, rung: 1 }] });
    const snapshot = { nowMs: NOW_MS, holds: [], since: {}, plan: planOf(), fence: undefined, node: undefined };
    const looks = [{ atMs: NOW_MS, snapshot, decision: { row: 'none', events: [] } }] as unknown as Parameters<typeof explainPage>[0]['looks'];
    const page = { name: 'a', node: undefined, lease: undefined, leader: leader(), report: undefined, stops: [], looks, remedyLooks, unreadable: [] };
    const printed = explainPage(page, { ink: PLAIN, width: 400, nowMs: NOW_MS });
    expect(printed).toContain(
      'row not-due of remedies of DiskSick=True in phase waiting: the period since the last remedy, or cooldown, is not over',
    );
    expect(printed).toContain('the next look at DiskSick=True, which decides what its remedies do');
  });
});
