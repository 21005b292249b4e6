import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../domain/plan.ts';
import type { Plan, PlanProblem } from '../domain/plan.ts';
import { NODE_FENCE_DEFINITION } from '../manifests/definitions.ts';
import type { JsonSchema } from '../manifests/schema.ts';
import { violations } from '../manifests/violations.ts';
import { errors, plan, SEED, seedWith, TEMPLATE } from './testing/plans.ts';
import type { ConfigMaps } from './testing/plans.ts';

describe("the seed's layout", () => {
  it('becomes a plan without a problem', () => {
    const result = plan(SEED);
    expect(result.problems).toEqual([]);
    expect(result).toMatchObject({ source: 'node', timing: DEFAULT_TIMING, stepRetries: 5, maxRestarts: 3, release: 'auto', identity: 'verified' });
    expect(result.minimumEvidence).toEqual(['power-off', 'instance-stopped', 'host-off', 'storage-revoked', 'ack']);
    expect(result.isolation).toMatchObject([{ level: 1, methods: [{ name: 'mark-unschedulable', agent: 'cordon', action: 'run', device: '' }] }]);
    expect(result.powerManagement).toEqual([
      {
        level: 1,
        methods: ['off', 'on'].map((action) => ({
          name: `bmc-${action}`,
          agent: 'redfish',
          kind: 'power',
          action,
          device: '192.0.2.7',
          plug: '',
          parameters: { ip: '192.0.2.7' },
          secret: 'bmc-login',
          deviceMaxLatencyMs: 30_000,
        })),
      },
    ]);
    expect(result.recovery).toMatchObject([{ methods: [{ agent: 'uncordon' }] }]);
  });

  it('fits the schema of a NodeFence', () => {
    const status = NODE_FENCE_DEFINITION.spec.versions[0]?.schema.openAPIV3Schema.properties['status'] as JsonSchema;
    const schema = status.properties?.['frozen']?.properties?.['plan'] as JsonSchema;
    expect(violations(plan(SEED), schema)).toEqual([]);
    expect(violations(plan(seedWith('nonsense\n'.repeat(200))), schema)).toEqual([]);
  });

  it('never holds a password, wherever it was written', () => {
    const result = plan({
      'fence-config-node-a': {
        'config.properties': 'power_management=x',
        'fence-method-x': 'agent_name=fence_redfish\nipaddr=192.0.2.7\nlogin=root\npasswd=hunter2\naction=reboot\npasswrd=hunter2',
      },
    });
    expect(errors(result)).toEqual([]);
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(result.powerManagement[0]?.methods[0]?.parameters).toEqual({ ip: '192.0.2.7' });
  });
});

describe('the other layouts', () => {
  const methods = (result: Plan): unknown =>
    result.powerManagement.map(({ methods: all }) => all.map(({ name, action, plug, device }) => [name, action, plug, device]));

  it('full names of ConfigMaps in the steps, commas between them', () => {
    const result = plan({
      'fence-config-node-a': {
        'config.properties': 'isolation=\npower_management=fence-method-config-node-a-off, fence-method-config-node-a-on\nsupplies=1',
      },
      'fence-method-config-node-a-off': { 'method.properties': 'agent_name=fence_apc_snmp\nipaddr=192.0.2.8\nport=3\naction=off' },
      'fence-method-config-node-a-on': { 'method.properties': 'agent_name=fence_apc_snmp\nipaddr=192.0.2.8\nport=3\naction=on' },
    });
    expect(result.problems).toEqual([]);
    expect(methods(result)).toEqual([
      [
        ['fence-method-config-node-a-off', 'off', '3', '192.0.2.8'],
        ['fence-method-config-node-a-on', 'on', '3', '192.0.2.8'],
      ],
    ]);
  });

  it('a ConfigMap per method and node, before one for all nodes', () => {
    const result = plan({
      ...TEMPLATE,
      'fence-config-node-a': { 'config.properties': 'power_managment=cycle' },
      'fence-method-cycle-node-a': { 'method.properties': 'template=fence-method-template-bmc\naction=reboot\nip=192.0.2.1' },
      'fence-method-cycle': { 'method.properties': 'template=fence-method-template-bmc\naction=reboot\nip=192.0.2.2' },
    });
    expect(result.problems).toEqual([]);
    expect(methods(result)).toEqual([[['cycle', 'reboot', '', '192.0.2.1']]]);
  });

  it('dashed agent names and the Secret that is named after the method', () => {
    const result = plan(
      {
        'fence-config-node-a': { 'config.properties': 'power_management=m' },
        'fence-method-m': { 'method.properties': 'agent_name=fence-redfish\nip=192.0.2.3\naction=reboot\nssl-insecure=no' },
      },
      { secrets: { 'secret-fence-method-m-node-a': ['login', 'passwd'] } },
    );
    expect(result.problems).toEqual([]);
    expect(result.powerManagement[0]?.methods[0]).toMatchObject({
      secret: 'secret-fence-method-m-node-a',
      parameters: { ip: '192.0.2.3', ssl_insecure: 'no' },
    });
  });

  it('a slip in a data key is read with a warning', () => {
    const result = plan({ ...SEED, 'fence-method-template-bmc': { 'method.properties': 'agent_name=redfish\nip=192.0.2.7\nsecret=bmc-login' } });
    expect(errors(result)).toEqual([]);
    expect(result.problems).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        where: 'ConfigMap fence-method-template-bmc, key method.properties',
        message: 'should be called template.properties',
      }),
    );
  });

  it('recovery=mark-unschedulable is read as mark-schedulable', () => {
    const result = plan({ 'fence-config-node-a': { 'config.properties': 'power_management=\nrecovery=mark-unschedulable' } });
    expect(result.recovery[0]?.methods[0]?.agent).toBe('uncordon');
  });
});

