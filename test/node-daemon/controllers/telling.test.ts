import { beforeEach, describe, expect, it } from 'vitest';

import { PEERS } from '../../../src/domain/node-daemon/attestation.ts';
import { parseControllers } from '../../../src/domain/node-daemon/controllers.ts';
import { keyOf } from '../../../src/testbed/simulation/keys.ts';
import { CONFIG_MAPS, LEASES, SECRETS } from '../../../src/ports/resources.ts';
import { ControllerWorld, NAMESPACE, ZONE } from './world.ts';
import type { Replica } from './world.ts';

const SECRET = 'nodefence-controllers-exchange-key';

describe('what nodes are told', () => {
  let world: ControllerWorld;
  let leader: Replica;

  beforeEach(async () => {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
  });

  const controllers = async () => parseControllers((await world.operator.get(CONFIG_MAPS, 'nodefence-controllers', NAMESPACE))?.data);
  const condition = async (node: string) =>
    (await world.report(node))?.status?.conditions?.find(({ type }: { type: string }) => type === 'NodeDaemonHeard');

  async function started(...nodes: string[]): Promise<void> {
    for (const node of nodes) {
      const machine = await world.add(node, { [ZONE]: `zone-${node}` });
      await machine.daemon.start();
    }
    await world.run(70_000);
  }

  it('is the key that the first leader made, and where every replica is', async () => {
    await world.run(5_000);
    const standby = world.replica('controller-2', { isLeading: false });
    await world.run(40_000);
    expect(await controllers()).toEqual({ publicKeys: [keyOf('key-1')], addresses: ['controller-1:7411', 'controller-2:7411'], times: {} });
    expect(standby.writes.filter((write) => !write.endsWith('/leases/nodefence-candidates'))).toEqual([]);
    await standby.close();
    await world.run(5_000);
    expect((await controllers())?.addresses).toEqual(['controller-1:7411']);
  });

  it('has no peer in it whose Node is gone, however many Leases of such nodes are left', async () => {
    for (const gone of ['gone-1', 'gone-2', 'gone-3', 'gone-4']) await world.attest(gone, {});
    await started('a', 'b', 'c');
    expect((await world.told('a'))?.peers.map(({ node }) => node)).toEqual(['b', 'c']);
    await world.run(400_000, 1_000);
    expect((await world.told('a'))?.peers.map(({ node }) => node)).toEqual(['b', 'c']);
  });

  it('is where the replicas are that live, however many have left their address without a word', async () => {
    const annotations = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`daemons.nodefence.ha.k8s.io/a-${index}`, `192.0.2.${index + 1}:7411 9`]),
    );
    await world.run(5_000);
    await world.operator.mergePatch(LEASES, 'nodefence-candidates', { metadata: { annotations } }, { namespace: NAMESPACE });
    const standby = world.replica('controller-2', { isLeading: false });
    await world.run(130_000, 1_000);
    expect((await controllers())?.addresses).toEqual(['controller-1:7411', 'controller-2:7411']);
    await standby.close();
  });

  it('is which times the configuration has for them; none that break a rule, which is a problem', async () => {
    world.writtenTimes = { isolationTimeoutMs: 60_000 };
    await started('a');
    expect((await controllers())?.times).toEqual({ isolationTimeoutMs: 60_000 });
    expect((await world.attestation('a'))?.selfFence).toMatchObject({ isolationTimeoutMs: 60_000 });
    world.writtenTimes = { isolationTimeoutMs: 35_000, apiFailOverMs: 30_000 };
    await world.run(10_000);
    expect((await controllers())?.times).toEqual({ isolationTimeoutMs: 60_000 });
    expect(leader.problems).toEqual([
      expect.stringMatching(/^node daemons are not told the times of fence-cluster-config: timing rule 5: isolation_timeout 35 s/) as string,
    ]);
    world.writtenTimes = {};
    await world.run(10_000);
    expect((await controllers())?.times).toEqual({});
    expect(leader.problems).toEqual([]);
  });

  it('are times that prove nothing where they do not fit together: its report says so', async () => {
    await world.add('a');
    const watchdog = { state: 'armed', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 };
    await world.attest('a', { watchdog, selfFence: { grantMs: 5_000, isolationTimeoutMs: 20_000, podStopMaxMs: 1_000, resetTimeMs: 1_000 } });
    await world.run(40_000);
    expect((await condition('a'))?.message).toContain('Its silence proves nothing: timing rule 5: isolation_timeout 20 s must be at least');
  });

  it('leaves out a replica that is silent for a minute and a half', async () => {
    const standby = world.replica('controller-2', { isLeading: false });
    await world.run(5_000);
    expect((await controllers())?.addresses).toHaveLength(2);
    world.cut.add('controller-2>api');
    await world.run(100_000);
    expect((await controllers())?.addresses).toEqual(['controller-1:7411']);
    expect(standby.leadership.isLeading).toBe(false);
  });

  it('changes its key when somebody asks, and the one before stays valid beside it', async () => {
    await started('a');
    await world.operator.mergePatch(
      SECRETS,
      SECRET,
      { metadata: { annotations: { 'nodefence.ha.k8s.io/change-key': '2026-11' } } },
      { namespace: NAMESPACE },
    );
    await world.run(40_000);
    expect((await controllers())?.publicKeys).toEqual([keyOf('key-2'), keyOf('key-1')]);
    expect(leader.counts.get('change-key done')).toBe(1);
    await world.run(120_000);
    expect(leader.counts.get('change-key done')).toBe(1);
    expect(leader.counts.get('refused forged')).toBeUndefined();
    expect(world.machines.get('a')?.isDead).toBe(false);
  });

  it('is said to be missing where the Secret holds no key', async () => {
    await world.operator.create(SECRETS, {
      metadata: { name: SECRET, namespace: NAMESPACE },
      type: 'Opaque',
      data: { privateKey: btoa('nonsense') },
    });
    await world.run(35_000);
    expect(leader.problems.join()).toContain('this is no private key: delete that Secret');
    expect(await controllers()).toBeUndefined();
  });

  it('is who vouches: every other node with a key, its address and its failure domain', async () => {
    await started('a', 'b', 'c');
    expect(await world.told('a')).toEqual({
      domain: `${ZONE}=zone-a`,
      peers: ['b', 'c'].map((node) => ({ node, publicKey: keyOf(node), address: `${node}:7411`, domain: `${ZONE}=zone-${node}` })),
    });
    expect((await world.attestation('a'))?.peers).toEqual(['b', 'c']);
  });

  it('is written on a change only, and by the leader only', async () => {
    const standby = world.replica('controller-2', { isLeading: false });
    await started('a', 'b', 'c');
    const assigned = leader.counts.get('assign-peers done') ?? 0;
    expect(assigned).toBeLessThanOrEqual(9);
    await world.run(300_000);
    expect(leader.counts.get('assign-peers done')).toBe(assigned);
    expect(standby.counts.get('assign-peers done')).toBeUndefined();
    await world.add('d');
    await world.attest('d', {});
    await world.run(10_000);
    expect(leader.counts.get('assign-peers done')).toBe(assigned + 4);
  });

  it('is not changed for a boot whose grants were ended', async () => {
    await started('a', 'b', 'c');
    const call = { signal: new AbortController().signal, deadlineMs: 5_000, beforeSend: () => undefined };
    const ending = leader.controller.endGrants('a', world.machines.get('a')?.bootID ?? '', call);
    await world.run(6_000);
    await ending;
    const { resourceVersion } = (await world.lease('a')).metadata;
    world.cut.add('a>api');
    await world.add('d');
    await world.attest('d', {});
    await world.run(10_000);
    expect((await world.told('b'))?.peers).toHaveLength(3);
    expect((await world.lease('a')).metadata.resourceVersion).toBe(resourceVersion);
  });

  it('leaves out a peer that nobody heard for five minutes, but not all of them at once', async () => {
    await started('a', 'b', 'c', 'd');
    world.machines.get('d')?.kill();
    await world.run(320_000, 1_000);
    expect((await world.told('a'))?.peers.map(({ node }) => node)).toEqual(['b', 'c']);
    for (const node of ['a', 'b', 'c']) world.cut.add(`${node}>controller-1`);
    const before = (await world.lease('a')).metadata.annotations?.[PEERS];
    await world.run(330_000, 1_000);
    expect((await world.lease('a')).metadata.annotations?.[PEERS]).toBe(before);
  });

  it('is reported when a daemon is heard, and when it is silent, with what it said last', async () => {
    await started('a', 'b');
    expect(await condition('a')).toMatchObject({
      status: 'True',
      reason: 'WatchdogArmed',
      message: 'Heartbeats come; they say: watchdog armed. Watchdog: hardware, armed, 10 s.',
    });
    const reports = leader.counts.get('report-daemon done');
    await world.run(60_000);
    expect(leader.counts.get('report-daemon done')).toBe(reports);
    world.machines.get('a')?.die('power cut');
    await world.run(40_000);
    expect(await condition('a')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(
        /^No heartbeat since 2026-01-01T00:0\d:\d\dZ; the last one said: watchdog armed\. Watchdog: hardware, armed, 10 s\.$/,
      ) as string,
    });
    const next = world.replica('controller-2', { isLeading: false });
    leader.leadership.isLeading = false;
    next.lead();
    await world.run(60_000);
    expect(await condition('a')).toMatchObject({ status: 'False', message: expect.stringContaining('the last one said') as string });
    expect(await condition('b')).toMatchObject({ status: 'True' });
  });

  it('says of a daemon that was never heard that nobody heard it', async () => {
    await world.add('a');
    await world.attest('a', {});
    await world.run(40_000);
    expect(await condition('a')).toMatchObject({ status: 'False', reason: 'Silent' });
    expect((await world.operator.list(LEASES, { namespace: NAMESPACE })).length).toBeGreaterThan(1);
  });
});
