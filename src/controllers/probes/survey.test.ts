import { expect, it } from 'vitest';
import type { Plan } from '../../domain/plan.ts';
import { method, planOf } from '../../domain/testing/model.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister, nodeOf } from '../fence/testing/harness.ts';
import { ProbeController } from './controller.ts';

const none = (): void => undefined;

/** A plan that counts how often its methods are asked for. */
function counted(device: string, onLook: () => void): Plan {
  const levels = planOf({ powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device })] }] });
  return Object.defineProperty({ ...levels }, 'powerManagement', {
    get: () => {
      onLook();
      return levels.powerManagement;
    },
  });
}

it('a plan that stands is looked into once, however often all plans are asked for, and another one at the next look', async () => {
  const clock = new ManualClock();
  const listers = { nodes: new FakeLister<Node>(), fences: new FakeLister<NodeFence>(), reports: new FakeLister<NodeFenceReport>() };
  listers.nodes.items = [nodeOf({ ready: 'True' })];
  const read: string[] = [];
  let looks = 0;
  let plan = counted('bmc', () => (looks += 1));
  const controller = new ProbeController({
    clock,
    listers,
    cluster: { create: () => Promise.reject(new Error('none')) } as unknown as Cluster,
    planner: { planFor: () => plan, parametersFor: () => Promise.resolve({}) },
    prober: {
      probe: ({ method: { device } }) => {
        read.push(device);
        return Promise.resolve(undefined);
      },
    },
    leadership: { isLeading: true },
    recorder: { event: none },
    log: { debug: none, info: none, warn: none, error: none },
    metrics: { devices: none, strangers: none, oldestProbe: none, credentialExpiry: none },
    options: { mode: 'observe' },
  });
  controller.start();
  await clock.advance(1_000);
  const once = looks;
  expect(once).toBeGreaterThan(0);
  await clock.advance(660_000);
  expect([looks, new Set(read)]).toEqual([once, new Set(['bmc'])]);
  plan = counted('other', none);
  read.length = 0;
  await clock.advance(200_000);
  expect(new Set(read)).toEqual(new Set(['bmc', 'other']));
  read.length = 0;
  await clock.advance(200_000);
  expect(new Set(read)).toEqual(new Set(['other']));
  await controller.close();
});