describe('precedence', () => {
  it('is method over template over the cluster', () => {
    const result = plan({
      ...SEED,
      'fence-cluster-config': {
        'config.properties': 'redfish.ssl_insecure=yes\nfence_redfish.systems_uri=/redfish/v1/Systems/1\nredfish.ip=192.0.2.66',
      },
      'fence-method-template-bmc': { 'template.properties': 'agent_name=redfish\nip=192.0.2.7\nsecret=bmc-login\nssl_insecure=no' },
    });
    expect(result.problems).toEqual([]);
    expect(result.powerManagement[0]?.methods[0]?.parameters).toEqual({ ip: '192.0.2.7', ssl_insecure: 'no', systems_uri: '/redfish/v1/Systems/1' });
  });

  it('is node over group over cluster, per key; an empty key means none, an absent one inherits', () => {
    const group = {
      'config.properties': 'node_selector=rack=r1\nisolation=\npower_management=bmc-off bmc-on\npower_timeout=2m\nsettle=20s',
      'fence-method-bmc-off': 'template=fence-method-template-bmc\naction=off',
      'fence-method-bmc-on': 'template=fence-method-template-bmc\naction=on',
    };
    const result = plan({
      ...TEMPLATE,
      'fence-config-rack': group,
      'fence-cluster-config': { 'config.properties': 'settle=30s\nready_timeout=1h' },
      'fence-config-node-a': { 'config.properties': 'recovery=\npower_timeout=90' },
    });
    expect(result.problems).toEqual([]);
    expect(result.isolation).toEqual([]);
    expect(result.recovery).toEqual([]);
    expect(result.powerManagement[0]?.methods).toHaveLength(2);
    expect(result.timing).toMatchObject({ powerTimeoutMs: 90_000, settleMs: 20_000, readyTimeoutMs: 3_600_000 });
  });

  it('a step that a node empties has none of the further levels of its group either; its own it has', () => {
    const group = {
      'config.properties': 'node_selector=rack=r1\npower_management=bmc-off\npower_management.2=pdu-off',
      'fence-method-bmc-off': 'template=fence-method-template-bmc\naction=off',
      'fence-method-pdu-off': 'template=fence-method-template-bmc\naction=off',
    };
    const levelsWith = (own: string): number[] =>
      plan({ ...TEMPLATE, 'fence-config-rack': group, 'fence-config-node-a': { 'config.properties': own } }).powerManagement.map(
        ({ level }) => level,
      );
    expect(levelsWith('recovery=')).toEqual([1, 2]);
    expect(levelsWith('power_management=')).toEqual([]);
    expect(levelsWith('power_management=\npower_management.2=pdu-off')).toEqual([2]);
  });

  it('fills what a group leaves to the node, and says what the node lacks', () => {
    const group = (ip: string): ConfigMaps => ({
      'fence-config-rack': {
        'config.properties': 'node_selector=rack=r1,type\npower_management=m',
        'fence-method-m': `agent_name=redfish\nip=${ip}\nsecret=bmc-login\naction=reboot`,
      },
    });
    expect(plan(group('{annotation:bmc}'))).toMatchObject({
      source: 'group',
      problems: [],
      powerManagement: [{ methods: [{ device: '192.0.2.9' }] }],
    });
    expect(errors(plan(group('bmc-{label:height}')))).toMatchObject([
      {
        where: 'ConfigMap fence-config-rack, key fence-method-m, line 2',
        message: 'node node-a has nothing for {label:height}: kubectl label node node-a height=VALUE',
      },
    ]);
    expect(plan(group('x'), { node: { labels: { rack: 'r2' } } }).source).toBe('none');
  });

  it('refuses a password in the ConfigMap of a group', () => {
    const result = plan({
      'fence-config-rack': {
        'config.properties': 'node_selector=rack\npower_management=m',
        'fence-method-m': 'agent_name=redfish\nip=x\nusername=a\npassword=b\naction=reboot',
      },
    });
    expect(errors(result).map(({ message }) => message)).toContainEqual(
      expect.stringContaining('password is not allowed in the ConfigMap of a group'),
    );
  });

  it('refuses two groups that match one node, naming both', () => {
    const result = plan({
      'fence-config-one': { 'config.properties': 'node_selector=rack' },
      'fence-config-two': { 'config.properties': 'node_selector=type=bare' },
    });
    expect(errors(result)[0]?.message).toContain('fence-config-one and fence-config-two');
  });
});

