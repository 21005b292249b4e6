import { describe, expect, it } from 'vitest';
import { method, planOf } from '../../../domain/testing/model.ts';
import { ApiClient } from '../../../kube/client.ts';
import { ScriptedTransport } from '../../../kube/testing/scripted-transport.ts';
import { SystemRandom } from '../../../runtime/system-random.ts';
import { explain } from '../explanation.ts';
import { fleetOf, stopRow } from '../fleet.ts';
import { lastReads } from '../device-reads.ts';
import { PLAIN } from '../terminal/ink.ts';
import { widthOf } from '../terminal/text.ts';
import { ago, fence, kubeletLease, leader, listersOf, node, NOW_MS, run } from '../testing/pictured-cluster.ts';
import { ackPage } from './ack-page.ts';
import { explainPage } from './explain-page.ts';
import { fencePage } from './fence-page.ts';
import { fleetPage } from './fleet-page.ts';
import { planPage } from './plan-page.ts';
import type { Sheet } from './sections.ts';

const WIDTH = 80;
const SHEET: Sheet = { ink: PLAIN, width: WIDTH, nowMs: NOW_MS };
/** Too long to break. */
const UNBREAKABLE = /\S{60}/u;

const STOP = {
  metadata: { name: 'stop-b', creationTimestamp: ago(400), annotations: { 'nodefence.ha.k8s.io/requested-by': 'olga' } },
  spec: { node: 'b', reason: 'the board is changed' },
};
const PROBLEM = {
  severity: 'error',
  where: 'ConfigMap fence-config-c, key config.properties, line 2',
  message: 'there is no method redfish-of: did you mean redfish-off?',
};
const FAILED = fence('d', {
  state: 'error',
  outcome: 'failed',
  retries: 3,
  journal: [
    run('run:cordon', 900, { finishedAt: ago(899), result: 'succeeded', message: 'cordoned' }),
    run('off:off', 590, { finishedAt: ago(530), result: 'timeout', message: 'not off within 60000 ms; last read off: PowerState=On' }),
    run('off:off', 500, {
      attempt: 2,
      finishedAt: ago(440),
      result: 'unreachable',
      message: 'Unreachable: bmc: asked read, \u001b[31mconnect ETIMEDOUT',
    }),
  ],
  message: 'An operator must act: NF003 Timeout: the device said yes and did nothing. Nothing was released: its pods and volumes still wait.',
  conditions: [{ type: 'PoweredOff', status: 'False', reason: 'NoProof', message: '', lastTransitionTime: ago(900) }],
  history: [{ incident: 2, outcome: 'recovered', from: ago(900_000), to: ago(899_000), summary: 'The node is healthy and recovered.' }],
});
const PROVEN = fence('a', {
  journal: [
    run('run:cordon', 54, { finishedAt: ago(53), result: 'succeeded', message: 'cordoned' }),
    run('off:off', 12, { finishedAt: ago(8), result: 'succeeded', message: 'off read back 4 times, identity verified: off: PowerState=Off' }),
    run('release', 8, { action: 'release', device: '', agent: 'kubernetes' }),
  ],
  evidence: [
    {
      kind: 'power-off',
      grade: 'read-back',
      source: 'off:off-12',
      detail: 'off read back 4 times: PowerState=Off',
      identity: 'verified',
      observedAt: ago(8),
    },
  ],
  restore: { cordoned: true, edges: [{ method: 'off', agent: 'redfish', device: 'bmc', plug: '', state: 'off' }] },
  timeline: { failedAt: ago(60), noticedAt: ago(60), isolatedAt: ago(53), poweredOffAt: ago(8) },
});
const PICTURE = {
  nodes: [
    node('a', 'Unknown', 60, { unschedulable: true }),
    node('b', 'Unknown', 30),
    node('c', 'True', 90_000),
    node('d', 'Unknown', 900),
    node('e', 'True', 9_000),
  ],
  leases: [kubeletLease('a', 100), kubeletLease('b', 70)],
  fences: [PROVEN, FAILED, fence('b', { hold: { reason: 'stopped', policy: 'stop', message: 'Stopped by NodeFenceStop stop-b', since: ago(20) } })],
  stops: [STOP],
  reports: [
    { metadata: { name: 'c' }, status: { problems: [PROBLEM] } },
    { metadata: { name: 'e' }, status: { fence: 'never' as const } },
  ],
};

