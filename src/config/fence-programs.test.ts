import { afterAll, describe, expect, it } from 'vitest';

import { FakeFenceAgent } from '../../agents/exec/testing/fake-fence-agent.ts';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from './configuration.ts';
import { resolveParameters } from './resolve-parameters.ts';
import { resolvePlan } from './resolve-plan.ts';

const fake = new FakeFenceAgent();
afterAll(() => fake.dispose());

function planOf(method: string, folder = fake.folder) {
  const data = {
    'config.properties': 'power_management=off, on\nidentity=unverified',
    'fence-method-off': `${method}\naction=off`,
    'fence-method-on': `${method}\naction=on`,
  };
  const configuration = configurationOf([{ name: 'fence-config-node-a', data }], standardRegistry({ kind: 'folder', path: folder }));
  const plan = resolvePlan({
    node: { name: 'node-a', labels: {}, annotations: {}, addresses: [] },
    configuration,
    secretKeys: (name) => (name === 'login' ? ['login', 'passwd'] : undefined),
  });
  const errors = plan.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  return { plan, configuration, errors, off: plan.powerManagement[0]?.methods[0] };
}

describe('a method that names a fence agent of ClusterLabs', () => {
  it('is planned with the installed program, under the names of its own metadata, without the secret', () => {
    const { plan, errors, off, configuration } = planOf('agent_name=fence_fake\nipaddr=192.0.2.7\nport=3\nsecret=login\nssl-insecure=yes');
    expect(errors).toEqual([]);
    expect(off).toMatchObject({
      agent: 'exec/fence_fake',
      kind: 'power',
      device: '192.0.2.7',
      plug: '3',
      parameters: { ip: '192.0.2.7', ssl_insecure: 'yes' },
    });
    if (off === undefined) throw new Error('no off');
    expect(resolveParameters({ node: 'node-a', method: off, configuration, secret: { login: 'admin', passwd: 's3cret' } })).toEqual({
      ip: '192.0.2.7',
      ssl_insecure: 'yes',
      username: 'admin',
      password: 's3cret',
    });
    expect(JSON.stringify(plan)).not.toContain('s3cret');
  });

  it('says which of its parameters the program does not take', () => {
    const { plan, errors } = planOf('agent_name=fence_fake\nip=192.0.2.7\nport=3\npasswrd=x');
    expect(errors).toEqual([]);
    expect(plan.problems.map(({ message }) => message)).toContainEqual(expect.stringMatching(/no parameter passwrd: did you mean password\?/));
  });

  it('is refused where the program is not installed and we have none of our own', () => {
    expect(planOf('agent_name=fence_netio\nip=192.0.2.7\nport=3', '/nowhere').errors[0]).toBe(
      'agent fence_netio is not part of this version, and its program of ClusterLabs cannot run: there is no fence_netio in /nowhere, the folder of --programs',
    );
    expect(planOf('agent_name=fence_ilo4\nip=192.0.2.7\nsecret=login', '/nowhere').off?.agent).toBe('ipmi');
  });
});
