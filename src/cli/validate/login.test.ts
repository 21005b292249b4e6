import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../../agents/registry.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import { SecretUnread } from '../../ports/secret-stores.ts';
import type { SecretStores } from '../../ports/secret-stores.ts';
import type { Input } from './input.ts';
import { loginOf } from './login.ts';
import { validate } from './validation.ts';

const STORES: SecretStores = {
  problem: () => undefined,
  read: ({ name }) =>
    name === 'bmc-a' ? Promise.resolve({ username: 'u', password: 'p' }) : Promise.reject(new SecretUnread(`secret_file ${name} is missing`)),
};

function checked(stores: SecretStores | undefined) {
  const data = {
    'config.properties': 'node_name=a\npower_management=off',
    'fence-method-off': 'agent_name=redfish\naction=off\nip=192.0.2.7\nsecret_file=bmc-a',
  };
  const input: Input = {
    ...{ source: 'a test', configMaps: [{ name: 'fence-config-a', data }], secrets: new Map(), nodes: undefined, recordedUUIDs: new Map() },
    ...{ problems: [], found: [], operated: [], requesters: [], notes: [], locate: () => undefined },
    ...(stores === undefined ? {} : { stores }),
  };
  const validation = validate(input, standardRegistry(), ['a']);
  const method = validation.report.nodes[0]?.plan.powerManagement[0]?.methods[0];
  if (method === undefined) throw new Error(JSON.stringify(validation.report.problems));
  return { validation, method };
}

describe('A login on the controller’s machine, to validate --probe', () => {
  it('is not read from elsewhere, which is said', () => {
    const { validation, method } = checked(undefined);
    expect(validation.resolve('a', method)).toEqual({
      problem: expect.stringContaining('its login is on the controller’s machine (secret_file=bmc-a)') as string,
    });
  });

  it('is read where this is that machine, and what is missing is said', async () => {
    const { validation, method } = checked(STORES);
    const login = await loginOf('a', method, STORES);
    if (login === undefined || 'problem' in login) throw new Error('no login');
    expect(validation.resolve('a', method, login.keys)).toMatchObject({ parameters: { username: 'u', password: 'p' } });
    const other: PlanMethod = { ...method, secretFile: 'bmc-b' };
    expect(await loginOf('a', other, STORES)).toEqual({ problem: 'secret_file bmc-b is missing' });
    expect(await loginOf('a', method, undefined)).toBeUndefined();
  });
});
