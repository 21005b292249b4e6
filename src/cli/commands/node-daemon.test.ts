import { describe, expect, it } from 'vitest';

import { planOf } from '../../domain/testing/model.ts';
import { ApiClient } from '../../kube/client.ts';
import { ScriptedTransport } from '../../kube/testing/scripted-transport.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { explain } from './explanation.ts';
import { fleetOf } from './fleet.ts';
import { explainPage } from './pages/explain-page.ts';
import { fencePage } from './pages/fence-page.ts';
import { fleetPage } from './pages/fleet-page.ts';
import { PLAIN } from './terminal/ink.ts';
import { ago, kubeletLease, leader, listersOf, node, NOW_MS } from './testing/pictured-cluster.ts';

const SHEET = { ink: PLAIN, width: 160, nowMs: NOW_MS };
const OPTIONS = { server: 'here', wide: false, all: false };

function report(name: string, reason: string, message: string): NodeFenceReport {
  const condition = { type: 'NodeDaemonHeard', status: reason === 'Silent' ? 'False' : 'True', reason, message, lastTransitionTime: ago(60) };
  return { metadata: { name }, status: { conditions: [condition] } };
}

const SILENT = 'No heartbeat since 02:13; the last one said: watchdog armed. Watchdog: hardware, armed, 10 s.';
const REPORTS = [report('a', 'WatchdogArmed', 'Heartbeats come.'), report('b', 'HeartbeatsCome', 'Heartbeats come.'), report('c', 'Silent', SILENT)];
const NODES = ['a', 'b', 'c', 'd'].map((name) => node(name, 'True', 100));

describe('what a node’s daemon says', () => {
  const fleet = fleetOf({ nodes: NODES, fences: [], stops: [], reports: REPORTS }, leader());

  it('stands in status for each node that has one', () => {
    const page = fleetPage(fleet, OPTIONS, SHEET);
    expect(page).toMatch(/NODE +READY +DAEMON/u);
    for (const line of [/^a .*armed/mu, /^b .*heard/mu, /^c .*silent/mu, /^d .* - /mu]) expect(page).toMatch(line);
  });

  it('takes no room where no node has one', () => {
    expect(fleetPage(fleetOf({ nodes: NODES, fences: [], stops: [], reports: [] }, leader()), OPTIONS, SHEET)).not.toContain('DAEMON');
  });

  it('stands in status and explain of the node, with when', () => {
    const row = fleet.nodes.find((candidate) => candidate.node === 'c')!;
    const page = fencePage({ row, leader: leader(), stops: [], fence: undefined, acknowledgements: [] }, SHEET);
    expect(page).toMatch(/node daemon +silent since .*: No heartbeat since 02:13; the last one said: watchdog armed/u);
    const planner = { planFor: () => planOf(), parametersFor: () => Promise.reject(new Error('nothing runs')), stormPolicies: () => [] };
    const access = { cluster: new ApiClient({ transport: new ScriptedTransport() }), random: new SystemRandom() };
    const listers = listersOf({ nodes: NODES, leases: [kubeletLease('c', 1)], reports: REPORTS });
    const looks = explain({ access, node: 'c', listers, planner, leader: leader(), outOfService: true, nowMs: NOW_MS });
    const facts = { name: 'c', node: NODES[2], lease: undefined, leader: leader(), report: REPORTS[2], stops: [], looks, unreadable: [] };
    expect(explainPage(facts, SHEET)).toMatch(/node daemon +silent since .*: No heartbeat/u);
  });

  it('makes explain say that the node has failed, where fast detection takes it for failed; not where it is only suspected, or nobody leads', () => {
    const explained = (reason: string, leads = leader()): string => {
      const reports = [report('c', reason, 'No heartbeat since 02:13: its peers do not reach it.')];
      const planner = { planFor: () => planOf(), parametersFor: () => Promise.reject(new Error('nothing runs')), stormPolicies: () => [] };
      const access = { cluster: new ApiClient({ transport: new ScriptedTransport() }), random: new SystemRandom() };
      const listers = listersOf({ nodes: NODES, leases: [kubeletLease('c', 1)], reports });
      const looks = explain({ access, node: 'c', listers, planner, leader: leads, outOfService: true, nowMs: NOW_MS });
      return explainPage({ name: 'c', node: NODES[2], lease: undefined, leader: leads, report: reports[0], stops: [], looks, unreadable: [] }, SHEET);
    };
    const failed = explained('TakenForFailed');
    expect(failed).toContain('Node c has failed and no fence is open yet.');
    expect(failed).toMatch(/trigger +yes: fast detection takes it for failed/u);
    expect(failed).toMatch(/node daemon +failed since/u);
    expect(explained('Suspected')).toMatch(/trigger +no/u);
    expect(explained('TakenForFailed', { ...leader(), isAlive: false })).toMatch(/trigger +no/u);
  });
});
