import { describe, expect, it } from 'vitest';
import { errors, plan, SEED, seedWith } from './testing/plans.ts';
import type { ConfigMaps } from './testing/plans.ts';

describe('several plugs', () => {
  const pdu = (properties: string, method = ''): ConfigMaps => ({
    'fence-config-node-a': {
      'config.properties': `power_management=p\n${properties}`,
      'fence-method-p': `agent_name=pdu\nip=192.0.2.8\nplug=1,2\naction=reboot\n${method}`,
    },
  });

  it('become one method each, under names of their own', () => {
    const result = plan(pdu('supplies=2'));
    expect(errors(result)).toEqual([]);
    expect(result.powerManagement[0]?.methods.map(({ name, plug }) => [name, plug])).toEqual([
      ['p:1', '1'],
      ['p:2', '2'],
    ]);
  });

  it('must be all of the supplies, and a plan that does not say how many is warned of', () => {
    expect(errors(plan(pdu('supplies=3')))[0]?.message).toContain('a machine with one supply left runs on');
    expect(plan(pdu('')).problems.map(({ message }) => message)).toContainEqual(expect.stringContaining('supplies is not declared'));
  });
});

describe('a plug of another node', () => {
  const other = (name: string, ip: string, more = ''): ConfigMaps => ({
    [`fence-config-${name}`]: {
      'config.properties': 'power_management=m',
      'fence-method-m': `agent_name=redfish\nip=${ip}\nsecret=bmc-login\naction=reboot\n${more}`,
    },
  });

  it('is refused for both, with the place in the other', () => {
    const result = plan({ ...SEED, ...other('node-b', '192.0.2.7') });
    expect(errors(result).map(({ step, message }) => [step, message])).toContainEqual([
      'power-management',
      expect.stringContaining('also switched for node node-b (ConfigMap fence-config-node-b, key fence-method-m)'),
    ]);
    expect(errors(plan({ ...SEED, ...other('node-b', '192.0.2.7') }, { node: { name: 'node-b' } }))).not.toEqual([]);
  });

  it('is not the same machine behind another path of one BMC', () => {
    expect(plan({ ...other('node-a', '192.0.2.7', 'systems_uri=/1'), ...other('node-b', '192.0.2.7', 'systems_uri=/2') }).problems).toEqual([]);
  });
});

describe('times', () => {
  it('fast_detection is off unless it or profile=fast is written, and takes heartbeat_timeout', () => {
    expect(plan(SEED).fastDetectionMs).toBeUndefined();
    expect(plan(seedWith('fast_detection=no\nprofile=fast')).fastDetectionMs).toBeUndefined();
    expect(plan(seedWith('profile=fast')).fastDetectionMs).toBe(3_000);
    expect(plan(seedWith('fast_detection=yes\nheartbeat_timeout=2500ms')).fastDetectionMs).toBe(2_500);
    expect(plan(seedWith('fast_detection=maybe'))).toMatchObject({ problems: [{ severity: 'warning' }] });
  });

  it('profile=fast shortens the delays, and a key that is written still wins', () => {
    expect(plan(seedWith('profile=fast')).timing).toMatchObject({ isolationDelayMs: 0, powerManagementDelayMs: 10_000 });
    expect(plan(seedWith('profile=fast\npower_management_delay=1m')).timing).toMatchObject({ isolationDelayMs: 0, powerManagementDelayMs: 60_000 });
  });

  it('a faster cluster admits shorter ones', () => {
    const fast = 'set_deadline=1s\nsettle=3100ms\nlife_wait=2s\nhealthy_delay=2s\noff_stable=1s\nisolation_delay=1s\npower_management_delay=2s';
    expect(errors(plan(seedWith(fast)))).not.toEqual([]);
    expect(
      plan({
        ...seedWith(fast),
        'fence-cluster-config': { 'config.properties': 'kubelet_lease_renewal=500ms\nkubelet_read_latency=500ms\nnode_grace=4s' },
      }).problems,
    ).toEqual([]);
  });

  it('a wait longer than Kubernetes itself waits is warned of', () => {
    expect(plan(seedWith('power_management_delay=10m')).problems).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('timing rule 8') as string },
    ]);
  });
});
