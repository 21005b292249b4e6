import { beforeEach, describe, expect, it } from 'vitest';

import { ATTESTATION } from '../../../src/domain/node-daemon/attestation.ts';
import type { GrantsEnded } from '../../../src/domain/node-daemon/attestation.ts';
import { seal } from '../../../src/domain/node-daemon/seal.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';
import type { EndingCall } from '../../../src/ports/node-daemons.ts';
import { LEASES } from '../../../src/ports/resources.ts';
import { ControllerWorld, NAMESPACE } from './world.ts';
import type { Replica } from './world.ts';

const NODES = ['a', 'b', 'c', 'd'];

describe('ending grants', () => {
  let world: ControllerWorld;
  let leader: Replica;

  beforeEach(async () => {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
    for (const node of NODES) {
      const machine = await world.add(node);
      await machine.daemon.start();
    }
    // The second attestation names the peers that were assigned after the first.
    await world.run(100_000);
  });

  const bootOf = (node: string): string => world.machines.get(node)?.bootID ?? '';
  const sentTo = (node: string, type: string): number =>
    world.sent.filter(({ from, to, datagram }) => from === 'controller-1' && to === `${node}:7411` && datagram.type === type).length;

  /** Begins, lets time pass, and gives what became of it. */
  async function end(node: string, change: Partial<EndingCall> = {}, passMs = 20_000, by = leader): Promise<GrantsEnded> {
    const call = { signal: new AbortController().signal, deadlineMs: 10_000, beforeSend: () => undefined, ...change };
    const ending = by.controller.endGrants(node, bootOf(node), call);
    ending.catch(() => undefined);
    await world.run(passMs);
    return ending;
  }

  it('is written, and then promised by every peer that was attested or assigned', async () => {
    expect((await world.attestation('a'))?.peers).toEqual(['b', 'c', 'd']);
    const ended = await end('a');
    expect(ended).toEqual({ bootID: bootOf('a'), eligible: ['b', 'c', 'd'], promised: ['b', 'c', 'd'] });
    expect(await world.ended('a')).toEqual(ended);
    for (const peer of ['b', 'c', 'd']) expect(world.machines.get(peer)?.promises.get(bootOf('a')), peer).toBe('a');
  });

  it('takes the node down, which nobody grants and nobody vouches for from the turn of the write on', async () => {
    const grants = { then: 0 };
    await end('a', { beforeSend: () => (grants.then = sentTo('a', 'grant')) }, 120_000);
    expect(sentTo('a', 'grant')).toBe(grants.then);
    expect(world.machines.get('a')).toMatchObject({ isDead: true, deadBy: 'cut off' });
    expect(NODES.filter((node) => world.machines.get(node)?.isDead)).toEqual(['a']);
  });

  it('sends nothing and remembers nothing where the run may not begin any more', async () => {
    const refusal = new Error('the lease is lost');
    const beforeSend = (): void => {
      throw refusal;
    };
    await expect(end('a', { beforeSend })).rejects.toBe(refusal);
    expect(await world.ended('a')).toBeUndefined();
    expect(sentTo('b', 'promise-request')).toBe(0);
    expect(world.machines.get('a')?.isDead).toBe(false);
    expect(leader.counts.get('answered refusal')).toBeUndefined();
  });

  it('is asked for once: what stands is not written again, and the run is not asked again', async () => {
    await end('a');
    const writes = leader.writes.length;
    const asked: string[] = [];
    await end('a', { beforeSend: () => void asked.push('again') });
    expect(asked).toEqual([]);
    expect(leader.writes.slice(writes).filter((write) => write.includes('nodefence-node-a'))).toEqual([]);
  });

  it('waits for a peer that does not answer, says who is missing, and goes on in the next run', async () => {
    for (const peer of ['b', 'c', 'd']) world.cut.add(`controller-1>${peer}`);
    expect(await end('a')).toMatchObject({ eligible: ['b', 'c', 'd'], promised: [] });
    expect(sentTo('c', 'promise-request')).toBeGreaterThan(5);
    expect((await world.ended('a'))?.promised).toEqual([]);
    world.cut.clear();
    expect((await end('a')).promised).toEqual(['b', 'c', 'd']);
  });

  it('is over after three seconds where those that do not answer cannot keep the node up', async () => {
    world.cut.add('controller-1>c');
    const sinceMs = world.clock.monotonicMs();
    const call = { signal: new AbortController().signal, deadlineMs: 60_000, beforeSend: () => undefined };
    let tookMs = Number.NaN;
    const ending = leader.controller.endGrants('a', bootOf('a'), call).then((ended) => {
      tookMs = world.clock.monotonicMs() - sinceMs;
      return ended;
    });
    await world.run(10_000);
    expect(await ending).toMatchObject({ eligible: ['b', 'c', 'd'], promised: ['b', 'd'] });
    expect(sentTo('c', 'promise-request')).toBe(3);
    expect(tookMs).toBeLessThan(4_000);
  });

  it('needs the promise of a peer whose Node is gone, and of one that cannot write to its disk', async () => {
    const { operator } = world;
    await operator.remove({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }, 'b', {});
    const stuck = world.machines.get('d');
    if (stuck !== undefined) stuck.failsToWritePromises = true;
    await world.run(2_000);
    expect(await end('a')).toMatchObject({ eligible: ['b', 'c', 'd'], promised: ['b', 'c'] });
  });

  it('asks a peer that attested meanwhile too', async () => {
    world.cut.add('controller-1>c');
    const ending = end('a', { deadlineMs: 15_000 }, 5_000);
    ending.catch(() => undefined);
    await world.run(2_000);
    const lease = await world.lease('a');
    const attested = JSON.parse(lease.metadata.annotations?.[ATTESTATION] ?? '') as object;
    const annotations = { [ATTESTATION]: JSON.stringify({ ...attested, peers: ['b', 'c', 'd', 'e'] }) };
    await world.operator.mergePatch(LEASES, lease.metadata.name, { metadata: { annotations } }, { namespace: NAMESPACE });
    world.cut.delete('controller-1>c');
    await world.run(20_000);
    expect(await ending).toMatchObject({ eligible: ['b', 'c', 'd', 'e'], promised: ['b', 'c', 'd'] });
  });

  it('counts no promise about another boot, of another node, to another question, or in another’s name', async () => {
    for (const peer of ['b', 'c', 'd']) {
      world.cut.add(`controller-1>${peer}`);
      world.machines.get(peer)?.kill();
    }
    const call = { signal: new AbortController().signal, deadlineMs: 10_000, beforeSend: () => undefined };
    const ending = leader.controller.endGrants('a', bootOf('a'), call);
    await world.run(3_000);
    const asked = world.sent.findLast(({ to, datagram }) => to === 'b:7411' && datagram.type === 'promise-request')!.datagram;
    const say = (sender: string, change: object, key = sender): void => {
      const promise = { ...asked, type: 'promise', sender, bootID: bootOf(sender), ...change } as const;
      world.socket(sender, `${sender}:7412`).send('controller-1:7411', seal(promise, macOf(keyOf('key-1'), keyOf(key))));
    };
    say('b', { subjectBootID: bootOf('c') });
    say('b', { subject: 'c' });
    say('b', { counter: asked.counter + 1 });
    say('c', {});
    say('b', {}, 'c');
    await world.run(1_500);
    expect((await world.ended('a'))?.promised).toEqual([]);
    say('b', {});
    await world.run(10_000);
    expect(await ending).toMatchObject({ promised: ['b'] });
  });

  it('is kept by the next leader, which grants nothing for that boot either', async () => {
    world.cut.add('controller-1>c');
    await end('a');
    const next = world.replica('controller-2', { isLeading: false });
    leader.leadership.isLeading = false;
    await world.run(1_000);
    next.lead();
    await world.run(31_000);
    expect(world.sent.filter(({ from, to, datagram }) => from === 'controller-2' && to === 'a:7411' && datagram.type === 'grant')).toEqual([]);
    expect(await end('a', {}, 12_000, next)).toMatchObject({ promised: ['b', 'c', 'd'] });
  });

  it('is not written by whoever does not lead any more', async () => {
    leader.leadership.isLeading = false;
    await expect(end('a')).rejects.toMatchObject({ name: 'AgentError', kind: 'NotSent' });
    expect(await world.ended('a')).toBeUndefined();
  });

  it('is refused for a boot that is over', async () => {
    const call = { signal: new AbortController().signal, deadlineMs: 10_000, beforeSend: () => undefined };
    await expect(leader.controller.endGrants('a', bootOf('b'), call)).rejects.toThrow(`it attests boot ${bootOf('a')} now`);
    expect(await world.ended('a')).toBeUndefined();
  });

  it('goes on while the API server is away: what peers promised is written when it is back', async () => {
    const ending = end('a', { deadlineMs: 60_000, beforeSend: () => world.clock.after(0, () => world.cut.add('controller-1>api')) }, 6_000);
    ending.catch(() => undefined);
    await world.run(1_000);
    world.cut.delete('controller-1>api');
    await world.run(20_000);
    expect((await ending).promised).toEqual(['b', 'c', 'd']);
  });

  it('that was read in the API ends the grants here, before the watch shows it', async () => {
    const before = sentTo('a', 'grant');
    leader.controller.sawEnded('a', bootOf('a'));
    await world.run(3_000);
    expect(sentTo('a', 'grant')).toBe(before);
    expect(sentTo('a', 'refusal')).toBeGreaterThan(1);
  });
});

