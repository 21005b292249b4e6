import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import { planOf } from '../../src/domain/testing/model.ts';
import type { Lease } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ShellWorld } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create({ isUnserved: true });
});

afterEach(async () => {
  await world.end();
});

async function fence(): Promise<NodeFence | undefined> {
  return world.own.operator.get(NODE_FENCES, fenceName('n'));
}

const now = (): string => new Date(world.clock.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** The fence controller, as far as a remediation can tell. */
async function fenced(how: Partial<NodeFenceStatus>): Promise<void> {
  const found = await fence();
  if (found === undefined) throw new Error('nobody asked for a fence');
  const nodeUID = (await world.node())?.metadata.uid ?? '';
  const counts = { level: 1, incident: 1, epoch: 1, retries: 0, restarts: 0, jobs: [], journal: [], evidence: [] };
  const trigger = { kind: 'remediation' as const, since: now(), requestUID: found.spec.requestedBy?.uid ?? '' };
  const told = { frozen: { nodeUID, plan: planOf() }, trigger, timeline: {}, conditions: [], history: [] };
  const status: NodeFenceStatus = { state: 'running', step: 'power-management', ...counts, ...told, ...how };
  await world.own.operator.replaceStatus(NODE_FENCES, { ...found, status });
}

/** The finalizer of the fence goes when it has taken back what it did. */
async function letGo(): Promise<void> {
  await world.own.operator.mergePatch(NODE_FENCES, fenceName('n'), { metadata: { finalizers: null } });
}

async function ready(status: 'True' | 'Unknown'): Promise<void> {
  await world.own.operator.mergePatch(NODES, 'n', { status: { conditions: [{ type: 'Ready', status }] } }, { subresource: 'status' });
}

const off = () => ({
  evidence: [{ kind: 'power-off' as const, grade: 'read-back' as const, source: 'job' as const, detail: 'off', observedAt: now(), bootID: 'boot-1' }],
});

describe('a host that nobody serves', { timeout: 60_000 }, () => {
  it('is left to our own agents: a NodeFence in the name of the remediation, followed from off to back', async () => {
    const { events, writes } = world.start();
    await world.pass(5 * MINUTE_MS);
    await world.request();
    await world.pass(2 * MINUTE_MS);
    const uid = (await world.found())?.metadata.uid;
    expect((await fence())?.spec).toMatchObject({ node: 'n', requestedBy: { kind: 'Metal3Remediation', name: 'm', uid } });
    expect([await world.phase(), await world.lock()]).toEqual(['Running', undefined]);
    await fenced(off());
    await world.pass(10 * SECOND_MS);
    expect(await world.phase()).toBe('Waiting');
    await fenced({ ...off(), state: 'final', outcome: 'recovered', timeline: { finalAt: now() } });
    await ready('True');
    await world.pass(10 * SECOND_MS);
    expect((await world.found())?.metadata.finalizers ?? []).toEqual([]);
    expect(events.map((event) => event.split(' ')[3])).toEqual(['RemediationStarted', 'NodeClaimed', 'FenceRequested', 'RemediationFinished']);
    expect(writes.filter((write) => write.includes('baremetalhosts') || write.includes('/nodes/'))).toEqual([]);
  });

  it('is not taken for one before five minutes are over, nor while an operator may be there', async () => {
    const { warnings } = world.start();
    await world.request();
    await world.pass(3 * MINUTE_MS);
    expect(await fence()).toBeUndefined();
    expect(warnings.join()).toContain('provisioning.state=(none)');
    const spec = { holderIdentity: 'bmo', renewTime: now().replace('Z', '.000000Z'), leaseDurationSeconds: 15 };
    await world.own.operator.create<Lease>(LEASES, { metadata: { name: 'baremetal-operator', namespace: 'default' }, spec });
    await world.pass(5 * MINUTE_MS);
    expect(await fence()).toBeUndefined();
  });

  it('is tried again by another fence, and then handed to the owner of its Machine', async () => {
    world.start();
    await world.pass(5 * MINUTE_MS);
    await world.request({ strategy: { retryLimit: 1, timeoutSeconds: 100 } });
    await world.pass(10 * SECOND_MS);
    const first = (await fence())?.metadata.uid;
    await world.pass(2 * MINUTE_MS);
    expect((await fence())?.metadata.deletionTimestamp).toBeDefined();
    await letGo();
    await world.pass(10 * SECOND_MS);
    expect((await fence())?.metadata.uid).not.toBe(first);
    expect((await world.found())?.status).toMatchObject({ phase: 'Running', retryCount: 1 });
    await world.pass(2 * MINUTE_MS);
    expect(await world.phase()).toBe('Deleting machine');
    expect((await world.machine())?.status?.conditions).toMatchObject([{ type: 'OwnerRemediated', status: 'False' }]);
  });

  it('says so where its time is over before the delays of the node are', async () => {
    const { warnings } = world.start();
    await world.pass(5 * MINUTE_MS);
    await world.request({ strategy: { retryLimit: 1, timeoutSeconds: 100 } });
    await world.pass(10 * SECOND_MS);
    const powerManagement = [{ level: 1, methods: [] }];
    await fenced({ frozen: { nodeUID: (await world.node())?.metadata.uid ?? '', plan: planOf({ timing: DEFAULT_TIMING, powerManagement }) } });
    await world.pass(10 * SECOND_MS);
    expect(warnings.join()).toContain('is 100 s, and nothing is switched off before isolation_delay (5 s) and power_management_delay (300 s)');
  });

  it('is let go with the remediation: the fence is withdrawn, and the finalizer goes when that has taken back what it did', async () => {
    world.start();
    await world.pass(5 * MINUTE_MS);
    await world.request();
    await world.pass(10 * SECOND_MS);
    await world.delete();
    await world.pass(20 * SECOND_MS);
    expect((await fence())?.metadata.deletionTimestamp).toBeDefined();
    expect((await world.found())?.metadata.finalizers).toHaveLength(1);
    await letGo();
    await world.pass(20 * SECOND_MS);
    expect(await world.found()).toBeUndefined();
  });

  it('waits for whoever has its node, for a storm, and for a fence that is held', async () => {
    const { warnings } = world.start();
    await world.pass(5 * MINUTE_MS);
    world.storm = [{ policy: 'max-concurrent', reason: 'max-concurrent', message: 'two are fenced already' }];
    await world.request({ strategy: { timeoutSeconds: 100 } });
    await world.pass(MINUTE_MS);
    expect(await fence()).toBeUndefined();
    world.storm = [];
    await world.own.operator.create(NODE_FENCES, { metadata: { name: fenceName('n') }, spec: { node: 'n' } });
    await world.pass(MINUTE_MS);
    expect((await fence())?.spec.requestedBy).toBeUndefined();
    expect(warnings.join()).toContain('its node is left alone: the fence controller');
    await world.own.operator.remove(NODE_FENCES, fenceName('n'));
    await world.pass(10 * SECOND_MS);
    await fenced({ hold: { policy: 'stop', reason: 'stop', message: 'a person looks', since: now() } });
    await world.pass(5 * MINUTE_MS);
    expect([(await fence())?.metadata.deletionTimestamp, (await world.found())?.status?.retryCount ?? 0]).toEqual([undefined, 0]);
  });

  it('is fenced though its machine is preserved: the fence itself isolates it, and holds', async () => {
    world.start();
    await world.pass(5 * MINUTE_MS);
    world.storm = [{ policy: 'preservation', reason: 'preserved', message: 'preserved on request' }];
    await world.request();
    await world.pass(MINUTE_MS);
    expect((await fence())?.spec.requestedBy).toBeDefined();
  });

  it('has behind a hold the time that it had left before it, and no more', async () => {
    world.start();
    await world.pass(5 * MINUTE_MS);
    await world.request({ strategy: { timeoutSeconds: 100 } });
    await world.pass(10 * SECOND_MS);
    await fenced({});
    await world.pass(40 * SECOND_MS);
    const held = await fence();
    await fenced({ hold: { policy: 'preservation', reason: 'preserved', message: 'somebody looks at it', since: now() } });
    await world.pass(5 * MINUTE_MS);
    await fenced({});
    await world.pass(30 * SECOND_MS);
    expect([(await fence())?.metadata.uid, (await fence())?.metadata.deletionTimestamp]).toEqual([held?.metadata.uid, undefined]);
    await world.pass(30 * SECOND_MS);
    expect((await fence())?.metadata.deletionTimestamp, 'its time is over').toBeDefined();
  });
});
