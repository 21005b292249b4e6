import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { configurationOf } from '../src/config/configuration.ts';
import { resolvePlan } from '../src/config/resolve-plan.ts';
import type { Cluster } from '../src/ports/cluster.ts';
import { ManualClock } from '../src/runtime/manual-clock.ts';
import { FakeFenceAgent } from './exec/testing/fake-fence-agent.ts';
import { clusterAgents, createRegistry, standardRegistry } from './registry.ts';

describe('the registry', () => {
  it.each([
    ['redfish', 'redfish'],
    ['fence_redfish', 'redfish'],
    ['fence-redfish', 'redfish'],
    ['Fence_Redfish ', 'redfish'],
    ['ipmi', 'ipmi'],
    ['fence_ipmilan', 'ipmi'],
    ['fence_idrac', 'ipmi'],
    ['ilo4', 'ipmi'],
    ['mark-unschedulable', 'cordon'],
    ['mark_unschedulable', 'cordon'],
    ['mark_schedulable', 'uncordon'],
    ['taint', 'taint'],
  ])('finds %j as %s', (spelling, name) => {
    expect(standardRegistry().find(spelling)?.name).toBe(name);
  });

  describe('where fence agents of ClusterLabs are installed', () => {
    const fake = new FakeFenceAgent();
    afterAll(() => fake.dispose());
    // The same program under names that we have an agent for: one with known faults, one without.
    for (const name of ['fence_ipmilan', 'fence_ilo9']) symlinkSync(join(fake.folder, 'fence_fake'), join(fake.folder, name));
    const registry = standardRegistry({ kind: 'folder', path: fake.folder });

    it.each([
      ['fence_fake', 'exec/fence_fake'],
      ['Fence-Fake ', 'exec/fence_fake'],
      ['exec/fence_fake', 'exec/fence_fake'],
      ['fence_ilo9', 'exec/fence_ilo9'],
      // It would show the password in the list of processes; ours does not.
      ['fence_ipmilan', 'ipmi'],
      ['exec/fence_ipmilan', 'exec/fence_ipmilan'],
      // Named explicitly, it is told why it cannot run.
      ['exec/fence_absent', 'exec/fence_absent'],
      ['exec/ipmi', undefined],
      ['fence_absent', undefined],
      ['fence_fake; reboot', undefined],
      ['exec/../fence_fake', undefined],
      ['ipmi', 'ipmi'],
    ])('finds %j as %s', (spelling, name) => {
      expect(registry.find(spelling)?.name).toBe(name);
    });

    it('gives one and the same definition each time', () => {
      expect(registry.find('fence_fake')).toBe(registry.find('exec/fence_fake'));
    });

    it('knows the device by its address, as agents of our own do', () => {
      expect(registry.find('fence_fake')?.deviceKey({ ip: 'BMC.example', password: 'x' })).toBe('bmc.example');
    });
  });

  it('finds nothing for an unknown name', () => {
    for (const name of ['', 'redfsh', 'constructor', '__proto__', 'fence_']) expect(standardRegistry().find(name)).toBeUndefined();
  });

  it('creates what it says it creates', async () => {
    const registry = standardRegistry();
    for (const name of registry.names()) {
      const definition = registry.find(name);
      const agent = await definition?.create({ cluster: {} as Cluster, clock: new ManualClock() });
      expect(agent?.kind).toBe(definition?.kind);
      await agent?.close?.();
    }
  });

  it('gives agents that reach only the cluster no device to queue for', () => {
    for (const definition of clusterAgents) expect(definition.deviceKey({ ip: 'x' })).toBe('');
  });

  it('does not let two agents have one name', () => {
    expect(() => createRegistry([...clusterAgents, ...clusterAgents])).toThrow('two agents are named');
  });

  it.each(['cordon', 'taint'])('has a page for %s whose configuration is right', (name) => {
    const page = readFileSync(new URL(`./${name}/README.md`, import.meta.url), 'utf8');
    const configMap = parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '') as { metadata: { name: string }; data: Record<string, string> };
    const plan = resolvePlan({
      node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] },
      configuration: configurationOf([{ name: configMap.metadata.name, data: configMap.data }], standardRegistry()),
    });
    expect(plan.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(plan.isolation[0]?.methods.map((method) => method.agent)).toEqual([name]);
    expect(plan.recovery[0]?.methods).toHaveLength(1);
  });
});
