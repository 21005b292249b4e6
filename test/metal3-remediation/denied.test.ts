import { afterEach, describe, expect, it } from 'vitest';
import { OUT_OF_SERVICE } from '../../src/controllers/metal3-remediation/names.ts';
import { HOST_MACHINES } from '../../src/testbed/operators/host-fleet.ts';
import { NAMESPACE, ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const SLOW = 60_000;
const SHORT = { strategy: { timeoutSeconds: 100 } };
let world: ShellWorld;

afterEach(async () => {
  expect(world.broken).toEqual([]);
  await world.end();
});

async function create(scene: Parameters<typeof ShellWorld.create>[0] = {}): Promise<Replica> {
  world = await ShellWorld.create({ isFar: true, minor: 31, ...scene });
  return world.start();
}

function denyNodes(isDenied: boolean): void {
  world.workload.denies = ({ method, path }) => isDenied && method === 'GET' && path.startsWith('/api/v1/nodes');
}

const reasons = (events: readonly string[]): string[] => events.map((event) => event.split(' ')[3] ?? '');

async function until(isReached: () => Promise<boolean> | boolean): Promise<void> {
  for (let second = 0; !(await isReached()); second += 1) {
    if (second > 300) throw new Error('it never came');
    await world.pass(SECOND_MS);
  }
}

const isTainted = async (): Promise<boolean> => (await world.node())?.spec.taints?.some(({ key }) => key === OUT_OF_SERVICE.key) === true;

describe('a workload cluster that forbids to read Nodes', { timeout: SLOW }, () => {
  it('for a moment, as one does that comes up, has nothing switched off meanwhile: its workload is released like any other', async () => {
    const { events } = await create();
    denyNodes(true);
    await world.request();
    await world.pass(20 * SECOND_MS);
    expect(world.host.machine.offs).toBe(0);
    denyNodes(false);
    await world.pass(5 * MINUTE_MS);
    expect(reasons(events)).toContain('NodeOutOfService');
    expect(world.host.machine).toMatchObject({ offs: 1, isOn: true });
  });

  it('for good has its host power-cycled alone, which is told once', async () => {
    const { events } = await create();
    denyNodes(true);
    await world.request();
    await world.pass(5 * MINUTE_MS);
    expect(world.host.machine).toMatchObject({ offs: 1, isOn: true });
    expect(reasons(events)).not.toContain('NodeOutOfService');
    expect(events.filter((event) => event.includes('the kubeconfig of its cluster does not allow to read node n'))).toHaveLength(1);
    expect([(await world.found())?.metadata.finalizers ?? [], await world.holds()]).toEqual([[], []]);
  });

  it('for good keeps a control plane as it is, for nobody can tell whether its majority would stay', async () => {
    const { events } = await create();
    await world.own.operator.mergePatch(
      HOST_MACHINES,
      'm',
      { metadata: { labels: { 'cluster.x-k8s.io/control-plane': '' } } },
      { namespace: NAMESPACE },
    );
    denyNodes(true);
    await world.request();
    await world.pass(5 * MINUTE_MS);
    expect(world.host.machine.offs).toBe(0);
    expect(events.filter((event) => event.includes('waits: control-plane-majority'))).toHaveLength(1);
  });

  it('while our taint stands there leaves the host off, and has the taint taken back before it is on', async () => {
    await create();
    await world.attach();
    await world.request(SHORT);
    await until(isTainted);
    denyNodes(true);
    await world.pass(3 * MINUTE_MS);
    expect([await isTainted(), world.host.machine.isOn]).toEqual([true, false]);
    denyNodes(false);
    await world.detach();
    await world.pass(5 * MINUTE_MS);
    expect([await isTainted(), world.host.machine.isOn]).toEqual([false, true]);
  });

  it('while labels of its Node are kept here has them put back when it allows it again', async () => {
    await create({ minor: 20 });
    await world.request();
    await until(async () => (await world.node()) === undefined);
    denyNodes(true);
    await world.pass(3 * MINUTE_MS);
    expect(world.host.machine.isOn).toBe(true);
    expect((await world.found())?.metadata.finalizers).toHaveLength(1);
    denyNodes(false);
    await world.pass(2 * MINUTE_MS);
    expect((await world.node())?.metadata.labels).toMatchObject({ zone: 'a' });
    expect((await world.found())?.metadata.finalizers ?? []).toEqual([]);
  });
});

describe('a controller that may not read what it needs any more', { timeout: SLOW }, () => {
  it.each<[string, string, 'own' | 'workload']>([
    ['Nodes', '/api/v1/nodes/n', 'own'],
    ['Leases of nodes', '/kube-node-lease/leases/n', 'own'],
    ['NodeFences of another cluster', '/nodefences/node-fence-n', 'workload'],
    ['its host', '/baremetalhosts/host', 'own'],
  ])('%s says so once, with what gives the right, and begins nothing; it goes on when the right is there', async (_what, path, where) => {
    const { events } = await create({ isFar: where === 'workload' });
    world[where].denies = ({ method, path: asked }) => method === 'GET' && asked.endsWith(path);
    await world.request();
    await world.pass(3 * MINUTE_MS);
    expect(world.host.machine.offs).toBe(0);
    const told = events.filter((event) => event.includes('RemediationBlocked'));
    expect(told).toEqual([expect.stringContaining('kubectl apply -k config/metal3-remediation')]);
    world[where].denies = () => false;
    await world.pass(5 * MINUTE_MS);
    expect(world.host.machine).toMatchObject({ offs: 1, isOn: true });
    expect([(await world.found())?.metadata.finalizers ?? [], await world.holds()]).toEqual([[], []]);
  });

  it.each<[string, string, 'own' | 'workload']>([
    ['Nodes', '/api/v1/nodes/n', 'own'],
    ['Leases of nodes', '/kube-node-lease/leases/n', 'own'],
    ['NodeFences of another cluster', '/nodefences/node-fence-n', 'workload'],
  ])('%s has a host that it holds off come back in time all the same', async (_what, path, where) => {
    await create({ isFar: where === 'workload', minor: 20 });
    await world.request(SHORT);
    await until(async () => (await world.holds()).length > 0);
    world[where].denies = ({ method, path: asked }) => method === 'GET' && asked.endsWith(path);
    await world.pass(10 * MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
    world[where].denies = () => false;
    await world.pass(5 * MINUTE_MS);
    expect([world.host.machine.isOn, await world.holds()]).toEqual([true, []]);
  });
});
