import { describe, expect, it } from 'vitest';
import type { Cluster } from '../ports/cluster.ts';
import type { ConfigMap, Node, Secret } from '../ports/objects.ts';
import { SecretUnread } from '../ports/secret-stores.ts';
import type { SecretPlace, SecretQuestion } from '../ports/secret-stores.ts';
import { LivePlanner } from './live-planner.ts';
import { fakeRegistry } from './testing/fake-agents.ts';
import { FakeLister } from './testing/fake-lister.ts';

const NODE: Node = { metadata: { name: 'node-a', uid: 'u' }, spec: {}, status: {} };

/** One method `off` of this body, and logins on the controller's machine. */
function scene(body: string, logins: Record<string, Record<string, string>> = {}) {
  const configMaps = new FakeLister<ConfigMap>();
  const secrets = new FakeLister<Secret>();
  const asked: [SecretPlace, SecretQuestion][] = [];
  const put = (text: string): void =>
    configMaps.put({
      metadata: { name: 'fence-config-node-a', namespace: 'ns' },
      data: { 'config.properties': 'power_management=off', 'fence-method-off': `agent_name=redfish\nip=192.0.2.1\naction=reboot\n${text}` },
    });
  put(body);
  const planner = new LivePlanner({
    cluster: { get: () => Promise.resolve(undefined) } as unknown as Cluster,
    ...{ configMaps, secrets, registry: fakeRegistry(), namespace: 'ns' },
    stores: {
      problem: ({ name }) => (name.includes('..') ? `${name} is no name` : undefined),
      read: (place, question) => {
        asked.push([place, question]);
        const found = logins[place.name];
        if (place.name === 'away') return Promise.reject(new SecretUnread('secret_file away was not read within 5000 ms', { mayPass: true }));
        return found === undefined ? Promise.reject(new SecretUnread(`secret_file ${place.name} is missing`)) : Promise.resolve(found);
      },
    },
  });
  const method = () => planner.planFor(NODE).powerManagement[0]?.methods[0];
  const problems = (): string[] => planner.planFor(NODE).problems.map(({ message }) => message);
  return { planner, put, secrets, asked, logins, method, problems };
}

describe('A method whose login is on the controller’s machine', () => {
  it('is planned with the name of its file, and without any value', () => {
    const { method, problems } = scene('secret_file=bmc/a', { 'bmc/a': { username: 'root', password: 'hunter2' } });
    expect(problems()).toEqual([]);
    expect(method()).toMatchObject({ secretFile: 'bmc/a', parameters: { ip: '192.0.2.1' } });
    expect(JSON.stringify(method())).not.toContain('hunter2');
  });

  it('runs with what stands there now: a rotation counts without a restart', async () => {
    const { planner, method, logins, asked } = scene('secret_file=bmc/a', { 'bmc/a': { login: 'root', passwd: 'one' } });
    const planned = method();
    if (planned === undefined) throw new Error('no method');
    expect(await planner.parametersFor('node-a', planned)).toEqual({ ip: '192.0.2.1', username: 'root', password: 'one' });
    logins['bmc/a'] = { login: 'root', passwd: 'two' };
    expect(await planner.parametersFor('node-a', planned)).toMatchObject({ password: 'two' });
    expect(asked[0]).toEqual([
      { kind: 'file', name: 'bmc/a' },
      { node: 'node-a', method: 'off', agent: 'redfish', device: '192.0.2.1' },
    ]);
  });

  it('is refused in words that say what is missing, at its run', async () => {
    const missing = scene('secret_file=bmc/a');
    await expect(missing.planner.parametersFor('node-a', missing.method()!)).rejects.toThrow('secret_file bmc/a is missing');
    const half = scene('secret_program=vault', { vault: { username: 'root' } });
    await expect(half.planner.parametersFor('node-a', half.method()!)).rejects.toThrow(
      'password is missing in the ConfigMap and in secret_program=vault',
    );
  });

  it('is asked for again where whoever keeps it did not answer: its method is not given up for good', async () => {
    const { planner, method } = scene('secret_file=away');
    await expect(planner.parametersFor('node-a', method()!)).rejects.toMatchObject({ kind: 'Unreachable' });
    const missing = scene('secret_file=bmc/a');
    await expect(missing.planner.parametersFor('node-a', missing.method()!)).rejects.toMatchObject({ kind: 'Misconfigured' });
  });

  it('keeps to it: a Secret named after the method does not win', async () => {
    const { planner, method, secrets } = scene('secret_file=bmc/a', { 'bmc/a': { username: 'root', password: 'one' } });
    secrets.put({ metadata: { name: 'secret-fence-method-off-node-a', namespace: 'ns' }, data: { username: 'eA==', password: 'eA==' } });
    expect(method()?.secret).toBeUndefined();
    expect(await planner.parametersFor('node-a', method()!)).toMatchObject({ password: 'one' });
  });

  it.each([
    ['secret_file=../a', '../a is no name'],
    ['secret_file=a\nsecret_program=vault', 'secret_file and secret_program are both given: leave one of them'],
    ['secret_file=rack/{label:bmc}', 'secret_file may have {node} in it and no {label:bmc}, which a node says of itself'],
    ['secret_program={annotation:x}', 'secret_program may have {node} in it and no {annotation:x}'],
    ['secret=login\nsecret_file=a', 'secret and secret_file are both given: leave one of them'],
  ])('is an error where it is written as %j', (body, message) => {
    const { problems, method } = scene(body);
    expect(problems()).toContainEqual(expect.stringContaining(message));
    expect(method()).toBeUndefined();
  });

  it('may be named by the node', () => {
    expect(scene('secret_file=bmc/{node}').method()).toMatchObject({ secretFile: 'bmc/node-a' });
  });

  it('has a Secret again where an empty secret_file takes that of a template away', () => {
    const { problems, secrets, put } = scene('secret_file=\nsecret=login');
    secrets.put({ metadata: { name: 'login', namespace: 'ns' }, data: { username: 'eA==', password: 'eA==' } });
    put('secret_file=\nsecret=login\n');
    expect(problems()).toEqual([]);
  });
});
