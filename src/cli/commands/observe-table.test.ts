import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { planOf } from '../../domain/testing/model.ts';
import type { ActiveHold } from '../../domain/snapshot.ts';
import { ApiClient } from '../../kube/client.ts';
import { ScriptedTransport } from '../../kube/testing/scripted-transport.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { explain } from './explanation.ts';
import { fleetOf } from './fleet.ts';
import { explainPage } from './pages/explain-page.ts';
import { fencePage } from './pages/fence-page.ts';
import { fleetPage } from './pages/fleet-page.ts';
import { PLAIN } from './terminal/ink.ts';
import { ago, fence, kubeletLease, leader, listersOf, node, NOW_MS, run } from './testing/pictured-cluster.ts';
import type { Picture } from './testing/pictured-cluster.ts';

type Mode = 'observe' | 'enforce';

const SHEET = { ink: PLAIN, width: 300, nowMs: NOW_MS };
const FAILED: Picture = { nodes: [node('a', 'Unknown', 60)], leases: [kubeletLease('a', 100)] };
const HEALTHY: Picture = { nodes: [node('a', 'True', 9_000)], leases: [kubeletLease('a', 2)] };
const NEW: Partial<NodeFenceStatus> = { state: 'new', step: 'isolation', journal: [], timeline: { failedAt: ago(60), noticedAt: ago(60) } };
const GRACE: ActiveHold = { policy: 'startup-grace', reason: 'startup-grace', message: 'no new fence for 5 min', untilMs: NOW_MS + 120_000 };

/** As the leader of this mode would have it on record: its own decision, taken once. */
function recorded(picture: Picture, mode: Mode, storm: readonly ActiveHold[]): Picture {
  const [look] = looksAt(picture, mode, storm);
  const [stored] = picture.fences ?? [];
  const status = look?.decision.status;
  if (stored === undefined || status === undefined || look?.decision.dispatch !== undefined) return picture;
  return { ...picture, fences: [{ ...stored, status }] };
}

function looksAt(picture: Picture, mode: Mode, storm: readonly ActiveHold[]): ReturnType<typeof explain> {
  const plan = planOf();
  const planner = { planFor: () => plan, parametersFor: () => Promise.reject(new Error('nothing runs')), stormPolicies: () => [] };
  const access = { cluster: new ApiClient({ transport: new ScriptedTransport() }), random: new SystemRandom() };
  const input = { access, node: 'a', listers: listersOf(picture), planner, leader: { ...leader(), mode }, outOfService: true, nowMs: NOW_MS, storm };
  return explain(input);
}

/** What a person reads: explain, status, status of the node, and the Events of the decision. */
function told(given: Picture, mode: Mode, storm: readonly ActiveHold[] = []): { row: string | undefined; explained: string; all: string } {
  const events = looksAt(given, mode, storm).flatMap(({ decision }) => decision.events.map(({ reason, message }) => `${reason}: ${message}`));
  const picture = recorded(given, mode, storm);
  const looks = looksAt(picture, mode, storm);
  const lead = { ...leader(), mode };
  const page = { name: 'a', node: picture.nodes?.[0], lease: picture.leases?.[0], leader: lead, report: undefined, stops: [], looks, unreadable: [] };
  const explained = explainPage(page, SHEET);
  const cluster = { nodes: picture.nodes ?? [], fences: picture.fences ?? [], stops: [], reports: [] };
  const fleet = fleetOf(cluster, lead);
  const pages = [fleetPage(fleet, { server: 's', wide: false, all: false }, SHEET)];
  const [row] = fleet.nodes;
  if (row !== undefined) pages.push(fencePage({ row, leader: lead, stops: [], fence: picture.fences?.[0], acknowledgements: [] }, SHEET));
  return { row: looks[0]?.decision.row, explained, all: [explained, ...pages, ...events].join('\n') };
}

const open = (more: Partial<NodeFenceStatus>): Picture => ({ ...FAILED, fences: [fence('a', more)] });
const back = [run('on:on', 50, { finishedAt: ago(40), result: 'succeeded' })];

