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
