import { describe, expect, it } from 'vitest';
import { AgentError } from '../ports/agents.ts';
import type { Cluster, Lister } from '../ports/cluster.ts';
import type { ConfigMap, KubeObject, Node, Secret } from '../ports/objects.ts';
import { LivePlanner } from './live-planner.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

const NODE: Node = { metadata: { name: 'node-a', uid: 'u' }, spec: {}, status: {} };

class FakeLister<T extends KubeObject> implements Lister<T> {
  readonly synced = true;
  readonly freshAtMs = 0;
  readonly objects = new Map<string, T>();
  readonly #listeners: ((before: T | undefined, after: T | undefined) => void)[] = [];

  get(key: string): T | undefined {
    return this.objects.get(key);
  }
  all(): Iterable<T> {
    return this.objects.values();
  }
  byIndex(): readonly T[] {
    return [];
  }
  onChange(listener: (before: T | undefined, after: T | undefined) => void): () => void {
    this.#listeners.push(listener);
    return () => undefined;
  }
  put(object: T): void {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const before = this.objects.get(key);
    this.objects.set(key, object);
    for (const listener of this.#listeners) listener(before, object);
  }
}

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
