import { describe, expect } from 'vitest';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import { installMedik8s, leaseOut } from './medik8s.ts';
import { HealthCheck } from './remediation.ts';
import type { Configuration } from './configuration.ts';
import { scenario } from './scenario.ts';
import { until } from './waiting.ts';

const SERVING = { remediation: true, timeoutMs: 120_000 };

describe.concurrent('a health check that asks for a fence', () => {
  scenario('of a node that failed has it fenced, and reads that it is back', SERVING, async ({ world, operator }) => {
    const check = new HealthCheck(world, 'a');
    world.machine('a').panic();
    await check.asks('a');
    await check.reads('True Unknown');
    await check.reads('False True', 60_000);
    expect((await operator.fence('a'))?.status).toMatchObject({ state: 'final', outcome: 'recovered' });
    await check.deletes();
    await check.isGone();
  });

  const slow = { ...SERVING, wrote: (files: Configuration) => files.set({ power_management_delay: '10s' }) };
  scenario('and takes it back before the off has nothing switched', slow, async ({ world, operator }) => {
    const check = new HealthCheck(world, 'a');
    await check.asks('a');
    await operator.sees('a', 'running', ({ state }) => state === 'running');
    await check.deletes();
    await check.isGone();
    await until('the fence is gone', async () => ((await operator.fence('a')) === undefined ? true : undefined), 60_000);
    expect(world.witness.sets('a')).toEqual([]);
  });

  scenario('and gives it up before the off has nothing switched, and its request stays until it is deleted', slow, async ({ world, operator }) => {
    const check = new HealthCheck(world, 'a');
    await check.asks('a');
    await operator.sees('a', 'running', ({ state }) => state === 'running');
    await check.timesOut(new Date(world.clock.wallMs()).toISOString());
    await check.reads('False False');
    await until('the fence is gone', async () => ((await operator.fence('a')) === undefined ? true : undefined), 60_000);
    expect(world.witness.sets('a')).toEqual([]);
    expect(await check.found()).toBeDefined();
    await check.deletes();
    await check.isGone();
  });

  const retrying = { ...SERVING, wrote: (files: Configuration) => files.set({ step_retries: '30' }) };
  scenario('and gives it up while the BMC is silent has nothing switched when that is heard again', retrying, async ({ world, operator }) => {
    const check = new HealthCheck(world, 'a');
    world.bmc('a').device.faults = { isSilent: true };
    await check.asks('a');
    await operator.sees('a', 'an off that came to nothing', ({ journal }) => {
      const off = journal.findLast(({ action }) => action === 'off');
      return off?.finishedAt !== undefined && off.result !== 'succeeded';
    });
    await check.timesOut(new Date(world.clock.wallMs()).toISOString());
    await check.reads('False False');
    world.bmc('a').device.faults = {};
    await until('the fence is gone', async () => ((await operator.fence('a')) === undefined ? true : undefined), 60_000);
    await check.deletes();
    await check.isGone();
    expect(world.witness.sets('a')).toEqual([]);
  });

  const waiting = { ...SERVING, nodeLeaseNamespace: MEDIK8S_LEASE_NAMESPACE, wrote: (files: Configuration) => files.set({ isolation_delay: '6s' }) };
  scenario('under its lease, of a node that is about to be fenced anyhow, is not waited for by what waits for it', waiting, async (play) => {
    const { world, operator } = play;
    await installMedik8s(world);
    const check = new HealthCheck(world, 'a');
    world.machine('a').panic();
    await operator.sees('a', 'begun', ({ state }) => state === 'new');
    await leaseOut(world, 'a', 660, 'NodeHealthCheck-workers');
    await check.asks('a');
    await check.reads('True Unknown');
    await check.reads('False True', 60_000);
    expect((await operator.fence('a'))?.status).toMatchObject({ state: 'final', outcome: 'recovered' });
    await check.deletes();
    await check.isGone();
  });

  scenario('that is to end in off has the node back when its request is deleted', SERVING, async ({ world, operator }) => {
    const check = new HealthCheck(world, 'a');
    world.machine('a').panic();
    await check.asks('a', { strategy: 'fence' });
    await check.reads('False True', 60_000);
    expect((await operator.fence('a'))?.status).toMatchObject({ state: 'final', outcome: 'fenced-off' });
    await check.deletes();
    await check.isGone();
    await until('the machine is on again', () => Promise.resolve(world.witness.sets('a').length >= 2 ? true : undefined), 60_000);
  });
});
