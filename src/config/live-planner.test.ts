import { describe, expect, it } from 'vitest';
import { AgentError } from '../ports/agents.ts';
import type { PlanMethod } from '../domain/plan.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { ConfigMap, Node, Secret } from '../ports/objects.ts';
import { standardRegistry } from '../../agents/registry.ts';
import { LivePlanner } from './live-planner.ts';
import { fakeRegistry } from './testing/fake-agents.ts';
import { FakeLister } from './testing/fake-lister.ts';

const NODE: Node = { metadata: { name: 'node-a', uid: 'u' }, spec: {}, status: {} };

const METHOD: PlanMethod = {
  ...{ name: 'off', agent: 'redfish', kind: 'power', action: 'off', device: '192.0.2.1', plug: '' },
  ...{ parameters: { ip: '192.0.2.1' }, deviceMaxLatencyMs: 30_000 },
};

function scene(): { planner: LivePlanner; configMaps: FakeLister<ConfigMap>; secrets: FakeLister<Secret>; put: (ip: string) => void } {
  const configMaps = new FakeLister<ConfigMap>();
  const secrets = new FakeLister<Secret>();
  const cluster = {
    get: (_resource: unknown, name: string, namespace: string) => Promise.resolve(secrets.get(`${namespace}/${name}`)),
  } as unknown as Cluster;
  const planner = new LivePlanner({ cluster, configMaps, secrets, registry: fakeRegistry(), namespace: 'ns' });
  const put = (ip: string): void => {
    const data = { 'config.properties': 'power_management=m', 'fence-method-m': `agent_name=redfish\nip=${ip}\nsecret=login\naction=reboot` };
    configMaps.put({ metadata: { name: 'fence-config-node-a', namespace: 'ns' }, data });
  };
  return { planner, configMaps, secrets, put };
}

const LOGIN: Secret = { metadata: { name: 'login', namespace: 'ns' }, data: { username: 'cm9vdA==', password: 'aHVudGVyMgo=' } };

describe('the live planner', () => {
  it('follows the ConfigMaps and the Secrets as they change', () => {
    const { planner, secrets, put } = scene();
    expect(planner.planFor(NODE).source).toBe('none');
    put('192.0.2.1');
    expect(planner.planFor(NODE).problems.map(({ message }) => message)).toContainEqual(expect.stringContaining('Secret login does not exist'));
    secrets.put(LOGIN);
    expect(planner.planFor(NODE)).toMatchObject({ problems: [], powerManagement: [{ methods: [{ device: '192.0.2.1' }] }] });
    put('192.0.2.2');
    expect(planner.planFor(NODE)).toMatchObject({ powerManagement: [{ methods: [{ device: '192.0.2.2' }] }] });
  });

  it('follows the labels that its plan is made of', () => {
    const { planner, secrets, put } = scene();
    secrets.put(LOGIN);
    put('{label:bmc}');
    const labelled = (bmc: string): Node => ({ ...NODE, metadata: { ...NODE.metadata, labels: { bmc } } });
    expect(planner.planFor(labelled('192.0.2.1'))).toMatchObject({ problems: [], powerManagement: [{ methods: [{ device: '192.0.2.1' }] }] });
    expect(planner.planFor(labelled('192.0.2.2'))).toMatchObject({ problems: [], powerManagement: [{ methods: [{ device: '192.0.2.2' }] }] });
  });

  it("merges today's Secret into the frozen parameters, and keeps the frozen address", async () => {
    const { planner, secrets, put } = scene();
    secrets.put(LOGIN);
    put('192.0.2.1');
    const method = planner.planFor(NODE).powerManagement[0]?.methods[0];
    put('192.0.2.2');
    expect(await planner.parametersFor('node-a', method!)).toEqual({ ip: '192.0.2.1', username: 'root', password: 'hunter2' });
    secrets.objects.clear();
    await expect(planner.parametersFor('node-a', method!)).rejects.toThrow(AgentError);
  });
});

