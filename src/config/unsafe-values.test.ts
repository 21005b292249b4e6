import { describe, expect, it } from 'vitest';
import { EVIDENCE_WORDS } from './node-keys.ts';
import { plugKey } from './plan-checks.ts';
import type { ResolvedMethod } from './plan-method.ts';
import { errors, plan, SEED, seedWith } from './testing/plans.ts';
import type { ConfigMaps } from './testing/plans.ts';

const OFF = 'fence-method-bmc-off';

function words(configMaps: ConfigMaps): string[] {
  return plan(configMaps).problems.map(({ message }) => message);
}

function offsOf(configMaps: ConfigMaps): string[] {
  return plan(configMaps).powerManagement.flatMap(({ methods }) => methods.map(({ name }) => name));
}

describe('a value that cannot be read', () => {
  it('never makes minimum_evidence admit more than read-back', () => {
    expect(plan(seedWith('minimum_evidence=watchdog hope')).minimumEvidence).toEqual(EVIDENCE_WORDS['read-back']);
    expect(plan(seedWith('minimum_evidence=')).minimumEvidence).not.toContain('watchdog');
  });

  it('never switches off what is to be preserved', () => {
    const result = plan(seedWith('preserved=power_off'));
    expect(result.preserved).toBe('isolate-and-hold');
    expect(errors(result)[0]?.message).toContain('preserved=power_off must be one of');
  });

  it.each(['off_stable=1ms', 'off_stable=999ms'])('is no value: %s lets the usual one stand, and is told', (setting) => {
    const result = plan(seedWith(setting));
    expect(result.timing.offStableMs).toBe(plan(SEED).timing.offStableMs);
    expect(errors(result)[0]?.message).toContain('from 1000 ms to a year');
  });

  it('of a delay is one of more than a year, which would never be over', () => {
    const result = plan(seedWith('isolation_delay=400d'));
    expect(result.timing.isolationDelayMs).toBe(plan(SEED).timing.isolationDelayMs);
    expect(errors(result)[0]?.message).toContain('isolation_delay=400d must be a duration');
  });

  it.each(['device_max_latency', 'diag_wait'])('of %s of a device is one of more than a day: the off would be waited for without an end', (key) => {
    const method = (value: string) =>
      seedWith('power_management=bmc-off', { [OFF]: `agent_name=redfish\nip=192.0.2.7\nusername=u\npassword=p\naction=off\n${key}=${value}` });
    const [said] = [`${'9'.repeat(400)}d`, '25h'].map((value) => plan(method(value)).problems.filter(({ message }) => message.startsWith(key)));
    expect(said?.map(({ severity, message }) => [severity, message.slice(-42)])).toEqual([
      ['error', 'must be a duration such as 30s, of a day at most'.slice(-42)],
    ]);
    expect(offsOf(method('25h'))).toEqual([]);
    expect(offsOf(method('24h'))).toEqual(['bmc-off']);
  });
});

it.each(['systems_uri', 'system_uuid', 'serial'])('machines that one BMC tells apart by %s have a plug each', (parameter) => {
  const methodOf = (value: string): ResolvedMethod => ({
    name: 'm',
    agent: 'redfish',
    kind: 'power',
    action: 'off',
    device: '192.0.2.7',
    plug: '',
    parameters: { ip: '192.0.2.7', [parameter]: value },
    deviceMaxLatencyMs: 30_000,
    where: '',
    shared: [],
    isUndoneByOthers: false,
  });
  expect(plugKey(methodOf('1'))).not.toBe(plugKey(methodOf('2')));
  expect(plugKey(methodOf('1'))).toBe(plugKey(methodOf('1')));
});

describe('a plan', () => {
  it.each(['off', 'reboot', 'diag'])('has no recovery that does %s', (action) => {
    const recovery = seedWith('recovery=r', { 'fence-method-r': `template=fence-method-template-bmc\naction=${action}` });
    expect(errors(plan(recovery)).map(({ step }) => step)).toContain('recovery');
  });

  it('warns of a proof that minimum_evidence does not admit: the off would release nothing', () => {
    expect(words(seedWith('minimum_evidence=ack'))).toContainEqual(expect.stringContaining('bmc-off proves power-off, which minimum_evidence'));
    expect(words(seedWith('minimum_evidence=ack power-off')).join()).not.toContain('does not admit');
  });

  it('has no method whose Secret is missing: the fence would find out at night', () => {
    expect(offsOf(seedWith('', { [OFF]: 'template=fence-method-template-bmc\nsecret=gone\naction=off' }))).toEqual(['bmc-on']);
  });

  it('has no method whose password everybody in the group could read', () => {
    const group: ConfigMaps = {
      'fence-config-rack': {
        'config.properties': 'node_selector=rack=r1\npower_management=g',
        'fence-method-g': 'agent_name=redfish\nip=192.0.2.7\nusername=u\npassword=p\naction=off',
      },
    };
    expect(errors(plan(group)).map(({ message }) => message)).toContainEqual(expect.stringContaining('is not allowed in the ConfigMap of a group'));
    expect(offsOf(group)).toEqual([]);
  });

  it('has no plug of two nodes, also where shared= says so: off for the one is off for the other', () => {
    const method = 'agent_name=redfish\nip=192.0.2.7\nsecret=bmc-login\naction=reboot\nshared=node-a node-b';
    const both = Object.fromEntries(
      ['node-a', 'node-b'].map((node) => [`fence-config-${node}`, { 'config.properties': 'power_management=m', 'fence-method-m': method }]),
    );
    expect(errors(plan(both))).toMatchObject([{ step: 'power-management', message: expect.stringContaining('as shared= says') as string }]);
  });
});
