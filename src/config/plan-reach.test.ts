import { describe, expect, it } from 'vitest';
import { configurationOf } from './configuration.ts';
import type { NodeFacts } from './configuration.ts';
import { namedOnly } from './node-facts.ts';
import { survey } from './survey.ts';
import { fakeRegistry } from './testing/fake-agents.ts';
import { errors, plan, SEED, seedWith } from './testing/plans.ts';
import type { ConfigMaps } from './testing/plans.ts';

const steps = (result: ReturnType<typeof plan>): (string | undefined)[] => errors(result).map(({ step }) => step);

describe('wrong times', () => {
  it('keep nothing from being cordoned, and keep everything from being switched', () => {
    expect(steps(plan(seedWith('settle=1s')))).toEqual(['power-management']);
    expect(steps(plan(seedWith('power_timeout=soon\nrelease=never\nidentity=maybe')))).toEqual(Array(3).fill('power-management'));
  });

  it('keep a switch from closing a port too', () => {
    const fabric = { 'fence-method-fc': 'agent_name=brocade\nip=192.0.2.5\nplug=1\naction=off' };
    expect(steps(plan(seedWith('settle=1s\nisolation=fc', fabric)))).toEqual(['isolation', 'power-management']);
  });

  it('of isolation itself spoil every step', () => {
    expect(steps(plan(seedWith('isolation_delay=soon')))).toEqual([undefined]);
  });

  it('are told where the key stands that mends them', () => {
    const result = plan({ ...seedWith(''), 'fence-cluster-config': { 'config.properties': '\nset_deadline=20s' } });
    expect(errors(result)[0]?.where).toBe('ConfigMap fence-cluster-config, key config.properties, line 2');
  });
});

describe('a node of a cloud without a ConfigMap', () => {
  it.each([
    ['aws:///eu-west-1a/i-0abc', 'aws'],
    ['azure:///subscriptions/s/virtualMachines/vm-1', 'azure'],
    ['openstack:///5f3e', 'openstack'],
    ['vsphere://4212', 'vsphere'],
    ['proxmox://cluster-1/42', 'proxmox'],
    ['metal3://ns/host/uuid', 'metal3'],
    ['baremetalhost:///ns/host/uuid', 'metal3'],
  ])('%s is isolated, and says that agent %s is to come', (providerID, agent) => {
    const result = plan({}, { node: { providerID } });
    expect(result).toMatchObject({
      source: 'default',
      isolation: [{ methods: [{ agent: 'cordon' }] }],
      recovery: [{ methods: [{ agent: 'uncordon' }] }],
    });
    expect(errors(result)).toMatchObject([{ step: 'power-management', where: `Node node-a, providerID ${providerID}` }]);
    expect(errors(result)[0]?.message).toContain(`agent ${agent} is not part of this version`);
  });

  it('is restarted by the agent of its cloud where there is one', () => {
    const result = plan({}, { node: { providerID: 'gce://project/zone-b/worker-7' } });
    expect(result).toMatchObject({
      source: 'default',
      problems: [],
      powerManagement: [{ methods: [{ agent: 'gce', action: 'reboot', plug: 'worker-7' }] }],
    });
  });

  it('may be told so in its ConfigMap, as the seed does; without a providerID that is an error', () => {
    const seed: ConfigMaps = { 'fence-config-node-a': { 'config.properties': 'power_management=restart-instance\nrecovery=mark-unschedulable' } };
    expect(errors(plan(seed, { node: { providerID: 'gce://project/zone-b/worker-7' } }))).toEqual([]);
    expect(errors(plan(seed))[0]?.message).toContain('node node-a has no providerID');
  });

  it('of which no cloud is known is cordoned and no more', () => {
    expect(plan({}, { node: { providerID: 'kind://docker/x' } })).toMatchObject({ source: 'none', powerManagement: [] });
  });
});

describe('passwords', () => {
  const method = (text: string): ConfigMaps => seedWith('', { 'fence-method-bmc-off': `agent_name=redfish\nip=192.0.2.7\naction=off\n${text}` });
  const warnings = (configMaps: ConfigMaps, secrets = {}): string[] =>
    plan(configMaps, { secrets: { 'bmc-login': ['username', 'password'], ...secrets } })
      .problems.filter(({ severity }) => severity === 'warning')
      .map(({ where, message }) => `${where.replace('ConfigMap fence-config-node-a, ', '')}: ${message}`);

  it('in a ConfigMap work, with the Secret named that they belong into', () => {
    const into = 'can be read by everybody who may read ConfigMaps: put it under the key';
    expect(warnings(method('username=a\npassword=b'))).toEqual([
      `key fence-method-bmc-off, line 4: username ${into} username into Secret secret-fence-method-bmc-off-node-a and remove it here`,
      `key fence-method-bmc-off, line 5: password ${into} password into Secret secret-fence-method-bmc-off-node-a and remove it here`,
    ]);
  });

  it("in both places are the Secret's", () => {
    expect(warnings(method('password=b\nsecret=bmc-login'))).toEqual([expect.stringContaining('password is set here and in Secret bmc-login')]);
  });

  it('do not stand beside what says which device is called, or which plug: nobody would have looked at that', () => {
    expect(warnings(method('secret=login'), { login: ['username', 'password', 'ip', 'plug'] })).toEqual([
      'key fence-method-bmc-off, line 2: ip is set here and in Secret login: it says which device is called, and another value there is refused; remove it from the Secret',
      'Secret login, key plug: is read by nobody: plug belongs into the method',
    ]);
  });

  it('under a misspelt key of a Secret are asked about', () => {
    expect(warnings(method('secret=login'), { login: ['username', 'password', 'pasword', 'note'] })).toEqual([
      'Secret login, key pasword: agent redfish has no parameter pasword: did you mean password?',
    ]);
  });
});

