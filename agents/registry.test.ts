import { describe, expect, it } from 'vitest';

import type { Cluster } from '../src/ports/cluster.ts';
import { ManualClock } from '../src/runtime/manual-clock.ts';
import { clusterAgents, createRegistry, standardRegistry } from './registry.ts';

describe('the registry', () => {
  it.each([
    ['redfish', 'redfish'],
    ['fence_redfish', 'redfish'],
    ['fence-redfish', 'redfish'],
    ['Fence_Redfish ', 'redfish'],
    ['mark-unschedulable', 'cordon'],
    ['mark_unschedulable', 'cordon'],
    ['mark_schedulable', 'uncordon'],
    ['taint', 'taint'],
  ])('finds %j as %s', (spelling, name) => {
    expect(standardRegistry().find(spelling)?.name).toBe(name);
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
});
