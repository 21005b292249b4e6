import { expect, it } from 'vitest';
import { method, planOf } from '../../domain/testing/model.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister, nodeOf } from '../fence/testing/harness.ts';
import { ProbeController } from './controller.ts';
import { QUIET } from './testing/quiet.ts';

const INTERVAL_MS = 660_000;

it('probes keep what every device of a node showed, until no plan names it any more', async () => {
  const clock = new ManualClock();
  const listers = { nodes: new FakeLister<Node>(), fences: new FakeLister<NodeFence>(), reports: new FakeLister<NodeFenceReport>() };
  listers.nodes.items = [nodeOf({ ready: 'True' })];
  let devices = ['bmc', 'pdu', 'spare'];
  const keep = (report: NodeFenceReport): Promise<NodeFenceReport> => {
    listers.reports.items = [report];
    return Promise.resolve(report);
  };
  const controller = new ProbeController({
    clock,
    listers,
    cluster: {
      create: (_resource: unknown, report: NodeFenceReport) => keep(report),
      replaceStatus: (_resource: unknown, report: NodeFenceReport) => keep(report),
    } as unknown as Cluster,
    planner: {
      planFor: () =>
        planOf({ powerManagement: devices.map((device, at) => ({ level: at + 1, methods: [method(device, 'redfish', 'off', { device })] })) }),
      parametersFor: () => Promise.resolve({}),
    },
    prober: {
      trustShown: () => Promise.resolve({ kind: 'not-asked' }),
      probe: () => Promise.resolve({ state: 'on', identity: 'verified', detail: 'PowerState=On', latencyMs: 1 }),
    },
    ...QUIET,
  });
  controller.start();
  const recorded = (): string[] => listers.reports.items.flatMap(({ status }) => status?.devices?.map(({ device }) => device) ?? []);
  await clock.advance(INTERVAL_MS);
  expect(recorded()).toEqual(['bmc', 'pdu', 'spare']);
  devices = ['bmc', 'pdu'];
  await clock.advance(INTERVAL_MS);
  expect(recorded()).toEqual(['bmc', 'pdu']);
  await controller.close();
});