async function matches(page: string, name: string): Promise<void> {
  expect(page.split('\n').filter((line) => widthOf(line) > WIDTH && !UNBREAKABLE.test(line))).toEqual([]);
  expect(page).not.toMatch(/(?!\n)\p{Cc}/u);
  await expect(`${page}\n`).toMatchFileSnapshot(`transcripts/${name}.txt`);
}

describe('pages as an operator reads them on 80 columns (vitest -u writes them again; read the difference)', () => {
  const fleet = fleetOf(PICTURE, leader());
  const rowOf = (node: string): (typeof fleet.nodes)[number] => fleet.nodes.find((row) => row.node === node)!;

  it('status: what needs a person stands first', async () => {
    await matches(fleetPage(fleet, { server: '10.0.0.1:6443', wide: false, all: false }, SHEET), 'status');
    expect(fleet.nodes.map((row) => row.node)).toEqual(['d', 'a', 'b', 'c', 'e']);
  });

  it('status of a node under maintenance: whose mark that is, and what it says, before anything fails', () => {
    const annotations = { 'nodefence/maintenance': 'disk swap, ask Kim' };
    const well = node('a', 'True', 60);
    const marked = { ...well, metadata: { ...well.metadata, annotations } };
    const marks = fleetOf({ ...PICTURE, nodes: [marked], fences: [], stops: [] }, leader());
    const line = 'MAINTENANCE nodefence: annotation nodefence/maintenance=disk swap, ask Kim on Node a';
    const wide = { ...SHEET, width: 200 };
    expect(fleetPage(marks, { server: 's', wide: false, all: false }, wide)).toContain(`\n\n${line}`);
    const page = { row: marks.nodes[0]!, leader: leader(), stops: [], fence: undefined, acknowledgements: [] };
    expect(fencePage(page, wide)).toBe(`Node a is Ready and not fenced.\n${line}`);
    const many = Array.from({ length: 9 }, (_item, index) => ({ ...marked, metadata: { name: `n-${index}`, annotations } }));
    const crowd = fleetPage(fleetOf({ ...PICTURE, nodes: many, fences: [], stops: [] }, leader()), { server: 's', wide: false, all: false }, wide);
    expect(crowd).toContain('and 1 more nodes under maintenance');
  });

  it('status of five thousand nodes: the quiet ones are counted', () => {
    const many = { ...PICTURE, nodes: [...PICTURE.nodes, ...Array.from({ length: 5_000 }, (_item, index) => node(`n-${index}`, 'True', 900))] };
    const page = fleetPage(fleetOf(many, leader(600)), { server: 's', wide: false, all: false }, SHEET);
    expect(page.split('\n').length).toBeLessThan(25);
    expect(page).toContain('and 5001 nodes that are Ready and not fenced (--all shows them)');
    expect(page).toContain('no controller leads');
  });

  it('status of a node whose off is proven', async () => {
    const row = rowOf('a');
    await matches(fencePage({ row, leader: leader(), stops: [], fence: PROVEN, acknowledgements: [] }, SHEET), 'status-proven');
  });

  it('status of a node that was asked for while it was Ready: it did not fail', () => {
    const trigger = {
      kind: 'remediation' as const,
      conditionType: 'Ready',
      status: 'True' as const,
      reason: 'KubeletReady',
      since: ago(60),
      bootID: 'b',
    };
    const lineOf = (more: Partial<typeof trigger>): string =>
      fencePage(
        {
          row: rowOf('a'),
          leader: leader(),
          stops: [],
          fence: { ...PROVEN, status: { ...PROVEN.status!, trigger: { ...trigger, ...more } } },
          acknowledgements: [],
        },
        SHEET,
      );
    expect(lineOf({})).toMatch(/asked for +.*Ready True/u);
    expect(lineOf({ status: 'Unknown' as unknown as 'True' })).toMatch(/failed +.*Ready Unknown/u);
  });

  it('status of a node that somebody else has: who that is', () => {
    const row = { node: 'x', ready: 'Unknown' as const, cordoned: false, problems: [] };
    const holders = ['Lease medik8s-leases/node-x of node-maintenance: renewed a moment ago'];
    const page = fencePage({ row, leader: leader(), stops: [], holders, fence: undefined, acknowledgements: [] }, SHEET);
    expect(page.replaceAll('\n', ' ')).toContain('Node claimed by Lease medik8s-leases/node-x of node-maintenance: renewed a moment ago');
  });

  it('status of a node that could not be fenced', async () => {
    const row = rowOf('d');
    await matches(fencePage({ row, leader: leader(), stops: [stopRow(STOP)], fence: FAILED, acknowledgements: [] }, SHEET), 'status-failed');
  });

  it('explain: a fence that waits for power_management_delay', async () => {
    const planner = { planFor: () => planOf(), parametersFor: () => Promise.reject(new Error('nothing runs')), stormPolicies: () => [] };
    const access = { cluster: new ApiClient({ transport: new ScriptedTransport() }), random: new SystemRandom() };
    const waiting = { ...PICTURE, fences: [fence('a', {})] };
    const looks = explain({ access, node: 'a', listers: listersOf(waiting), planner, leader: leader(), outOfService: true, nowMs: NOW_MS });
    const facts = { name: 'a', node: PICTURE.nodes[0], lease: PICTURE.leases[0], leader: leader(), report: undefined, stops: [] };
    await matches(explainPage({ ...facts, looks, unreadable: ['VolumeAttachments'] }, SHEET), 'explain');
    const holders = ['NodeFenceRemediation default/r, by node-fence-a'];
    expect(explainPage({ ...facts, looks, unreadable: [], holders }, SHEET)).toMatch(/claimed by +NodeFenceRemediation default\/r, by node-fence-a/);
    const drivers = ['MachineHealthChecks of cluster.x-k8s.io are not driven by nodefence: --health-checks off'];
    expect(explainPage({ ...facts, looks, unreadable: [], drivers }, SHEET)).toMatch(
      /health checks +MachineHealthChecks of cluster.x-k8s.io are not driven/,
    );
  });

  it('plan: two supplies, a fallback level, a warning', async () => {
    const pdu = (plug: string): ReturnType<typeof method> => method(`outlet-${plug}`, 'redfish', 'reboot', { device: 'pdu-1', plug });
    const power = [...planOf().powerManagement, { level: 2, methods: [pdu('3'), pdu('4')] }];
    const problem = {
      severity: 'warning' as const,
      where: 'ConfigMap fence-config-a',
      message: 'supplies is not said: the plugs of the plan count',
      step: 'power-management' as const,
    };
    const freed = [{ namespace: 'shop', name: 'db-0', claims: ['data-db-0'] }];
    const plan = planOf({ powerManagement: power, problems: [problem] });
    const WITNESSES = [{ method: 'off', witness: 'the PowerState of its own Chassis' }, { method: 'outlet-3' }];
    await matches(
      planPage(
        { node: 'a', plan, freed, stay: 2, attached: ['pv-7'], auto: 'out-of-service', witnesses: WITNESSES, open: undefined, unreadable: [] },
        SHEET,
      ),
      'plan',
    );
  });

  it('plan: which of its methods need not show whose machine they switch', () => {
    const outlets = ['1', '2'].map((plug) => method(`outlet:${plug}`, 'pdu', 'reboot', { device: 'pdu-1', plug, identity: 'unverified' }));
    const plan = planOf({ powerManagement: [...planOf().powerManagement, { level: 2, methods: outlets }] });
    const page = {
      node: 'a',
      plan,
      freed: [],
      stay: 0,
      attached: [],
      auto: 'out-of-service' as const,
      witnesses: [],
      open: undefined,
      unreadable: [],
    };
    expect(planPage(page, SHEET).replaceAll(/\s+/gu, ' ')).toContain('; identity verified, unverified for outlet.');
    expect(planPage({ ...page, plan: { ...plan, identity: 'unverified' } }, SHEET).replaceAll(/\s+/gu, ' ')).toContain('; identity unverified.');
  });

  it('plan: beside a fence that goes by an older one, and the way to this one only where nothing was done yet', () => {
    const page = { node: 'a', plan: planOf({}), freed: [], stay: 0, attached: [], auto: 'out-of-service' as const, witnesses: [], unreadable: [] };
    const told = (open: 'other' | 'unbegun'): string => planPage({ ...page, open }, SHEET).replaceAll(/\s+/gu, ' ');
    const frozen = 'frozen when it began: nodefence explain shows that plan.';
    expect(told('unbegun')).toContain(`${frozen} Nothing has been done yet: kubectl delete --wait=false nodefence node-fence-a`);
    expect(told('other')).toContain(frozen);
    expect(told('other')).not.toContain('kubectl delete');
  });

  it('ack: what one puts one’s name to', async () => {
    const status = FAILED.status!;
    const freed = [{ namespace: 'shop', name: 'db-0', claims: ['data-db-0'] }];
    await matches(ackPage({ node: 'd', bootID: 'boot-d', status, reads: lastReads(status), freed }, SHEET), 'ack');
  });
});
