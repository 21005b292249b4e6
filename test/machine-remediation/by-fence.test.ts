import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GAVE_UP, REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { Outcome } from '../../src/domain/node-fence.ts';
import { hostName, HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import { NODE_FENCES } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { finalStatus, ShellWorld } from './shell-world.ts';
import type { Replica } from './shell-world.ts';
import { MINUTE_MS, SECOND_MS } from './world.ts';

const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true };
let world: ShellWorld;

beforeEach(async () => {
  world = await ShellWorld.create({ hasOperator: false });
  // Nobody has ever looked at them.
  for (const node of ['n1', 'n2']) {
    await world.operator.mergePatch(BARE_METAL_HOSTS, hostName(node), { status: null }, { namespace: HOSTS_NAMESPACE, subresource: 'status' });
  }
});

afterEach(async () => {
  await world.end();
});

function fence(): Promise<NodeFence | undefined> {
  return world.operator.get(NODE_FENCES, fenceName('n1'));
}

/** The fence controller, as far as a request can tell. */
async function ends(outcome: Outcome): Promise<void> {
  const standing = await fence();
  if (standing === undefined) throw new Error('nobody asked for a fence');
  const requestUID = standing.spec.requestedBy?.uid ?? '';
  const status = finalStatus({ outcome, trigger: { kind: 'remediation', since: '2027-01-01T00:00:00Z', requestUID } });
  await world.operator.replaceStatus(NODE_FENCES, { ...standing, status });
}

/** Its finalizer goes when it has taken back what it did. */
async function letGo(): Promise<void> {
  if ((await fence())?.metadata.deletionTimestamp !== undefined)
    await world.operator.mergePatch(NODE_FENCES, fenceName('n1'), { metadata: { finalizers: null } });
}

async function asked(how: Parameters<ShellWorld['start']>[0] = {}): Promise<Replica> {
  const replica = world.start(how);
  await world.pass(6 * MINUTE_MS);
  await world.ask('n1');
  await world.pass(10 * SECOND_MS);
  return replica;
}

describe('a Machine whose BareMetalHost nobody serves', { timeout: 60_000 }, () => {
  it('has its Node fenced by our own agents in its name, once for each request', async () => {
    const { events, warnings } = await asked();
    const machine = await world.machine('n1');
    expect((await fence())?.spec).toEqual({
      node: 'n1',
      requestedBy: { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', namespace: 'metal3', name: 'machine-n1', uid: machine?.metadata.uid },
    });
    expect(await world.holder('n1')).toBeUndefined();
    await ends('recovered');
    await world.pass(10 * SECOND_MS);
    expect((await fence())?.metadata.deletionTimestamp).toBeDefined();
    await letGo();
    await world.pass(10 * SECOND_MS);
    expect(await world.left('n1')).toEqual([]);
    expect(await fence()).toBeUndefined();
    await world.ask('n1');
    await world.pass(10 * SECOND_MS);
    expect((await fence())?.metadata.deletionTimestamp).toBeUndefined();
    expect(warnings).toEqual([]);
    expect(events.filter((event) => event.startsWith('Machine')).map((event) => event.split(' ')[3])).toEqual([
      'FenceRequested',
      'Remediated',
      'FenceRequested',
    ]);
  });

  it('has the fence taken back with the request', async () => {
    await asked();
    await world.unask('n1');
    await world.pass(10 * SECOND_MS);
    expect((await fence())?.metadata.deletionTimestamp).toBeDefined();
    expect(await world.left('n1')).toEqual([]);
  });

  it('is given up when the fence failed, until the request is taken away', async () => {
    const { warnings } = await asked();
    await ends('failed');
    await world.pass(10 * SECOND_MS);
    await letGo();
    await world.pass(MINUTE_MS);
    expect(await world.left('n1')).toEqual([REQUEST, GAVE_UP]);
    expect(warnings).toEqual([`Machine metal3/machine-n1: NodeFence node-fence-n1 ended: failed; take ${REQUEST} away to let it be tried again`]);
    expect(await fence()).toBeUndefined();
    await world.unask('n1');
    await world.pass(10 * SECOND_MS);
    expect(await world.left('n1')).toEqual([]);
    await world.ask('n1');
    await world.pass(10 * SECOND_MS);
    expect(await fence()).toBeDefined();
  });

  it('has its Node fenced though its machine is preserved: the fence itself isolates it, and holds', async () => {
    world.storm = [{ policy: 'preservation', reason: 'preserved', message: 'preserved on request' }];
    await asked();
    expect((await fence())?.spec.requestedBy).toBeDefined();
  });

  it('is told of in mode seed-table, which knows its two annotations alone', async () => {
    const { warnings } = await asked({ choice: 'seed-table' });
    expect(warnings.join()).toContain('no operator serves its BareMetalHost, and mode seed-table has no other way');
    expect(await fence()).toBeUndefined();
  });

  it('is left to the operator where one may be at work, whatever it is called: by its status, or by its name', async () => {
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    };
    await world.operator.create<UntypedObject>(DEPLOYMENTS, {
      metadata: { name: 'baremetal-operator-controller-manager', namespace: 'default' },
      spec,
    });
    const { remediation } = await asked();
    expect(await fence()).toBeUndefined();
    expect(remediation.problems().join()).toContain('is not on, and it is unknown since when');
    await world.operator.remove(DEPLOYMENTS, 'baremetal-operator-controller-manager', { namespace: 'default' });
    const status = { provisioning: { state: 'registering' } };
    await world.operator.mergePatch(BARE_METAL_HOSTS, hostName('n1'), { status }, { namespace: HOSTS_NAMESPACE, subresource: 'status' });
    await world.pass(20 * MINUTE_MS);
    expect(await fence()).toBeUndefined();
  });

  it.each(['lost', 'unanswered'] as const)('is fenced once wherever the controller dies (%s)', async (lastFate) => {
    for (let count = 1; ; count += 1) {
      const created = new Set<string>();
      const tick = async (): Promise<void> => {
        await world.pass(SECOND_MS);
        const standing = await fence();
        if (standing === undefined) return;
        created.add(standing.metadata.uid ?? '');
        if (standing.metadata.deletionTimestamp !== undefined) await letGo();
        else if (standing.status?.state !== 'final') await ends('recovered');
      };
      const fate: Replica['fate'] = (_write, number) => (number < count ? 'done' : number === count ? lastFate : 'lost');
      const first = world.start({ fate });
      await world.pass(6 * MINUTE_MS);
      await world.ask('n1');
      for (let tries = 0; tries < 30 && first.writes.length < count; tries += 1) await tick();
      const isOver = first.writes.length < count;
      await first.close();
      const second = world.start();
      for (let tries = 0; tries < 6 * 60; tries += 1) await tick();
      expect([await world.left('n1'), await fence()], `write ${count}`).toEqual([[], undefined]);
      expect(created.size, `write ${count}`).toBe(1);
      await second.close();
      if (isOver) break;
    }
  });
});
