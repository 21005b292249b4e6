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

  it('have no secret of a method that has the name of their group’s: that is of other nodes, and of another device', () => {
    const properties = { 'config.properties': 'node_selector=rack=r1\npower_management=bmc-off' };
    const configuration = configurationOf(
      [
        { name: 'fence-config-rack', data: { ...properties, 'fence-method-bmc-off': 'agent_name=redfish\nip={node}.bmc\naction=off\nsecret=s' } },
        { name: 'fence-method-bmc-off', data: { 'method.properties': 'agent_name=redfish\nip=192.0.2.9\naction=off\npassword=of-others' } },
      ],
      fakeRegistry(),
    );
    const facts = { name: 'node-a', labels: { rack: 'r1' }, annotations: {}, addresses: [] };
    const of = (secret: Record<string, string>): unknown =>
      resolveParameters({ node: 'node-a', facts, method: { ...METHOD, secret: 's' }, configuration, secret });
    expect(of({ username: 'root', password: 'own' })).toMatchObject({ password: 'own' });
    expect(() => of({ username: 'root' })).toThrow('password is missing');
  });

  it('have the secrets of a template that a label of their node names, as it was planned', () => {
    const configuration = configurationOf(
      [
        {
          name: 'fence-config-node-a',
          data: { 'config.properties': 'power_management=bmc-off', 'fence-method-bmc-off': 'template=bmc-{label:model}\nip=192.0.2.7\naction=off' },
        },
        { name: 'bmc-r740', data: { 'template.properties': 'agent_name=redfish\nusername=root\npassword=calvin' } },
      ],
      fakeRegistry(),
    );
    const facts = { name: 'node-a', labels: { model: 'r740' }, annotations: {}, addresses: [] };
    expect(resolveParameters({ node: 'node-a', facts, method: METHOD, configuration, secret: undefined })).toMatchObject({ password: 'calvin' });
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
