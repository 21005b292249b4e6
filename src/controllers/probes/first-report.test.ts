import { expect, it } from 'vitest';
import { method, planOf } from '../../domain/testing/model.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister, nodeOf } from '../fence/testing/harness.ts';
import { ProbeController } from './controller.ts';
import { QUIET } from './testing/quiet.ts';

it('probes write with what they found what else is to stand in the report, at once', async () => {
  const clock = new ManualClock();
  const listers = { nodes: new FakeLister<Node>(), fences: new FakeLister<NodeFence>(), reports: new FakeLister<NodeFenceReport>() };
  listers.nodes.items = [nodeOf({ ready: 'True' })];
  const written: NodeFenceReport[] = [];
  const controller = new ProbeController({
    clock,
    listers,
    cluster: {
      create: (_resource: unknown, report: NodeFenceReport) => Promise.resolve(report),
      replaceStatus: (_resource: unknown, report: NodeFenceReport) => {
        written.push(report);
        listers.reports.items = [report];
        return Promise.resolve(report);
      },
    } as unknown as Cluster,
    planner: {
      planFor: () => planOf({ powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' })] }] }),
      parametersFor: () => Promise.resolve({}),
    },
    prober: {
      trustShown: () => Promise.resolve({ kind: 'shown', shown: 'one', accepted: [] }),
      probe: () => Promise.resolve({ state: 'on', identity: 'verified', detail: 'PowerState=On', latencyMs: 1 }),
    },
    ...QUIET,
    recordedWith: (node, status) => ({ ...status, identity: { nodeUID: `uid-${node}`, recordedAt: 'then' } }),
  });
  controller.start();
  await clock.advance(660_000);
  const identity = { nodeUID: 'uid-a' };
  expect(written.map(({ status }) => status)).toMatchObject([
    { identity, trusted: [{ shown: 'one' }] },
    { identity, devices: [{ path: 'working' }] },
  ]);
  await controller.close();
});
