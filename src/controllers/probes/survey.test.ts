import { expect, it } from 'vitest';
import type { Plan } from '../../domain/plan.ts';
import { method, planOf } from '../../domain/testing/model.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister, nodeOf } from '../fence/testing/harness.ts';
import { ProbeController } from './controller.ts';
import { QUIET } from './testing/quiet.ts';

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

/** Probes of a fleet whose plans the test makes. */
function probing(nodes: readonly Node[], planFor: () => Plan): { clock: ManualClock; controller: ProbeController; read: string[] } {
  const clock = new ManualClock();
  const listers = { nodes: new FakeLister<Node>(), fences: new FakeLister<NodeFence>(), reports: new FakeLister<NodeFenceReport>() };
  listers.nodes.items = [...nodes];
  const read: string[] = [];
  const controller = new ProbeController({
    clock,
    listers,
    cluster: { create: () => Promise.reject(new Error('none')) } as unknown as Cluster,
    planner: { planFor, parametersFor: () => Promise.resolve({}) },
    prober: {
      probe: ({ method: { device } }) => {
        read.push(device);
        return Promise.resolve(undefined);
      },
    },
    ...QUIET,
  });
  controller.start();
  return { clock, controller, read };
}

it('a plan that stands is looked into once, however often all plans are asked for, and another one at the next look', async () => {
  let looks = 0;
  let plan = counted('bmc', () => (looks += 1));
  const { clock, controller, read } = probing([nodeOf({ ready: 'True' })], () => plan);
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

it('the plans of thousands are asked for some at a time, after an edit of the configuration too: one that has to be made anew takes a tenth of a millisecond', async () => {
  let asked = 0;
  const plan = counted('bmc', none);
  const node = nodeOf({ ready: 'True' });
  const named = Array.from({ length: 1_000 }, (_unused, index): Node => ({ ...node, metadata: { ...node.metadata, name: `node-${index}` } }));
  const { clock, controller } = probing(named, () => {
    asked += 1;
    return plan;
  });
  for (const begin of [none, () => controller.configurationChanged()]) {
    asked = 0;
    begin();
    const perTurn: number[] = [];
    for (let turns = 0, before = 0; turns < 400; turns += 1, before = asked) {
      await clock.advance(5);
      perTurn.push(asked - before);
    }
    expect([asked, Math.max(...perTurn) <= 64]).toEqual([1_000, true]);
  }
  await controller.close();
});