/** Each row, and what is said of it in either mode. */
const TABLE: readonly {
  of: string;
  picture: Picture;
  storm?: readonly ActiveHold[];
  rows: Record<Mode, string>;
  says: Record<Mode, RegExp>;
  hasActed?: true;
}[] = [
  { of: 'healthy', picture: HEALTHY, rows: { enforce: 'none', observe: 'none' }, says: { enforce: /nothing, until/, observe: /nothing, until/ } },
  {
    of: 'failed, without a fence',
    picture: FAILED,
    rows: { enforce: 'none-triggered', observe: 'none-triggered' },
    says: {
      enforce: /a NodeFence is created\n/,
      observe: /a NodeFence is created, as a record of what would be done\n[^]*mode enforce would switch off by redfish at bmc/,
    },
  },
  {
    of: 'a new fence',
    picture: open(NEW),
    rows: { enforce: 'new-isolate', observe: 'new-held' },
    says: {
      enforce: /at once +new-isolate: cordon/,
      observe: /at once +mode enforce would cordon\n +in 5m +02:20:00Z, mode enforce would switch off by redfish at bmc\n/,
    },
  },
  {
    of: 'a new fence that is held by time',
    picture: open(NEW),
    storm: [GRACE],
    rows: { enforce: 'new-held', observe: 'new-held' },
    says: {
      enforce:
        /startup-grace until 02:17:00Z \(in 2m\): no new fence for 5 min[^]*Next[^\n]*\n +in 2m +02:17:00Z, the hold startup-grace ends\n +in 2m +02:17:00Z, new-isolate: cordon/,
      observe:
        /startup-grace until 02:17:00Z \(in 2m\): no new fence[^]*Next[^\n]*\n +in 2m +02:17:00Z, the hold startup-grace would end\n +in 2m .*mode enforce would cordon\n +in 7m .*switch off/,
    },
  },
  {
    of: 'a new fence that is held without an end',
    picture: open(NEW),
    storm: [{ policy: 'max-unhealthy', reason: 'max-unhealthy', message: '5 of 8' }],
    rows: { enforce: 'new-held', observe: 'new-held' },
    says: {
      enforce: /max-unhealthy: 5 of 8[^]*held for too long by max-unhealthy/,
      observe: /some time .*mode enforce would switch off by redfish at bmc, when max-unhealthy holds no more, and 5m later/,
    },
  },
  {
    of: 'an isolated node',
    picture: open({}),
    rows: { enforce: 'running-delay', observe: 'observing' },
    says: { enforce: /in 4m7s .*running-power: switch off/, observe: /in 4m7s .*mode enforce would switch off by redfish at bmc\n/ },
  },
  {
    of: 'a run under way',
    hasActed: true,
    picture: open({ journal: [run('off:off', 4)] }),
    rows: { enforce: 'in-flight', observe: 'in-flight' },
    says: { enforce: /under way +switch off/, observe: /under way +switch off/ },
  },
  {
    of: 'a run that a predecessor left open',
    hasActed: true,
    picture: open({ journal: [run('off:off', 40, { epoch: 3 })] }),
    rows: { enforce: 'take-over', observe: 'take-over' },
    says: { enforce: /read what became of/, observe: /read what became of/ },
  },
  {
    of: 'a machine that is on again',
    picture: { ...HEALTHY, fences: [fence('a', { state: 'done', step: 'recovery', journal: back })] },
    rows: { enforce: 'done-healthy', observe: 'observing' },
    says: { enforce: /done-healthy: uncordon/, observe: /mode observe, nothing is changed/ },
  },
  {
    of: 'a fence that is over',
    picture: { ...HEALTHY, fences: [fence('a', { state: 'final', outcome: 'recovered' })] },
    rows: { enforce: 'final-wait', observe: 'final-wait' },
    says: { enforce: /was fenced and recovered/, observe: /was fenced and recovered/ },
  },
];

/** What only an act may be called. */
const SOUNDS_DONE =
  /FencingStarted|isolation follows|FencingStarted|is being fenced|(?<!would )switched off now|NodeIsolated|(?:at once|in \S+) +(?:\S+, )?(?:new-isolate|running-power|done-healthy):/u;

describe('explain, status and Events by row and mode', () => {
  const cases = TABLE.flatMap((entry) => (['enforce', 'observe'] as const).map((mode) => ({ ...entry, mode })));

  it.each(cases)('$mode: $of', ({ picture, storm, mode, rows, says }) => {
    const { row, explained } = told(picture, mode, storm);
    expect(row).toBe(rows[mode]);
    expect(explained).toMatch(says[mode]);
  });

  it.each(TABLE.filter(({ hasActed }) => hasActed !== true))('observe: $of sounds like nothing that happened', ({ picture, storm }) => {
    expect(told(picture, 'observe', storm).all).not.toMatch(SOUNDS_DONE);
  });

  it('observe: status and the Event say what would be done, when, what holds it until when, and what would be released', () => {
    const { all } = told(open(NEW), 'observe', [GRACE]);
    const words =
      '--mode observe, nothing is changed: would be held by startup-grace until 2026-03-29T02:17:00Z: no new fence for 5 min; would cordon at 2026-03-29T02:17:00Z, would switch off by redfish at bmc at 2026-03-29T02:22:00Z, and would find no pod to release';
    expect(all).toContain(`WouldFence: ${words}`);
    expect(all).toContain(`a: ${words}`);
    expect(all).toContain('would be held by startup-grace until 02:17:00Z (in 2m): no new fence for 5 min');
  });
});
