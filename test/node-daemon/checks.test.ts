import { beforeEach, describe, expect, it } from 'vitest';

import { SIGNS } from '../../src/domain/node-daemon/datagram.ts';
import type { CheckFound, NodeCheck, StorageFound } from '../../src/ports/node-checks.ts';
import { ControllerModel } from './model/controller-model.ts';
import { DaemonWorld, HARDWARE } from './model/world.ts';
import type { MachineModel, MachineOptions } from './model/world.ts';

/** Its admin named /mnt/shared, and wants the node down when that is lost for a minute. */
const LOST_MS = 60_000;

describe('a node daemon that checks its node', () => {
  let world: DaemonWorld;
  let controller: ControllerModel;
  let reach: StorageFound['reach'] | 'hung';

  beforeEach(() => {
    world = new DaemonWorld();
    controller = new ControllerModel(world);
    reach = 'reachable';
  });

  const HEALTH = { reachable: 'ok', lost: 'problem', unknown: 'unknown' } as const;
  const storage: NodeCheck = {
    name: 'storage',
    intervalMs: 30_000,
    deadlineMs: 5_000,
    run: () => {
      if (reach === 'hung') return new Promise(() => undefined);
      return Promise.resolve({ health: HEALTH[reach], sentence: `it is ${reach}`, targets: [{ path: '/mnt/shared', reach }] });
    },
  };
  const always = (name: NodeCheck['name'], found: CheckFound): NodeCheck => ({
    name,
    intervalMs: 30_000,
    deadlineMs: 5_000,
    run: () => Promise.resolve(found),
  });

  async function started(change: Partial<MachineOptions> = {}): Promise<MachineModel> {
    const machine = world.machine('a', { checks: [storage], options: { storageLostMs: LOST_MS }, ...change });
    await machine.daemon.start();
    await world.run(60_000);
    expect(machine.isArmed).toBe(true);
    return machine;
  }

  it('attests what they find, says it in its heartbeats, and shows it', async () => {
    const kdump = always('kdump', { health: 'ok', sentence: 'armed', kdump: { isArmed: true, notifies: ['192.0.2.1'] } });
    const a = await started({ checks: [storage, kdump, always('hardware', { health: 'problem', sentence: '3 errors' })] });
    expect(controller.attested('a')).toMatchObject({ storage: 'reachable', kdump: { isArmed: true, notifies: ['192.0.2.1'] } });
    expect(controller.signs.get('a')).toBe(SIGNS.watchdogArmed | SIGNS.kdumpArmed | SIGNS.hardwareErrors);
    reach = 'lost';
    await world.run(35_000);
    expect(controller.attested('a')?.storage).toBe('lost');
    expect(controller.signs.get('a')).toBe(SIGNS.watchdogArmed | SIGNS.kdumpArmed | SIGNS.hardwareErrors | SIGNS.storageLost);
    expect(a.daemon.status().checks).toMatchObject([
      { name: 'storage', health: 'problem', sentence: 'it is lost' },
      { name: 'kdump', health: 'ok' },
      { name: 'hardware', health: 'problem', sentence: '3 errors' },
    ]);
  });

  it('takes the paths to storage for it where none is named', async () => {
    await started({ checks: [always('multipath', { health: 'problem', sentence: 'no usable path' })] });
    expect(controller.attested('a')?.storage).toBe('lost');
    await world.run(300_000);
    expect(world.machines.get('a')?.isDead, 'what is not named takes nothing down').toBe(false);
  });

  it('attests what can be read though a crash kernel notifies more than fit', async () => {
    const notifies = ['x'.repeat(300), ...Array.from({ length: 20 }, (_, index) => `192.0.2.${index}`)];
    await started({ checks: [always('kdump', { health: 'ok', sentence: 'armed', kdump: { isArmed: true, notifies } })] });
    expect(controller.attested('a')?.kdump?.notifies).toEqual(notifies.slice(1, 17));
  });

  it('proposes the BMC that it finds, and nothing where it does not know its address', async () => {
    await started({ checks: [always('bmc', { health: 'ok', sentence: 'it answers', bmc: { address: '198.51.100.7', mac: '02:00:5e:00:53:0a' } })] });
    expect(controller.attested('a')?.proposedBmc).toEqual({ address: '198.51.100.7', mac: '02:00:5e:00:53:0a' });
    const b = world.machine('b', { checks: [always('bmc', { health: 'ok', sentence: 'it answers', bmc: { mac: '02:00:5e:00:53:0a' } })] });
    await b.daemon.start();
    await world.run(35_000);
    expect(controller.attested('b')).not.toHaveProperty('proposedBmc');
  });

  describe('that looks at a condition of somebody else', () => {
    let health: CheckFound['health'];
    const look = async (): Promise<CheckFound> => {
      // A look takes its time.
      await world.clock.sleep(3_000);
      return { health, sentence: 'it looked', ...(health === 'ok' && { well: ['ReadonlyFilesystem'] }) };
    };
    const fileSystems: NodeCheck = { name: 'file-systems', intervalMs: 60_000, deadlineMs: 10_000, run: look };
    const wallMs = (): number => world.clock.wallMs();
    const attestedAt = (): number => Date.parse(controller.attested('a')?.foundWell?.[0]?.at ?? '');

    beforeEach(() => void (health = 'ok'));

    it('attests when the look began that found it well, and nothing once one found it otherwise or could not look', async () => {
      const beforeMs = wallMs();
      const a = await started({ checks: [fileSystems] });
      expect(controller.attested('a')?.foundWell).toMatchObject([{ type: 'ReadonlyFilesystem' }]);
      // The scheduler begins one a second after its start, and a look of a minute ago is attested within half a minute.
      expect(attestedAt()).toBeGreaterThanOrEqual(Math.floor(beforeMs / 1_000) * 1_000);
      expect(attestedAt()).toBeLessThanOrEqual(beforeMs + 2_000);
      await world.run(120_000);
      expect(wallMs() - attestedAt()).toBeLessThan(100_000);
      for (const not of ['problem', 'unknown'] as const) {
        health = not;
        await world.run(70_000);
        expect(controller.attested('a')).not.toHaveProperty('foundWell');
        health = 'ok';
        await world.run(70_000);
        expect(controller.attested('a')).toHaveProperty('foundWell');
      }
      a.kill();
      a.restart();
      await a.daemon.start();
      await world.run(2_000);
      expect(controller.attested('a'), 'a daemon that has not looked yet').not.toHaveProperty('foundWell');
    });

    it.each([
      ['forward', 3_600_000],
      ['back', -3_600_000],
    ])('attests no later time where the wall clock was set %s meanwhile', async (_, jumpMs) => {
      await started({ checks: [fileSystems] });
      const before = attestedAt();
      world.clock.jumpWall(jumpMs);
      await world.run(31_000);
      expect(attestedAt()).toBeLessThanOrEqual(Math.max(before, before + Math.min(0, jumpMs) + 61_000));
      expect(attestedAt()).toBeLessThanOrEqual(wallMs());
    });
  });

  it('is fed though a check hangs', async () => {
    const a = await started();
    reach = 'hung';
    await world.run(600_000);
    expect(a).toMatchObject({ isDead: false, isArmed: true });
    expect(a.daemon.status().checks).toMatchObject([{ health: 'unknown', sentence: 'not checked: it did not end within 5 s' }]);
    expect(controller.attested('a')?.storage).toBe('unknown');
  });

  describe('of which the storage is lost', () => {
    it('stops its pods and resets the machine, though everybody keeps it up', async () => {
      const a = await started();
      const lostAtMs = world.clock.monotonicMs();
      reach = 'lost';
      await world.run(150_000);
      expect(a.deadBy).toBe('storage lost');
      expect((a.podsStoppedAtMs ?? 0) - lostAtMs).toBeGreaterThan(LOST_MS);
      expect(a.deadAtMs).toBeGreaterThanOrEqual(a.podsStoppedAtMs ?? Infinity);
      expect((a.deadAtMs ?? Infinity) - lostAtMs).toBeLessThan(30_000 + LOST_MS + 5_000);
    });

    it('resets the machine though its pods do not stop, as those do that wait for the storage', async () => {
      const a = await started({ podStopMs: 900_000 });
      const lostAtMs = world.clock.monotonicMs();
      reach = 'lost';
      await world.run(200_000);
      expect(a.deadBy).toBe('storage lost');
      expect((a.deadAtMs ?? Infinity) - lostAtMs).toBeLessThan(30_000 + LOST_MS + 32_000);
    });

    it('says so though it is started anew while its pods are stopped', async () => {
      const a = await started({ podStopMs: 900_000 });
      reach = 'lost';
      await world.run(95_000);
      expect(a.daemon.status().phase).toBe('stopping');
      a.kill();
      a.restart();
      await a.daemon.start();
      reach = 'reachable';
      await world.run(60_000);
      expect(a.deadBy).toBe('storage lost');
    });

    it.each<[string, Partial<MachineOptions>]>([
      ['it does not fence itself', { options: { fencesItself: false, storageLostMs: LOST_MS } }],
      ['nobody wants that of it', { options: {} }],
    ])('stays up where %s', async (_, change) => {
      const a = await started(change);
      reach = 'lost';
      await world.run(600_000);
      expect(a).toMatchObject({ isDead: false, isArmed: true });
      expect(a.daemon.status().checks).toMatchObject([{ health: 'problem' }]);
    });

    it('stays up where the storage was never reached since its start, as of a wrong name or in a sandbox', async () => {
      reach = 'lost';
      const a = await started();
      await world.run(600_000);
      expect(a.isDead).toBe(false);
    });

    it('stays up where the storage answers now and then', async () => {
      const a = await started();
      for (let turn = 0; turn < 10; turn += 1) {
        reach = 'lost';
        await world.run(60_000);
        reach = 'reachable';
        await world.run(30_000);
      }
      expect(a.isDead).toBe(false);
    });

    it('stays up where the probes cannot be started, or do not end', async () => {
      const a = await started();
      reach = 'lost';
      await world.run(60_000);
      reach = 'unknown';
      await world.run(300_000);
      reach = 'lost';
      await world.run(60_000);
      reach = 'hung';
      await world.run(300_000);
      expect(a.isDead).toBe(false);
    });

    it('stays up where the machine was paused meanwhile, until it is lost for a whole minute again', async () => {
      const a = await started({ facts: { ...HARDWARE, isPausable: true } });
      reach = 'lost';
      await world.run(75_000);
      world.clock.suspend(600_000);
      await world.run(30_000);
      expect(a.daemon.status().phase).toBe('kept');
      await world.run(90_000);
      expect(a.deadBy).toBe('storage lost');
    });

    it('stays up where the clock on the wall jumps', async () => {
      const a = await started();
      reach = 'lost';
      await world.run(40_000);
      world.clock.jumpWall(86_400_000);
      await world.run(15_000);
      reach = 'reachable';
      await world.run(120_000);
      expect(a.isDead).toBe(false);
    });
  });
});
