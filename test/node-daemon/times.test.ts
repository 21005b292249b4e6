import { beforeEach, describe, expect, it } from 'vitest';

import { ControllerModel } from './model/controller-model.ts';
import { DaemonWorld } from './model/world.ts';
import type { MachineModel } from './model/world.ts';

const DEFAULTS = { grantMs: 5_000, isolationTimeoutMs: 40_000, podStopMaxMs: 30_000, resetTimeMs: 10_000 };

describe('the times of a node daemon', () => {
  let world: DaemonWorld;
  let controller: ControllerModel;

  beforeEach(() => {
    world = new DaemonWorld();
    controller = new ControllerModel(world);
  });

  const attested = (): unknown => (controller.attested('a') as { selfFence?: unknown } | undefined)?.selfFence;

  async function started(own: Record<string, number> = {}): Promise<MachineModel> {
    const machine = world.machine('a', { options: { times: own } });
    await machine.daemon.start();
    await world.run(35_000);
    expect(machine.isArmed).toBe(true);
    return machine;
  }

  async function stoppedAfterCutOff(machine: MachineModel): Promise<number> {
    const cutAtMs = world.clock.monotonicMs();
    for (const other of ['controller', 'api']) world.cut.add(`a>${other}`);
    await world.run(200_000);
    return (machine.podsStoppedAtMs ?? Infinity) - cutAtMs;
  }

  it('are the usual ones where nobody says otherwise', async () => {
    await started();
    expect(attested()).toEqual(DEFAULTS);
  });

  it('are what the controllers say before anybody keeps the node up: it attests them and lives by them', async () => {
    controller.tell('isolation_timeout=60000ms\nwatchdog_timeout=15000ms\nreset_time=20000ms');
    const machine = await started();
    expect(attested()).toEqual({ ...DEFAULTS, isolationTimeoutMs: 60_000, resetTimeMs: 20_000 });
    expect(machine.openedForMs).toBe(15_000);
    expect(machine.daemon.status().problems).toEqual([]);
    const afterMs = await stoppedAfterCutOff(machine);
    expect(afterMs).toBeGreaterThan(62_000);
    expect(afterMs).toBeLessThan(68_000);
  });

  it('are those of the node’s own admin where he wrote them', async () => {
    controller.tell('isolation_timeout=60000ms');
    await started({ isolationTimeoutMs: 50_000 });
    expect(attested()).toEqual({ ...DEFAULTS, isolationTimeoutMs: 50_000 });
  });

  it('do not change while others count with them: the difference is a problem of its status', async () => {
    const machine = await started();
    controller.tell('isolation_timeout=60000ms');
    await world.run(70_000);
    expect(attested()).toEqual(DEFAULTS);
    expect(machine.daemon.status().problems).toEqual(['runs with isolation_timeout 40 s instead of 60 s until its next clean stop']);
    expect(await stoppedAfterCutOff(machine)).toBeLessThan(48_000);
  });

  it('outlive a daemon that was killed while its watchdog was armed', async () => {
    const machine = await started();
    controller.tell('isolation_timeout=600000ms\nwatchdog_timeout=15000ms');
    machine.kill();
    machine.restart();
    await machine.daemon.start();
    await world.run(70_000);
    expect(attested()).toEqual(DEFAULTS);
    expect(machine.openedForMs).toBe(10_000);
    expect(await stoppedAfterCutOff(machine)).toBeLessThan(48_000);
  });

  it('are the new ones after a clean stop', async () => {
    const machine = await started();
    controller.tell('isolation_timeout=60000ms');
    const closing = machine.daemon.close();
    await world.run(2_000);
    expect(await closing).toBe('disarmed');
    machine.kill();
    machine.restart();
    await machine.daemon.start();
    await world.run(35_000);
    expect(attested()).toEqual({ ...DEFAULTS, isolationTimeoutMs: 60_000 });
    expect(machine.daemon.status().problems).toEqual([]);
  });

  it('are not taken from controllers whose times break a rule together with its own', async () => {
    controller.tell('api_failover=60000ms');
    const machine = await started();
    expect(attested()).toEqual(DEFAULTS);
    expect(machine.daemon.status().problems).toEqual([
      expect.stringMatching(
        /^the controllers' times are not taken: timing rule 5: isolation_timeout 40 s must be at least API fail-over 60 s/,
      ) as string,
    ]);
  });

  it('keep it from starting where its admin’s break a rule, with the numbers filled in', () => {
    expect(() => world.machine('b', { options: { times: { apiFailOverMs: 30_000 } } })).toThrow(
      'timing rule 5: isolation_timeout 40 s must be at least API fail-over 30 s + leader lease 15 s = 45 s',
    );
    expect(() => world.machine('b', { options: { times: { watchdogMs: 6_000, feedIntervalMs: 3_000 } } })).toThrow(
      "feed interval 3 s must be at most a third of the watchdog's 6 s",
    );
  });
});
