import { describe, expect, it } from 'vitest';
import { ApiClient } from '../../kube/client.ts';
import { ScriptedTransport } from '../../kube/testing/scripted-transport.ts';
import type { Plan } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { explainPage } from './pages/explain-page.ts';
import { PLAIN } from './terminal/ink.ts';
import { misnamedFor } from '../../controllers/fence/misnamed.ts';
import { describeIgnored } from './fleet.ts';
import { explain } from './explanation.ts';
import type { Look } from './explanation.ts';
import type { Leader } from './leader.ts';
import { ago, fence, kubeletLease, leader, listersOf, node, NOW_MS, run } from './testing/pictured-cluster.ts';
import type { Picture } from './testing/pictured-cluster.ts';

function looksAt(picture: Picture, leads = leader(), more: Partial<Plan> = {}): Look[] {
  const plan = planOf(more);
  const planner = { planFor: () => plan, parametersFor: () => Promise.reject(new Error('nothing runs')), stormPolicies: () => [] };
  const access = { cluster: new ApiClient({ transport: new ScriptedTransport() }), random: new SystemRandom() };
  return explain({ access, node: 'a', listers: listersOf(picture), planner, leader: leads, outOfService: true, nowMs: NOW_MS });
}

/** `row at +seconds: what is done`. */
function story(looks: readonly Look[]): string[] {
  return looks.map(({ atMs, decision }) => {
    const deed = decision.dispatch?.entry.operation ?? (decision.create === undefined ? '' : 'create');
    return `${decision.row} +${Math.round((atMs - NOW_MS) / 100) / 10}${deed === '' ? '' : `: ${deed}`}`;
  });
}

const FAILED = { nodes: [node('a', 'Unknown', 60)], leases: [kubeletLease('a', 100)] };