describe('a Secret of the live planner', () => {
  function counted(): {
    asked: () => number;
    want: (count: number) => Promise<unknown[]>;
    put: (password: string) => void;
    fail: () => void;
    slow: () => () => void;
  } {
    const configMaps = new FakeLister<ConfigMap>();
    const secrets = new FakeLister<Secret>();
    secrets.put(LOGIN);
    let asked = 0;
    let failure: Error | undefined;
    let answers: Promise<unknown> | undefined;
    const get = async (_resource: unknown, name: string, namespace: string): Promise<Secret | undefined> => {
      asked += 1;
      const secret = secrets.get(`${namespace}/${name}`);
      await answers;
      if (failure !== undefined) throw failure;
      return secret;
    };
    const planner = new LivePlanner({ cluster: { get } as unknown as Cluster, configMaps, secrets, registry: fakeRegistry(), namespace: 'ns' });
    const data = { 'config.properties': 'power_management=m', 'fence-method-m': 'agent_name=redfish\nip=192.0.2.1\nsecret=login\naction=reboot' };
    configMaps.put({ metadata: { name: 'fence-config-node-a', namespace: 'ns' }, data });
    const method = planner.planFor(NODE).powerManagement[0]?.methods[0];
    return {
      asked: () => asked,
      want: (count) =>
        Promise.all(
          Array.from({ length: count }, async () =>
            planner.parametersFor('node-a', method!).then(
              ({ password }) => password,
              (error: unknown) => error,
            ),
          ),
        ),
      put: (password) => secrets.put({ ...LOGIN, data: { ...LOGIN.data, password: Buffer.from(password).toString('base64') } }),
      fail: () => (failure = new Error('no way to the API server')),
      slow: () => {
        const held = Promise.withResolvers<unknown>();
        answers = held.promise;
        return () => held.resolve(undefined);
      },
    };
  }

  it('is read once for all that want it at once, and again for who comes later', async () => {
    const { asked, want, put } = counted();
    expect(await want(3)).toEqual(['hunter2', 'hunter2', 'hunter2']);
    expect(asked()).toBe(1);
    put('changed');
    expect(await want(1)).toEqual(['changed']);
    expect(asked()).toBe(2);
  });

  it('is read anew for who wants it while an answer is on its way', async () => {
    const { asked, want, put } = counted();
    const first = want(1);
    while (asked() === 0) await Promise.resolve();
    put('changed');
    expect(await want(1)).toEqual(['changed']);
    await first;
    expect(asked()).toBe(2);
  });

  it('is read three times for a thousand fences that want it one after the other before any answer is here, and none gets one that is older than its wish', async () => {
    const { asked, want, put, slow } = counted();
    const answer = slow();
    const first = [want(1)];
    while (asked() < 1) await Promise.resolve();
    first.push(want(1));
    while (asked() < 2) await Promise.resolve();
    put('changed');
    const rest: Promise<unknown[]>[] = [];
    for (let count = 0; count < 998; count += 1) {
      rest.push(want(1));
      await Promise.resolve();
    }
    expect(asked()).toBe(2);
    answer();
    expect(await Promise.all(first)).toEqual([['hunter2'], ['hunter2']]);
    expect(new Set((await Promise.all(rest)).flat())).toEqual(new Set(['changed']));
    expect(asked()).toBe(3);
  });

  it('that cannot be read fails all that wanted it, and is read again', async () => {
    const { asked, want, fail } = counted();
    fail();
    for (const reads of [1, 2]) {
      expect((await want(2)).map(String)).toEqual(Array.from({ length: 2 }, () => 'Error: no way to the API server'));
      expect(asked()).toBe(reads);
    }
  });
});

describe('the storm policies of the live planner', () => {
  const policy = (name: string, text: string): ConfigMap => ({ metadata: { name, namespace: 'ns' }, data: { 'config.properties': text } });

  it('are the safe defaults without configuration, and the same array until they change', () => {
    const { planner, configMaps, put } = scene();
    const before = planner.stormPolicies();
    expect(before.map(({ policy: kind }) => kind)).toContain('max-unhealthy');
    put('192.0.2.1');
    expect(planner.stormPolicies()).toBe(before);
    configMaps.put(policy('fence-policy-cooldown', 'duration=1m'));
    const after = planner.stormPolicies();
    expect(after).not.toBe(before);
    expect(after.map(({ name }) => name)).toContain('cooldown');
    expect(planner.stormPolicies()).toBe(after);
    configMaps.put(policy('fence-cluster-config', 'policies=cooldown'));
    expect(planner.stormPolicies().map(({ name }) => name)).toEqual(['cooldown']);
  });
});