describe('ending grants in a rack that is dead', () => {
  it('needs the promises of the other racks alone', async () => {
    const world = await ControllerWorld.create();
    const leader = world.replica('controller-1', { topologyKeys: ['rack'] });
    for (const [node, rack] of [
      ['a', 'r1'],
      ['b', 'r1'],
      ['c', 'r2'],
      ['d', 'r3'],
    ] as const)
      await (await world.add(node, { rack })).daemon.start();
    await world.run(100_000);
    expect(await world.attestation('a')).toMatchObject({
      peers: ['b', 'c', 'd'],
      domains: { a: 'rack=r1', b: 'rack=r1', c: 'rack=r2', d: 'rack=r3' },
    });
    for (const dead of ['a', 'b']) for (const place of ['api', 'controller-1', 'c', 'd']) world.cut.add(`${dead}>${place}`).add(`${place}>${dead}`);
    const call = { signal: new AbortController().signal, deadlineMs: 60_000, beforeSend: () => undefined };
    const ending = leader.controller.endGrants('a', world.machines.get('a')?.bootID ?? '', call);
    await world.run(10_000);
    expect(await ending).toMatchObject({ eligible: ['b', 'c', 'd'], promised: ['c', 'd'] });
    await world.run(100_000);
    expect(world.machines.get('a')).toMatchObject({ isDead: true, deadBy: 'cut off' });
  });
});
