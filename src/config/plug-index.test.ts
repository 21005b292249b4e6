import { describe, expect, it } from 'vitest';
import { configurationOf } from './configuration.ts';
import type { NamedConfig } from './configuration.ts';
import { PlugIndex } from './plug-index.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

const TEMPLATE: NamedConfig = { name: 'fence-method-template-bmc', data: { 'template.properties': 'agent_name=redfish\nsecret=s' } };

function node(name: string, ip: string): NamedConfig {
  return {
    name: `fence-config-${name}`,
    data: { 'config.properties': 'power_management=m', 'fence-method-m': `template=fence-method-template-bmc\nip=${ip}\naction=reboot` },
  };
}

/** Address → nodes. */
function owners(index: PlugIndex, configMaps: readonly NamedConfig[]): Record<string, string[]> {
  const found = index.update(configurationOf(configMaps, fakeRegistry()));
  return Object.fromEntries([...found.keys()].map((plug) => [(JSON.parse(plug) as string[])[1] ?? '', [...(found.get(plug)?.keys() ?? [])].sort()]));
}

describe('the index of plugs', () => {
  const [a, b] = [node('a', '192.0.2.1'), node('b', '192.0.2.2')];

  it('knows which nodes switch a plug', () => {
    expect(owners(new PlugIndex(), [TEMPLATE, a, b, node('c', '192.0.2.1')])).toEqual({ '192.0.2.1': ['a', 'c'], '192.0.2.2': ['b'] });
  });

  it('follows a node that changes, comes and goes', () => {
    const index = new PlugIndex();
    owners(index, [TEMPLATE, a, b]);
    expect(owners(index, [TEMPLATE, a, node('b', '192.0.2.1')])).toEqual({ '192.0.2.1': ['a', 'b'] });
    expect(owners(index, [TEMPLATE, b])).toEqual({ '192.0.2.2': ['b'] });
  });

  it('follows a template that changes for all', () => {
    const index = new PlugIndex();
    owners(index, [TEMPLATE, a]);
    expect(owners(index, [{ ...TEMPLATE, data: { 'template.properties': 'agent_name=bogus' } }, a])).toEqual({});
    expect(owners(index, [TEMPLATE, a])).toEqual({ '192.0.2.1': ['a'] });
  });
});