describe('the login of a method that a group has', () => {
  it('is none of a method of that name which stands elsewhere: that is of other nodes', async () => {
    const [configMaps, secrets, nodes] = [new FakeLister<ConfigMap>(), new FakeLister<Secret>(), new FakeLister<Node>()];
    const put = (name: string, data: Record<string, string>): void => configMaps.put({ metadata: { name, namespace: 'ns' }, data });
    put('fence-config-rack', {
      'config.properties': 'node_selector=rack=r1\npower_management=off',
      'fence-method-off': 'agent_name=redfish\nip={node}.bmc\naction=off\nsecret=login',
    });
    put('fence-method-off', { 'method.properties': 'agent_name=redfish\nip=192.0.2.9\naction=off\npassword=of-others' });
    const login: Secret = { metadata: { name: 'login', namespace: 'ns' }, data: { username: 'eA==' } };
    secrets.put(login);
    const node: Node = { metadata: { name: 'a', uid: 'a', labels: { rack: 'r1' } }, spec: {}, status: {} };
    nodes.put(node);
    const cluster = { get: () => Promise.resolve(login) } as unknown as Cluster;
    const planner = new LivePlanner({ cluster, configMaps, secrets, nodes, registry: fakeRegistry(), namespace: 'ns' });
    const method = { ...METHOD, secret: 'login' };
    await expect(planner.parametersFor('a', method)).rejects.toThrow('password is missing');
    nodes.put({ ...node, metadata: { ...node.metadata, labels: {} } });
    expect(await planner.parametersFor('a', method)).toMatchObject({ password: 'of-others' });
  });
});

describe('a Node whose machine another one claims too', () => {
  it('has another plan from when that is there until it is gone', () => {
    const [configMaps, secrets, nodes] = [new FakeLister<ConfigMap>(), new FakeLister<Secret>(), new FakeLister<Node>()];
    const machine = (name: string, systemUUID: string): Node => ({ metadata: { name, uid: name }, spec: {}, status: { nodeInfo: { systemUUID } } });
    const [own, other] = [machine('a', '4c4c4544-0042-4810-8054-b4c04f573433'), machine('a.example', '4c4c4544-0042-4810-8054-b4c04f573433')];
    configMaps.put({
      metadata: { name: 'fence-config-a', namespace: 'ns' },
      data: {
        'config.properties': 'power_management=off',
        'fence-method-off': 'agent_name=redfish\nip=192.0.2.7\nusername=u\npassword=p\naction=off',
      },
    });
    nodes.put(own);
    const planner = new LivePlanner({ cluster: {} as Cluster, configMaps, secrets, nodes, registry: standardRegistry(), namespace: 'ns' });
    const errors = (): number => planner.planFor(own).problems.filter(({ severity }) => severity === 'error').length;
    expect(errors()).toBe(0);
    nodes.put(other);
    expect(errors()).toBe(1);
    nodes.put(machine('a.example', '4d4c4544-0042-4810-8054-b4c04f573433'));
    expect(errors()).toBe(0);
    nodes.put(other);
    nodes.remove(other);
    expect(errors()).toBe(0);
  });
});

