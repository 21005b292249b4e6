import { describe, expect, it } from 'vitest';

import { packRun } from '../../../src/domain/node-daemon/unfencing.ts';
import { seal } from '../../../src/domain/node-daemon/seal.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';
import { StorageModel } from '../model/storage.ts';
import { ControllerWorld } from './world.ts';
import type { Replica } from './world.ts';

const FENCE = '11111111-0000-4000-8000-000000000001';
const RUN = '22222222-0000-4000-8000-00000000abcd';
const OTHER_BOOT = '33333333-0000-4000-8000-000000000003';

describe('a daemon that puts its registrations back', () => {
  let world: ControllerWorld;
  let leader: Replica;
  const storage = (): StorageModel => new StorageModel();

  async function begin(model: StorageModel): Promise<void> {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
    const machine = await world.add('a', {}, { unfence: model.ports });
    await machine.daemon.start();
    await world.run(20_000);
  }

  const bootOf = (): string => world.machines.get('a')?.bootID ?? '';
  const unfence = async () => (await world.attestation('a'))?.unfence;

  it('does nothing without a permit, however often it is started', async () => {
    const model = storage();
    model.isRegistered = false;
    await begin(model);
    for (let starts = 1; starts <= 3; starts += 1) {
      world.machines.get('a')?.kill();
      world.machines.get('a')?.restart();
      await world.machines.get('a')?.daemon.start();
      await world.run(70_000);
    }
    expect(model.registered).toEqual([]);
    expect((await unfence())?.state).toBe('waiting');
  });

  it('says that it registers before it does, and that it is ready when it has read it back', async () => {
    const model = storage();
    model.isRegistered = false;
    model.liesOnce = true;
    await begin(model);
    const states: (string | undefined)[] = [];
    model.onRegister = () => {
      const text = leaseText();
      states.push(text);
    };
    const leaseText = (): string | undefined => known;
    let known: string | undefined;
    const withdraw = leader.controller.permit('a', { bootID: bootOf(), fence: FENCE, run: RUN });
    for (let over = 0; over < 20_000; over += 100) {
      await world.run(100);
      known = (await unfence())?.state;
      states.push(...[model].filter(({ isRegistered }) => known === 'ready to recover' && !isRegistered).map(() => 'ready without being registered'));
    }
    withdraw();
    // The first one was a lie: it was not taken for a registration.
    expect(model.registered).toHaveLength(2);
    expect(states).toEqual(['registering', 'registering']);
    expect(await unfence()).toMatchObject({
      state: 'ready to recover',
      fence: FENCE,
      run: RUN,
      epoch: 1,
      key: model.key,
      devices: ['/dev/disk/by-id/wwn-1'],
    });
  });

  it('registers no more in a boot that had its registrations and lost them', async () => {
    const model = storage();
    await begin(model);
    model.isRegistered = false;
    leader.controller.permit('a', { bootID: bootOf(), fence: FENCE, run: RUN });
    await world.run(20_000);
    expect(model.registered).toEqual([]);
    expect(await unfence()).toMatchObject({ state: 'failed', why: 'shut out', run: RUN });
    world.machines.get('a')?.kill();
    world.machines.get('a')?.restart();
    await world.machines.get('a')?.daemon.start();
    await world.run(20_000);
    expect(model.registered).toEqual([]);
  });

  it('is permitted nothing for another boot, after the permit was withdrawn, or by a replica that does not lead', async () => {
    const model = storage();
    model.isRegistered = false;
    await begin(model);
    leader.controller.permit('a', { bootID: OTHER_BOOT, fence: FENCE, run: RUN });
    await world.run(10_000);
    leader.controller.permit('a', { bootID: bootOf(), fence: FENCE, run: RUN })();
    await world.run(10_000);
    leader.leadership.isLeading = false;
    leader.controller.permit('a', { bootID: bootOf(), fence: FENCE, run: RUN });
    await world.run(10_000);
    expect(model.registered).toEqual([]);
    expect(world.sent.filter(({ datagram }) => datagram.type === 'unfence-permit')).toEqual([]);
  });

  it('takes no permit of an earlier term once a later one has permitted', async () => {
    const model = storage();
    model.isRegistered = false;
    model.record = { lacks: true, isRegistering: false, epoch: 9 };
    await begin(model);
    leader.controller.permit('a', { bootID: bootOf(), fence: FENCE, run: RUN });
    await world.run(10_000);
    expect(model.registered).toEqual([]);
  });

  it('takes no permit for another boot or node, and none that answers nothing it asked lately', async () => {
    const model = storage();
    model.isRegistered = false;
    await begin(model);
    const forge = (counter: number, change: object = {}): void => {
      const permit = { type: 'unfence-permit', counter, signs: 1, sender: 'nodefence-controllers', subject: 'a', subjectBootID: bootOf() } as const;
      const datagram = { ...permit, publicKey: packRun({ fence: FENCE, run: RUN }), ...change };
      leader.socket.send('a:7411', seal(datagram, macOf(keyOf('key-1'), keyOf('a'))));
    };
    const heartbeats = (): number[] =>
      world.sent.filter(({ from, datagram }) => from === 'a' && datagram.type === 'heartbeat').map(({ datagram }) => datagram.counter);
    const [first = 0] = heartbeats();
    for (let seconds = 0; seconds < 10; seconds += 1) {
      await world.run(1_000);
      const last = heartbeats().at(-1) ?? 0;
      forge(last, { subjectBootID: OTHER_BOOT });
      forge(last, { subject: 'b' });
      forge(first);
      forge(last + 1);
    }
    await world.run(5_000);
    expect(model.registered).toEqual([]);
    forge(heartbeats().at(-1) ?? 0);
    await world.run(3_000);
    expect(model.registered).toHaveLength(1);
  });

  it('says that it registers as long as a process of an earlier daemon may, and that keeps revoked storage from counting', async () => {
    const model = storage();
    model.isRegistered = false;
    model.isHung = true;
    model.record = { lacks: true, isRegistering: true, epoch: 1 };
    await begin(model);
    expect((await unfence())?.state).toBe('registering');
    const doubt = leader.controller.mayRegister('a');
    await world.run(1_000);
    expect(await doubt).toContain('proves nothing');
    model.isHung = false;
    await world.run(10_000);
    expect((await unfence())?.state).toBe('waiting');
    const after = leader.controller.mayRegister('a');
    await world.run(1_000);
    expect(await after).toBeUndefined();
  });

  it('begins nothing before the API server has its word', async () => {
    const model = storage();
    model.isRegistered = false;
    await begin(model);
    world.cut.add('a>api');
    leader.controller.permit('a', { bootID: bootOf(), fence: FENCE, run: RUN });
    await world.run(10_000);
    expect(model.registered).toEqual([]);
    world.cut.delete('a>api');
    await world.run(10_000);
    expect(model.registered).toHaveLength(1);
  });
});
