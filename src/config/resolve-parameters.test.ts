import { describe, expect, it } from 'vitest';
import type { PlanMethod } from '../domain/plan.ts';
import { AgentError } from '../ports/agents.ts';
import { configurationOf } from './configuration.ts';
import { resolveParameters } from './resolve-parameters.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

const METHOD: PlanMethod = {
  name: 'bmc-off',
  agent: 'redfish',
  kind: 'power',
  action: 'off',
  device: '192.0.2.7',
  plug: '',
  parameters: { ip: '192.0.2.7' },
  deviceMaxLatencyMs: 30_000,
};

function run(inline: string, secret?: Record<string, string>, method: Partial<PlanMethod> = {}): unknown {
  const data = {
    'config.properties': 'power_management=bmc-off',
    'fence-method-bmc-off': `agent_name=redfish\nip=192.0.2.99\naction=off\n${inline}`,
  };
  const configuration = configurationOf([{ name: 'fence-config-node-a', data }], fakeRegistry());
  return resolveParameters({ node: 'node-a', method: { ...METHOD, ...method }, configuration, secret });
}

describe('parameters of a run', () => {
  it('are the frozen ones with the keys of the Secret under the names of the agent', () => {
    expect(run('', { login: 'root', password: 'hunter2\n', unrelated: 'x' }, { secret: 's' })).toEqual({
      ip: '192.0.2.7',
      username: 'root',
      password: 'hunter2',
    });
  });

  it('read the secrets of historical layouts again from the ConfigMap, and nothing else', () => {
    expect(run('username=root\npassword=ab==\nssl_insecure=yes')).toEqual({ ip: '192.0.2.7', username: 'root', password: 'ab==' });
    expect(run('username=root\npassword=x', undefined, { name: 'bmc-off:2' })).toMatchObject({ password: 'x' });
  });

  it('prefer the Secret, so that a rotation counts', () => {
    expect(run('username=root\npassword=old', { password: 'new' }, { secret: 's' })).toMatchObject({ username: 'root', password: 'new' });
  });

  it('lead to the device of the plan, or nowhere, whatever the Secret says', () => {
    const login = { username: 'root', password: 'hunter2' };
    expect(run('', { ...login, ip: '192.0.2.7' }, { secret: 's' })).toMatchObject({ ip: '192.0.2.7' });
    const elsewhere = (): unknown => run('', { ...login, ipaddr: '192.0.2.8' }, { secret: 's' });
    expect(elsewhere).toThrow(
      'Misconfigured: 192.0.2.7: asked parameters of method bmc-off, key ipaddr of Secret s leads to another device than the plan',
    );
    expect(elsewhere).not.toThrow('192.0.2.8');
    expect(() => run('', { ...login, ip: '192.0.2.8' }, { secretFile: 'bmc/a' })).toThrow('key ip of secret_file=bmc/a');
  });

  it('have no plug and no action of the Secret: those are the plan’s', () => {
    expect(run('', { username: 'root', password: 'x', plug: '9', action: 'on' }, { secret: 's' })).toEqual({
      ip: '192.0.2.7',
      username: 'root',
      password: 'x',
    });
  });

  it('are refused when one is missing, without naming a value', () => {
    const refuse = (): unknown => run('username=root', { token: 'hunter2' }, { secret: 's' });
    expect(refuse).toThrow(AgentError);
    expect(refuse).toThrow(/^Misconfigured: 192\.0\.2\.7: asked parameters of method bmc-off, password is missing in the ConfigMap and in Secret s$/);
  });

  it('are refused when the agent is not known any more', () => {
    expect(() => run('', {}, { agent: 'gone' })).toThrow(/agent gone is unknown/);
  });
});
