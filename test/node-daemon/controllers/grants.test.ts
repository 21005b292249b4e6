import { beforeEach, describe, expect, it } from 'vitest';

import { GRANTS_ENDED } from '../../../src/domain/node-daemon/attestation.ts';
import { seal } from '../../../src/domain/node-daemon/seal.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';
import { LEASES } from '../../../src/ports/resources.ts';
import { ControllerWorld, NAMESPACE } from './world.ts';
import type { Replica } from './world.ts';

describe('grants', () => {
  let world: ControllerWorld;
  let leader: Replica;

  beforeEach(async () => {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
  });

  const grantsTo = (node: string, from = 'controller-1'): number =>
    world.sent.filter(({ to, from: sender, datagram }) => sender === from && to === `${node}:7411` && datagram.type === 'grant').length;

  async function started(...nodes: string[]): Promise<void> {
    for (const node of nodes) {
      const machine = await world.add(node);
      await machine.daemon.start();
    }
    await world.run(70_000);
  }

  it('arm the node, which is counted as heard and armed', async () => {
    await started('a', 'b');
    expect(world.machines.get('a')?.isArmed).toBe(true);
    expect((await world.attestation('a'))?.watchdog?.state).toBe('armed');
    expect(Object.fromEntries(leader.counts)).toMatchObject({ attested: 2, heard: 2, armed: 2 });
    await world.run(120_000);
    expect([...world.machines.values()].map(({ isDead }) => isDead)).toEqual([false, false]);
    expect(leader.counts.get('refused replayed')).toBeUndefined();
  });

  it('come from the leader alone, and from the next one when the lease has changed hands', async () => {
    const standby = world.replica('controller-2', { isLeading: false });
    await started('a');
    expect(standby.counts.get('received')).toBeGreaterThan(0);
    expect(grantsTo('a', 'controller-2')).toBe(0);
    leader.leadership.isLeading = false;
    await world.run(2_000);
    const before = grantsTo('a');
    standby.lead();
    await world.run(5_000);
    expect(grantsTo('a')).toBe(before);
    expect(grantsTo('a', 'controller-2')).toBeGreaterThan(2);
  });

  it('are not given by a leader that could not read which were ended', async () => {
    await started('a');
    const standby = world.replica('controller-2', { isLeading: false });
    await world.run(60_000);
    world.cut.add('controller-2>api');
    leader.leadership.isLeading = false;
    standby.lead();
    await world.run(3_000);
    expect(grantsTo('a', 'controller-2')).toBe(0);
    expect(standby.controller.problems().join()).toContain('which grants were ended could not be read');
    world.cut.delete('controller-2>api');
    await world.run(3_000);
    expect(grantsTo('a', 'controller-2')).toBeGreaterThan(0);
  });

  it('are refused to a boot whose ending stands in the API, also when the annotation is gone afterwards', async () => {
    await started('a');
    const bootID = world.machines.get('a')?.bootID ?? '';
    const patch = (text: string | null) => ({ metadata: { annotations: { [GRANTS_ENDED]: text } } });
    const name = (await world.lease('a')).metadata.name;
    await world.operator.mergePatch(LEASES, name, patch(JSON.stringify({ bootID, eligible: [], promised: [] })), { namespace: NAMESPACE });
    await world.run(1_500);
    const before = grantsTo('a');
    await world.operator.mergePatch(LEASES, name, patch(null), { namespace: NAMESPACE });
    await world.run(5_000);
    expect(grantsTo('a')).toBe(before);
    expect(leader.counts.get('answered refusal')).toBeGreaterThan(3);
  });

  it('answer each heartbeat once: one that is repeated, older, forged, of another boot or of nobody is dropped and counted', async () => {
    await started('a');
    world.machines.get('a')?.kill();
    await world.clock.advance(10);
    leader.counts.clear();
    const [heartbeat] = world.sent
      .filter(({ from, to, datagram }) => from === 'a' && to === 'controller-1:7411' && datagram.type === 'heartbeat')
      .slice(-1);
    const mac = macOf(keyOf('key-1'), keyOf('a'));
    const say = (change: object, key = mac) =>
      world.socket('a', 'a:7412').send('controller-1:7411', seal({ ...heartbeat!.datagram, ...change }, key));
    const before = grantsTo('a');
    say({});
    say({ counter: heartbeat!.datagram.counter - 1 });
    say({ counter: heartbeat!.datagram.counter + 1 }, macOf(keyOf('key-1'), keyOf('b')));
    say({ counter: heartbeat!.datagram.counter + 1, bootID: '00000000-0000-4000-8000-00000000beef' });
    say({ sender: 'nobody' });
    say({ type: 'vouch' });
    await world.clock.advance(10);
    expect(Object.fromEntries([...leader.counts].filter(([name]) => name.startsWith('refused')))).toEqual({
      'refused replayed': 2,
      'refused forged': 1,
      'refused another boot': 1,
      'refused unknown sender': 1,
      'refused unexpected': 1,
    });
    expect(grantsTo('a')).toBe(before);
  });

  it('end with the key that was attested: a daemon that is started anew attests its own first', async () => {
    await world.attest('a', { bootID: world.machine('a').bootID, publicKey: keyOf('another-a') });
    await world.run(3_000);
    const { bootID } = world.machine('a');
    const heartbeat = { type: 'heartbeat', counter: 1, signs: 0, sender: 'a', bootID } as const;
    world.socket('a', 'a:7411').send('controller-1:7411', seal(heartbeat, macOf(keyOf('key-1'), keyOf('a'))));
    await world.run(200);
    expect(leader.counts.get('refused forged')).toBe(1);
    expect(grantsTo('a')).toBe(0);
  });
});