describe('a machine of another node', () => {
  const node = (name: string, more: Partial<NodeFacts> = {}): NodeFacts => ({ ...namedOnly(name), ...more });
  const told = (configMaps: ConfigMaps, nodes: readonly NodeFacts[]): string[] => {
    const configuration = configurationOf(
      Object.entries(configMaps).map(([name, data]) => ({ name, data })),
      fakeRegistry(),
    );
    const cluster = new Map(nodes.map((each) => [each.name, each]));
    return survey({ configuration, nodes, cluster }).problems.map(({ severity, message, nodes: who }) => `${severity} [${who.join()}] ${message}`);
  };
  const instance = (plug: string): ConfigMaps => ({
    'fence-config-node-a': {
      'config.properties': 'power_management=m\nsupplies=1',
      'fence-method-m': `agent_name=fence-gce\nzone=z\nplug=${plug}\naction=reboot`,
    },
  });
  const FLEET = [
    node('node-a', { providerID: 'gce://p/z/vm-a' }),
    node('node-b', { providerID: 'gce://p/z/vm-b', addresses: [{ type: 'Hostname', address: 'b.example.com' }] }),
  ];

  it.each(['node-b', 'NODE-B', 'vm-b', 'b.example.com'])('is not switched by the name %s', (plug) => {
    expect(told(instance(plug), FLEET)).toContainEqual(
      `error [node-a] plug ${plug} is the machine of node node-b, not of node-a: name the machine of node-a`,
    );
  });

  it.each(['node-a', 'vm-a', 'vm-c', '2'])('is not what %s names', (plug) => {
    expect(told(instance(plug), FLEET).filter((line) => line.startsWith('error [node-a]'))).toEqual([]);
  });

  it('is behind the address that a group gives to all of its nodes; the words say what to write', () => {
    const group: ConfigMaps = {
      ...SEED,
      'fence-config-g': {
        'config.properties': 'node_selector=rack\npower_management=m',
        'fence-method-m': 'agent_name=redfish\nip=192.0.2.5\naction=reboot',
      },
    };
    const nodes = ['w1', 'w2', 'w3'].map((name) => node(name, { labels: { rack: 'r' } }));
    expect(told(group, nodes)[0]).toMatch(/^error \[w1,w2,w3\] 192\.0\.2\.5 is switched by this text for several nodes: write \{node\}/);
  });

  it('and a ConfigMap of a Node that does not exist are told', () => {
    expect(told(SEED, [node('node-aa')])).toContainEqual('warning [] there is no Node node-a: did you mean fence-config-node-aa?');
  });
});

describe('placeholders', () => {
  const group = (ip: string): ConfigMaps => ({
    'fence-config-g': {
      'config.properties': 'node_selector=rack\npower_management={label:how}',
      'fence-method-m': `agent_name=redfish\nip=${ip}\nsecret=bmc-login\naction=reboot`,
    },
  });
  const on = (ip: string): ReturnType<typeof plan> => plan(group(ip), { node: { labels: { rack: 'r1', how: 'm' }, providerID: 'x://1' } });

  it.each([
    ['{node}.bmc', 'node-a.bmc'],
    ['{address}', '10.0.0.1'],
    ['{addresses}', '10.0.0.1'],
    ['{provider_id}', 'x://1'],
    ['{label:rack}-{annotation:bmc}', 'r1-192.0.2.9'],
  ])('%s is %s', (written, device) => {
    expect(on(written)).toMatchObject({ problems: [], powerManagement: [{ methods: [{ device }] }] });
  });

  it.each([
    ['{nodename}.bmc', '{nodename} is no placeholder: one of {node}, '],
    ['{label:gone}', 'node node-a has nothing for {label:gone}: kubectl label node node-a gone=VALUE'],
    ['{annotation:gone}', 'node node-a has nothing for {annotation:gone}: kubectl annotate node node-a gone=VALUE'],
    ['{label:}', '{label:} is no placeholder'],
  ])('%s is an error', (written, message) => {
    expect(errors(on(written))[0]).toMatchObject({
      where: 'ConfigMap fence-config-g, key fence-method-m, line 2',
      message: expect.stringContaining(message) as string,
    });
  });
});
