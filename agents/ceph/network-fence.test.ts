import { beforeEach, describe, expect, it } from 'vitest';

import type { FabricAgent, Target } from '../../src/ports/agents.ts';
import { NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import { cephWith } from './definition.ts';
import { FENCED, NETWORK_FENCES, UNFENCED } from './network-fence.ts';
import type { NetworkFence } from './network-fence.ts';
import { reach } from '../../test/reach.ts';

const ceph = cephWith();
const PARAMETERS = { cidrs: '10.0.0.5', driver: 'rbd.csi.ceph.com', cluster_id: 'c1', secret_name: 'rbd', secret_namespace: 'ceph' };

describe('ceph by csi-addons', () => {
  let world: ObjectWorld;
  let agent: FabricAgent;

  beforeEach(async () => {
    const clock = new ManualClock();
    world = await ObjectWorld.with(clock, [NETWORK_FENCES], 'ceph', reach);
    await world.cluster.create(NODES, { metadata: { name: 'worker-1' }, spec: {}, status: {} });
    await world.status(NODES, 'worker-1', { addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] });
    const created = await ceph.create({ cluster: world.seen, clock });
    if (created.kind !== 'fabric') throw new Error('not a fabric agent');
    agent = created;
  });

  function target(change: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: 'ceph',
      parameters: PARAMETERS,
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  async function only(): Promise<NetworkFence> {
    const [fence, ...others] = await world.cluster.list(NETWORK_FENCES);
    if (fence === undefined || others.length > 0) throw new Error(`${others.length} others`);
    return fence;
  }

  /** csi-addons writes its result. */
  async function told(result: string, message: string): Promise<void> {
    await world.status(NETWORK_FENCES, (await only()).metadata.name, { result, message });
  }

  const read = () => agent.read(target());

  it('asks for this node’s addresses to be fenced, and believes only that very result', async () => {
    expect(await read()).toMatchObject({ state: 'open', identity: 'verified' });
    await agent.set(target(), 'closed');
    expect((await only()).spec).toEqual({
      fenceState: 'Fenced',
      cidrs: ['10.0.0.5/32'],
      driver: 'rbd.csi.ceph.com',
      secret: { name: 'rbd', namespace: 'ceph' },
      parameters: { clusterID: 'c1' },
    });
    expect(await read()).toMatchObject({ state: 'pending' });
    await told('Failed', 'rpc error: code = Unavailable');
    expect(await read()).toMatchObject({ state: 'pending', detail: expect.stringContaining('Unavailable') as string });
    await told('Succeeded', FENCED);
    expect(await read()).toMatchObject({ state: 'closed', identity: 'verified' });
  });

  it.each([[['10.0.0.6/32']], [['10.0.0.5/32', '10.0.0.6/32']], [[]], ['10.0.0.5/32'], [undefined]])(
    'believes no result about the addresses %j, which somebody else wrote into it',
    async (cidrs) => {
      await agent.set(target(), 'closed');
      await told('Succeeded', FENCED);
      const { name } = (await only()).metadata;
      await world.cluster.mergePatch(NETWORK_FENCES, name, { spec: { cidrs: cidrs ?? null } });
      expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('its cidrs are') as string });
    },
  );

  it('says that its closed proves only what was seen open before: it is a record, which nobody mends who uses ceph itself', () => {
    expect([agent.mustBeSeenOpen].flatMap((must) => (typeof must === 'function' ? [must(PARAMETERS), must({ via: 'exec' })] : [must]))).toEqual([
      true,
      false,
    ]);
  });

  it('does not take the result of the operation before for that of this one', async () => {
    await agent.set(target(), 'closed');
    await told('Succeeded', FENCED);
    await agent.set(target(), 'open');
    expect(await read(), 'still what the fencing came to').toMatchObject({ state: 'pending' });
    await expect(agent.set(target(), 'closed'), 'an old result would be taken for a new one').rejects.toMatchObject({ kind: 'NotSent' });
    expect((await only()).spec.fenceState).toBe('Unfenced');
    await told('Succeeded', UNFENCED);
    expect(await read()).toMatchObject({ state: 'open' });
    await agent.set(target(), 'closed');
    expect(await read()).toMatchObject({ state: 'pending' });
    await told('Succeeded', FENCED);
    expect(await read()).toMatchObject({ state: 'closed' });
  });

  it.each([
    ['a success of which nobody says what', { result: 'Succeeded', message: 'done' }],
    ['another word', { result: 'succeeded', message: FENCED }],
  ])('does not know what %s means', async (_what, status) => {
    await agent.set(target(), 'closed');
    await told(status.result, status.message);
    expect(await read()).toMatchObject({ state: 'unknown' });
  });

  it('does not believe a fence of other addresses, or one that goes', async () => {
    await agent.set(target(), 'closed');
    await told('Succeeded', FENCED);
    const { name } = (await only()).metadata;
    await world.cluster.mergePatch(NETWORK_FENCES, name, { metadata: { finalizers: ['example.org/stay'] } });
    await world.cluster.remove(NETWORK_FENCES, name);
    expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('being deleted') as string });
    await world.cluster.mergePatch(NETWORK_FENCES, name, { spec: { cidrs: ['10.0.0.6/32'] } });
    expect(await read()).toMatchObject({ state: 'unknown' });
  });

  it('has one object for each set of addresses, and writes it once', async () => {
    await agent.set(target(), 'closed');
    await agent.set(target(), 'closed');
    expect(world.writes).toHaveLength(1);
    await agent.set(target({ plug: '10.0.0.6', parameters: { class_name: 'rook' } }), 'closed');
    expect((await world.cluster.list(NETWORK_FENCES)).map(({ spec }) => spec.cidrs)).toContainEqual(['10.0.0.6/32']);
  });

  describe('does not show whose the addresses are', () => {
    const addressed = (...addresses: string[]) =>
      world.status(NODES, 'worker-1', { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) });
    const shown = (cidrs: string, more: Target['parameters'] = {}) => agent.read(target({ parameters: { ...PARAMETERS, cidrs, ...more } }));

    it.each(['10.0.0.50', '10.0.0.5 10.0.0.6', '10.0.0.5 192.168.7.5', 'fd00::5'])(
      'that the Node does not show: of nobody’s address too the list says that it is open: %s',
      async (cidrs) => {
        expect(await shown(cidrs)).toMatchObject({
          identity: 'unverified',
          detail: expect.stringMatching(/nothing shows that \S+ is of node worker-1, which shows 10\.0\.0\.5: mend cidrs$/u) as string,
        });
      },
    );

    it('while the node may write from another one', async () => {
      await addressed('10.0.0.5', 'fd00:0::5');
      expect(await shown('10.0.0.5')).toMatchObject({
        identity: 'unverified',
        detail: expect.stringContaining('node worker-1 has the address fd00:0::5 as well, and may write from there') as string,
      });
      expect(await shown('10.0.0.5 fd00::5')).toMatchObject({ identity: 'verified' });
    });

    it('of a Node that is gone', async () => {
      await world.cluster.remove(NODES, 'worker-1');
      expect(await shown('10.0.0.5')).toMatchObject({ identity: 'unverified', detail: expect.stringContaining('which shows no address') as string });
    });

    it('of a range, in which there are others too', async () => {
      expect(await shown('10.0.0.0/28', { allow_ranges: 'yes' })).toMatchObject({ identity: 'unverified' });
      expect(await shown('10.0.0.5')).toMatchObject({ identity: 'verified' });
    });

    it('and opens whatever the Node shows by now', async () => {
      await agent.set(target(), 'closed');
      await addressed('10.0.0.9');
      expect(await agent.set(target(), 'open')).toMatchObject({ result: 'accepted' });
    });
  });

  it('sends nothing without the lease, and nothing without an address', async () => {
    const beforeSend = (): never => {
      throw new Error('no lease');
    };
    await expect(agent.set(target({ beforeSend }), 'closed')).rejects.toThrow('no lease');
    await expect(agent.set(target({ parameters: { driver: 'd' } }), 'closed')).rejects.toMatchObject({ kind: 'Misconfigured' });
    expect(world.writes).toEqual([]);
  });

  it.each([
    [{ driver: 'd', cidrs: '10.0.0.0/24' }, 'cidrs'],
    [{ driver: 'd', cidrs: '0.0.0.0/0', allow_ranges: 'yes' }, 'cidrs'],
    [{ driver: 'd', cidrs: 'worker-1' }, 'cidrs'],
    [{ driver: 'd', cidrs: ' , ' }, 'cidrs'],
    [{ cidrs: '10.0.0.5' }, 'driver'],
    [{ driver: 'd', secret_name: 's' }, 'secret_name'],
  ])('refuses %j', (parameters, named) => {
    expect(ceph.check(parameters, true).map(({ parameter }) => parameter)).toEqual([named]);
  });
});
