import { expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { requesterProblems } from './requesters.ts';

const node = (name: string, powerManagementDelayMs: number, isSwitched = true) => ({
  facts: { name, labels: {}, annotations: {}, addresses: [] },
  plan: planOf({ timing: { ...DEFAULT_TIMING, powerManagementDelayMs }, powerManagement: isSwitched ? [{ level: 1, methods: [] }] : [] }),
});

it('warns of a template in whose time no node could be proven off, with the nodes that it could not be for', () => {
  const nodes = [node('slow-1', 300_000), node('slow-2', 300_000), node('fast', 10_000), node('storage-only', 300_000, false)];
  const found = requesterProblems(nodes, [
    { where: 'NodeFenceRemediationTemplate machines/short', powerOffTimeoutMs: 120_000 },
    { where: 'NodeFenceRemediationTemplate machines/right', powerOffTimeoutMs: 600_000 },
  ]);
  expect(found).toEqual([
    {
      severity: 'warning',
      where: 'NodeFenceRemediationTemplate machines/short',
      message: expect.stringContaining('isolation_delay (5 s) and power_management_delay (300 s)') as string,
      steps: ['power-management'],
      nodes: ['slow-1', 'slow-2'],
    },
  ]);
});