describe('a node of which nothing is known', () => {
  it('is cordoned, and the plan says why no more', () => {
    const result = plan({});
    expect(result).toMatchObject({
      source: 'none',
      isolation: [{ methods: [{ agent: 'cordon' }] }],
      powerManagement: [],
      recovery: [{ methods: [{ agent: 'uncordon' }] }],
    });
    expect(errors(result)).toMatchObject([{ step: 'power-management', where: 'ConfigMap fence-config-node-a' }]);
    expect(errors(result)[0]?.message).toContain('create ConfigMap fence-config-node-a');
    expect(errors(plan({}, { node: { providerID: 'aws:///eu/i-1' } }))[0]?.message).toContain('aws');
  });
});

describe('what is wrong fails, with its place', () => {
  const off = 'fence-method-bmc-off';
  const wrong: [what: string, configMaps: ConfigMaps, expected: Partial<PlanProblem>][] = [
    [
      'an unknown agent',
      seedWith('', { [off]: 'agent_name=fence_bogus\naction=off' }),
      {
        step: 'power-management',
        where: 'ConfigMap fence-config-node-a, key fence-method-bmc-off, line 1',
        message: expect.stringMatching(/unknown agent fence_bogus: one of redfish, /) as string,
      },
    ],
    ['no agent', seedWith('', { [off]: 'action=off' }), { message: expect.stringContaining('agent_name is missing') as string }],
    [
      'a missing template',
      seedWith('', { [off]: '\ntemplate=fence-template-bmc\naction=off' }),
      {
        where: 'ConfigMap fence-config-node-a, key fence-method-bmc-off, line 2',
        message: 'template fence-template-bmc does not exist: did you mean fence-method-template-bmc?',
      },
    ],
    [
      'a template in a template',
      { ...SEED, 'fence-method-template-bmc': { 'template.properties': 'template=x\nagent_name=redfish' } },
      { where: 'ConfigMap fence-method-template-bmc, key template.properties, line 1' },
    ],
    [
      'a missing action',
      seedWith('', { [off]: 'template=fence-method-template-bmc' }),
      { message: 'action is missing: write action= with one of on, off, reboot' },
    ],
    [
      'an action that does not fence',
      seedWith('', { [off]: 'template=fence-method-template-bmc\naction=status' }),
      { message: expect.stringContaining('action status does not fence') as string },
    ],
    [
      'the opposite of what an action agent does',
      seedWith('isolation=c', { 'fence-method-c': 'agent_name=cordon\naction=off' }),
      { step: 'isolation', message: expect.stringContaining('action off does not fence with agent cordon') as string },
    ],
    [
      'an address in the Secret',
      seedWith('', { [off]: 'agent_name=redfish\nsecret=bmc-and-address\naction=off' }),
      { message: expect.stringContaining('the address of the device is missing') as string },
    ],
    [
      'a missing Secret',
      seedWith('', { [off]: 'template=fence-method-template-bmc\nsecret=gone\naction=off' }),
      { message: expect.stringContaining('Secret gone does not exist') as string },
    ],
    ['a missing parameter', seedWith('', { [off]: 'agent_name=redfish\nsecret=bmc-login\naction=off' }), { message: 'ip is missing' }],
    ['an emptied parameter', seedWith('', { [off]: 'template=fence-method-template-bmc\nip=\naction=off' }), { message: 'ip is missing' }],
    [
      'a password that is nowhere',
      seedWith('', { [off]: 'agent_name=redfish\nip=192.0.2.7\naction=off' }),
      { message: 'username is missing (no secret= is written, and there is no Secret secret-fence-method-bmc-off-node-a)' },
    ],
    [
      'a method that is nowhere',
      seedWith('power_management.2=pdu-off'),
      {
        where: 'ConfigMap fence-config-node-a, key config.properties, line 5',
        message: expect.stringContaining(
          'method pdu-off does not exist: it must be in one of key fence-method-pdu-off in ConfigMap fence-config-node-a, ConfigMap fence-method-pdu-off-node-a',
        ) as string,
      },
    ],
    [
      'a gap in the levels',
      seedWith('power_management.3=bmc-off'),
      { message: expect.stringContaining('power_management.3 has no power_management.2') as string },
    ],
    ['a duration in words', seedWith('power_timeout=soon'), { message: expect.stringContaining('power_timeout=soon must be a duration') as string }],
    ['an empty duration', seedWith('grace_timeout='), { message: expect.stringContaining('isolation_delay= must be a duration') as string }],
    [
      'a count below its bound',
      seedWith('giveup_retries=-1'),
      { message: expect.stringContaining('step_retries=-1 must be a whole number') as string },
    ],
    [
      'evidence that proves nothing',
      seedWith('minimum_evidence=read-back hope'),
      { message: expect.stringContaining('minimum_evidence hope') as string },
    ],
    [
      'a broken inequality',
      seedWith('settle=1s'),
      { message: expect.stringMatching(/timing rule 2: settle 1 s must be at least .* = 10.1 s/) as string },
    ],
    ['a line that is none', seedWith('power_timeout'), { where: 'ConfigMap fence-config-node-a, key config.properties, line 5' }],
    [
      'on before off',
      { ...SEED, 'fence-config-node-a': { ...SEED['fence-config-node-a'], 'config.properties': 'power_management=bmc-on bmc-off' } },
      { message: expect.stringContaining('on before it is switched off') as string },
    ],
    [
      'off in recovery',
      seedWith('recovery=bmc-off'),
      { step: 'recovery', message: expect.stringContaining('recovery may not switch off') as string },
    ],
    [
      'power in isolation',
      seedWith('isolation=bmc-off'),
      { step: 'isolation', message: expect.stringContaining('isolation may not switch power') as string },
    ],
    ['a missing config.properties', { 'fence-config-node-a': { other: '' } }, { where: 'ConfigMap fence-config-node-a' }],
  ];

  it.each(wrong)('%s', (_what, configMaps, expected) => {
    expect(errors(plan(configMaps))).toContainEqual(expect.objectContaining(expected));
  });

  it('leaves a method with an error out of the plan', () => {
    const result = plan(seedWith('', { [off]: 'agent_name=fence_bogus\naction=off' }));
    expect(result.powerManagement.flatMap(({ methods }) => methods.map(({ name }) => name))).toEqual(['bmc-on']);
  });

  it('leaves the other steps their plan', () => {
    expect(errors(plan(seedWith('', { [off]: 'action=off' }))).map(({ step }) => step)).toEqual(['power-management']);
  });

  it('only warns of what it does not know, and does not pass it on', () => {
    const result = plan(seedWith('colour=blue\nheartbeat_interval=2s', { [off]: 'template=fence-method-template-bmc\naction=off\nlanplus=1' }));
    expect(errors(result)).toEqual([]);
    expect(result.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('no parameter lanplus'),
      expect.stringContaining('unknown key colour'),
      'heartbeat_interval: recognised, not acted on by this version',
    ]);
  });

  it('cannot tell of Secrets when it does not know which exist', () => {
    expect(plan(SEED, { withoutSecrets: true }).problems).toEqual([]);
    expect(plan(seedWith('', { [off]: 'template=fence-method-template-bmc\nsecret=gone\naction=off' }), { withoutSecrets: true }).problems).toEqual(
      [],
    );
  });
});