describe('a thousand nodes', { timeout: 60_000 }, () => {
  const COUNT = 1_000;
  const name = (index: number): string => `node-${index}`;
  const node = (index: number, rack = `r${index % 10}`): Node => ({
    metadata: { name: name(index), uid: `${index}`, labels: { rack } },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address: `10.0.${Math.floor(index / 250)}.${index % 250}` }] },
  });

  /** Half of them by groups, half by ConfigMaps of their own; one template. */
  function fleet() {
    const [configMaps, secrets, nodes] = [new FakeLister<ConfigMap>(), new FakeLister<Secret>(), new FakeLister<Node>()];
    const put = (configName: string, data: Record<string, string>): void => configMaps.put({ metadata: { name: configName, namespace: 'ns' }, data });
    put('fence-method-template-bmc', { 'template.properties': 'agent_name=redfish\nsecret=login' });
    secrets.put(LOGIN);
    const method = (ip: string): string => `template=fence-method-template-bmc\nip=${ip}\naction=reboot`;
    for (let rack = 0; rack < 10; rack += 2)
      put(`fence-config-rack-${rack}`, {
        'config.properties': `node_selector=rack in (r${rack})\npower_management=m`,
        'fence-method-m': method('{node}.bmc'),
      });
    for (let index = 0; index < COUNT; index += 1) {
      nodes.put(node(index));
      if (index % 2 === 1)
        put(`fence-config-${name(index)}`, { 'config.properties': 'power_management=m', 'fence-method-m': method(`bmc-${index}`) });
    }
    const planner = new LivePlanner({ cluster: {} as Cluster, configMaps, secrets, nodes, registry: fakeRegistry(), namespace: 'ns' });
    /** How many plans are made when every node is looked at. */
    const looks = (): number => {
      const before = planner.resolutions;
      for (const each of nodes.all()) planner.planFor(each);
      return planner.resolutions - before;
    };
    return { planner, nodes, secrets, put, looks, method };
  }

  it('are planned once each, and after a change only those that it touches', () => {
    const { planner, nodes, secrets, put, looks, method } = fleet();
    expect(looks()).toBe(COUNT);
    expect(planner.planFor(node(0))).toMatchObject({ source: 'group', problems: [] });
    expect(looks()).toBe(0);
    put('fence-config-node-7', { 'config.properties': 'power_management=m', 'fence-method-m': method('other') });
    expect(looks()).toBe(1);
    put('fence-config-rack-4', { 'config.properties': 'node_selector=rack in (r4)\npower_management=m', 'fence-method-m': method('{address}') });
    expect(looks()).toBe(COUNT / 10);
    nodes.put({ ...node(8), status: { ...node(8).status, conditions: [{ type: 'Ready', status: 'True' }] } });
    expect(looks()).toBe(0);
    nodes.put(node(8, 'r4'));
    expect(looks()).toBe(1);
    put('unrelated', { key: 'value' });
    expect(looks()).toBe(0);
    secrets.put({ ...LOGIN, data: { password: '' } });
    expect(looks()).toBe(COUNT);
  });

  it('are planned anew after a change of labels that plans are made of, and of no other', () => {
    const { planner, nodes, put, looks } = fleet();
    put('fence-config-labelled', {
      'config.properties': 'node_selector=labelled in (yes)\npower_management=m',
      'fence-method-m': 'template=fence-method-template-bmc\nip={label:bmc}\naction=reboot',
    });
    const labelled = (bmc: string, round: string): Node => ({
      ...node(0, 'none'),
      metadata: { ...node(0).metadata, labels: { labelled: 'yes', bmc, round } },
    });
    nodes.put(labelled('bmc-a', '1'));
    looks();
    nodes.put(labelled('bmc-a', '2'));
    expect(looks()).toBe(0);
    nodes.put(labelled('bmc-b', '2'));
    expect(looks()).toBe(1);
    expect(planner.planFor(labelled('bmc-b', '2'))).toMatchObject({ powerManagement: [{ methods: [{ device: 'bmc-b' }] }], problems: [] });
    // Where another node switches the same plug: who owns it is followed by the same labels.
    nodes.put(labelled('bmc-1', '2'));
    expect(planner.planFor(node(1)).problems.map(({ message }) => message)).toContainEqual(expect.stringContaining(name(0)));
  });

  it('know when one of them gets the machine of another', () => {
    const { planner, put, nodes, looks, method } = fleet();
    looks();
    put('fence-config-node-7', { 'config.properties': 'power_management=m', 'fence-method-m': method('node-4.bmc') });
    expect(looks()).toBe(2);
    expect(planner.planFor(node(4)).problems[0]?.message).toContain('also switched for node node-7');
    nodes.remove(node(4));
    expect(looks()).toBe(1);
    expect(planner.planFor(node(7)).problems).toEqual([]);
  });

  it('are told of the whole cluster once', () => {
    const configMaps = new FakeLister<ConfigMap>();
    const told: string[][] = [];
    const planner = new LivePlanner({
      cluster: {} as Cluster,
      configMaps,
      secrets: undefined,
      registry: fakeRegistry(),
      namespace: 'ns',
      onClusterProblems: (problems) => told.push(problems.map(({ message }) => message)),
    });
    const put = (text: string): void =>
      configMaps.put({ metadata: { name: 'fence-cluster-config', namespace: 'ns' }, data: { 'config.properties': text } });
    put('heartbeat_interval=2s');
    for (const index of [1, 2, 3]) expect(planner.planFor(node(index)).problems.map(({ severity }) => severity)).not.toContain('warning');
    expect(told).toEqual([['heartbeat_interval: recognised, not acted on by this version']]);
    put('');
    planner.planFor(NODE);
    expect(told.at(-1)).toEqual([]);
  });
});
