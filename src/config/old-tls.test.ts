import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from './configuration.ts';
import { resolvePlan } from './resolve-plan.ts';

/** What is said of a BMC that is spoken to from this version of TLS on. */
function problemsOf(version: string): { severity: string; message: string; where: string }[] {
  const data = {
    'config.properties': 'node_name=a\npower_management=off',
    'fence-method-off': `agent_name=redfish\naction=off\nip=192.0.2.7\nssl_min_version=${version}`,
  };
  const configuration = configurationOf([{ name: 'fence-config-a', data }], standardRegistry());
  const node = { name: 'a', labels: {}, annotations: {}, addresses: [], systemUUID: '4c4c4544-0042-4810-8054-b4c04f573433' };
  const { problems } = resolvePlan({ node, configuration, secretKeys: undefined });
  return problems.filter(({ message }) => message.includes('ssl_min_version'));
}

describe('ssl_min_version', () => {
  it.each(['1.0', '1.1'])('%s is allowed, and warned about where it stands', (version) => {
    expect(problemsOf(version)).toEqual([
      {
        severity: 'warning',
        step: 'power-management',
        where: expect.stringContaining('line 4') as string,
        message: expect.stringContaining('TLS that can be broken') as string,
      },
    ]);
  });

  it.each(['1.2', '1.3'])('%s needs no word', (version) => {
    expect(problemsOf(version)).toEqual([]);
  });

  it('3.0 is an error', () => {
    expect(problemsOf('3.0')).toMatchObject([{ severity: 'error' }]);
  });
});