describe('what explain tells of a node', () => {
  it('is nothing while it is Ready', () => {
    expect(story(looksAt({ nodes: [node('a', 'True', 9_000)], leases: [kubeletLease('a', 4)] }))).toEqual(['none +0']);
  });

  it('begins with the silence of the lease where Ready has just become Unknown, and goes on to the first run', () => {
    const looks = looksAt({ nodes: [node('a', 'Unknown', 2)], leases: [kubeletLease('a', 12)] });
    expect(story(looks)).toEqual(['none +0', 'none-triggered +3: create', 'begin +3', 'new-delay +3', 'new-isolate +8: run:cordon']);
  });

  it('waits for not_ready_period where the kubelet lives and says NotReady', () => {
    const looks = looksAt({ nodes: [node('a', 'False', 100)], leases: [kubeletLease('a', 3)] });
    expect(story(looks).slice(0, 2)).toEqual(['none +0', 'none-triggered +500: create']);
  });

  it('counts power_management_delay from the isolation, by its time stamp', () => {
    expect(story(looksAt({ ...FAILED, fences: [fence('a', {})] }))).toEqual(['running-delay +0', 'running-power +247: off:off']);
  });

  it('waits for the result of a run of the leader, and reads what became of one of a predecessor', () => {
    const open = (epoch: number): Picture => ({ ...FAILED, fences: [fence('a', { journal: [run('off:off', 4, { epoch })] })] });
    expect(story(looksAt(open(4)))).toEqual(['in-flight +0']);
    expect(story(looksAt(open(3)))).toEqual(['take-over +0', 'take-over +14: off:off']);
    expect(looksAt(open(4), leader(600)).at(-1)?.decision.dispatch?.kind).toBe('recover');
  });

  it('uses the epoch of the leader, as the leader does: a record above it is told, and nothing else would happen', () => {
    const looks = looksAt({ ...FAILED, fences: [fence('a', { epoch: 41 })] });
    expect(looks).toHaveLength(1);
    expect(looks[0]?.decision).toMatchObject({ row: 'newer-leader', stepDown: { epoch: 41 } });
    const page = { name: 'a', node: undefined, lease: undefined, leader: leader(), report: undefined, stops: [], looks, unreadable: [] };
    expect(explainPage(page, { ink: PLAIN, width: 200, nowMs: NOW_MS })).toContain('newer-leader: This NodeFence was last written under epoch 41');
  });

  it('says of a node whose fence says another one that nothing is done, and takes that for no fence of it', () => {
    const told = 'NodeFence node-fence-a says node b: it is no fence of either, nothing is done for it, and node a cannot be fenced while it stands.';
    const other = { ...fence('a', {}), spec: { node: 'b' } };
    const looks = looksAt({ ...FAILED, fences: [other] });
    expect(looks[0]?.snapshot.fence).toBeUndefined();
    const facts = {
      name: 'a',
      node: FAILED.nodes[0],
      lease: FAILED.leases[0],
      leader: leader(),
      report: undefined,
      stops: [],
      looks,
      unreadable: [],
    };
    const page = explainPage({ ...facts, misnamed: misnamedFor('a', [other]) }, { ink: PLAIN, width: 300, nowMs: NOW_MS });
    expect(page).toContain(told);
    expect(page).not.toContain('none-triggered');
    const ignored = explainPage({ ...facts, ignored: [describeIgnored(other)] }, { ink: PLAIN, width: 300, nowMs: NOW_MS });
    expect(ignored).toMatch(/ignored +NodeFence node-fence-a of node b is ignored: only one that is called node-fence-b/);
  });

  it('counts on the next leader above every record while none leads', () => {
    expect(looksAt({ ...FAILED, fences: [fence('a', { epoch: 41 })] }, leader(600))[0]?.decision.row).toBe('running-delay');
  });

  it('ends at a stop, which no time removes', () => {
    const stop = { metadata: { name: 'stop-all' }, spec: { all: true, reason: 'storage works' } };
    const looks = looksAt({ ...FAILED, fences: [fence('a', {})], stops: [stop] });
    expect(looks[0]?.decision.row).toBe('stopped');
    expect(looks.flatMap(({ decision }) => decision.dispatch ?? [])).toEqual([]);
  });

  it('keeps a hold that the leader has on record: how it was started is not in the API', () => {
    const hold = { reason: 'observe', policy: 'observe', message: 'nothing is touched', since: ago(50) };
    expect(looksAt({ ...FAILED, fences: [fence('a', { state: 'new', step: 'isolation', journal: [], hold })] })[0]?.decision.row).toBe('new-held');
  });

  it('names every hold that decides, also what its own record, a dump and the preservation of its machine hold', () => {
    const failed = (incident: number) => ({
      ...{ incident, startedAt: ago(9_000), endedAt: ago(8_000), outcome: 'failed' as const, trigger: 'node-condition' as const },
      ...{ evidence: [], timeline: {}, summary: '' },
    });
    const report = { metadata: { name: 'a' }, status: { incident: 2, incidents: [failed(1), failed(2)] } };
    const fences = [fence('a', { state: 'new', step: 'isolation', journal: [], incident: 3 })];
    const looks = looksAt({ ...FAILED, fences, reports: [report] }, { ...leader(), mode: 'enforce', node: 'b' });
    const facts = { name: 'a', node: FAILED.nodes[0], lease: FAILED.leases[0], leader: leader(), report, stops: [], looks, unreadable: [] };
    const page = explainPage(facts, { ink: PLAIN, width: 300, nowMs: NOW_MS });
    expect(page).toContain('row new-held');
    expect(page).toMatch(/holds +breaker: incidents 1, 2 of this node ended without recovery; look at the machine, then: nodefence resume/u);
  });

  it('holds by what the leader says of itself, also where nothing is on record yet', () => {
    const rowUnder = (said: Partial<Leader>): string | undefined => {
      const looks = looksAt({ ...FAILED, fences: [fence('a', { state: 'new', step: 'isolation', journal: [] })] }, { ...leader(), ...said });
      return looks[0]?.decision.row;
    };
    expect(rowUnder({ mode: 'enforce', node: 'b' })).toBe('new-isolate');
    expect(rowUnder({ mode: 'enforce', node: 'a' })).toBe('new-held');
    expect(rowUnder({ mode: 'observe' })).toBe('new-held');
  });

  it('holds while the leader reports that the kernel dumps, until its messages would have ended', () => {
    const kdump = { startTimeoutMs: 30_000, finishedTimeoutMs: 60_000, maxDurationMs: 1_800_000 };
    const message = `9 kdump messages came from 192.0.2.7 since ${ago(50)}: its kernel dumps; nothing is switched off meanwhile.`;
    const dumping = { type: 'KernelDump', status: 'True' as const, reason: 'Dumping', message, lastTransitionTime: ago(40) };
    const open = fence('a', {});
    const reports = [{ metadata: { name: 'a' }, status: { conditions: [dumping] } }];
    const plan = { ...planOf(), kdump };
    const frozen = { ...open, status: { ...open.status!, frozen: { ...open.status!.frozen!, plan } } };
    const looks = looksAt({ ...FAILED, fences: [frozen], reports }, leader(), { kdump });
    expect(looks[0]?.snapshot.dump?.heard).toMatchObject({ source: '192.0.2.7', count: 9 });
    expect(looks[0]?.decision.status?.hold).toMatchObject({ policy: 'kdump', reason: 'kdump-dumping' });
    expect(story(looks).slice(0, 2)).toEqual(['running-held +0', 'running-delay +60']);
  });

  it("keeps another's lease that the leader waits out", () => {
    const hold = { reason: 'node-lease', policy: 'medik8s-lease', message: 'the Lease of node-maintenance stands', since: ago(50) };
    const looks = looksAt({ ...FAILED, fences: [fence('a', { state: 'new', step: 'isolation', journal: [], hold })] });
    expect([looks[0]?.decision.row, looks[0]?.snapshot.holds[0]?.message]).toEqual(['new-held', hold.message]);
  });

  it('counts healthy_delay from Ready, not from before the last action', () => {
    const journal = [run('on:on', 50, { finishedAt: ago(40), result: 'succeeded' })];
    const back = { nodes: [node('a', 'True', 9)], leases: [kubeletLease('a', 1)], fences: [fence('a', { state: 'done', journal })] };
    expect(story(looksAt(back))).toEqual(['done-wait +0', 'done-healthy +21: run:uncordon']);
    const always = { ...back, nodes: [node('a', 'True', 9_000)] };
    expect(story(looksAt(always))[0]).toBe('done-healthy +0: run:uncordon');
  });
});
