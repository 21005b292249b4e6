import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBmcServer } from '../../src/testbed/devices/bmc/bmc-server.ts';
import type { BmcServer } from '../../src/testbed/devices/bmc/bmc-server.ts';
import { RedfishDevice } from '../../src/testbed/devices/bmc/redfish-device.ts';
import { resourceTree } from '../../src/testbed/devices/bmc/tree.ts';
import { createAuthority, fingerprintSha256 } from '../../src/testbed/certificates.ts';
import type { TraceEvent } from '../../src/laws/trace.ts';
import { CONFIG_MAPS, NODES, SECRETS } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { FENCE_NAMESPACE, secretObject } from './configuration.ts';
import { ServedWorld } from './served-world.ts';
import { CONTROLLER_USER } from './witness.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PASSWORD = 'correct-horse-battery';
const UUIDS = { a: '8d1e2f3a-0000-4000-8000-00000000000a', b: '8d1e2f3a-0000-4000-8000-00000000000b' };
const DEADLINE_MS = 120_000;

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The program as a person calls it. */
function nodefence(...parameters: string[]): Promise<Ended> {
  const { KUBECONFIG: _ambient, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [programPath('main'), 'validate', ...parameters],
      { cwd: ROOT, env: { ...env, NO_COLOR: '1' } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

describe('nodefence validate', { timeout: DEADLINE_MS }, () => {
  let world: ServedWorld;
  const bmcs: BmcServer[] = [];
  const events: TraceEvent[] = [];
  const certificate = createAuthority('BMCs').issue({ commonName: 'bmc', hosts: ['127.0.0.1'], lifetimeMs: 20 * 86_400_000 });

  async function bmc(node: string, uuid: string): Promise<number> {
    const device = new RedfishDevice({
      clock: new SystemClock(),
      random: new SystemRandom(),
      node,
      users: { fence: PASSWORD },
      tree: resourceTree({ uuid, hostName: node }),
      backend: { state: () => 'on', on: () => undefined, off: () => undefined },
      faults: {},
      trace: (event) => events.push(event),
    });
    const server = await startBmcServer(device, { certificate });
    bmcs.push(server);
    return server.port;
  }

  const config = (node: string, port: number): Record<string, string> => {
    const method = `template=fence-method-template-bmc\nip=127.0.0.1\nipport=${port}\n`;
    const properties = 'isolation=mark-unschedulable\npower_management=off on\nrecovery=mark-schedulable\n';
    return {
      name: `fence-config-${node}`,
      'config.properties': properties,
      'fence-method-off': `${method}action=off`,
      'fence-method-on': `${method}action=on`,
    };
  };
  const template = (): string => `agent_name=redfish\nsecret=login\nssl_fingerprint=${fingerprintSha256(certificate.certificatePem)}`;
  const nodeOf = (name: string, systemUUID: string): object => ({
    kind: 'Node',
    metadata: { name },
    status: { nodeInfo: { systemUUID }, conditions: [{ type: 'Ready', status: 'True' }] },
  });

  beforeAll(async () => {
    world = await ServedWorld.start();
  }, DEADLINE_MS);
  afterAll(async () => {
    await Promise.all(bmcs.map((server) => server.close()));
    await world.end();
  });

  it('finds nothing wrong with the samples', async () => {
    const { code, stdout, stderr } = await nodefence('-f', 'config/samples');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/\d+ files: \d+ nodes, 0 errors, 0 warnings\n$/);
    expect(stdout).toContain('power_management  after 30 s: redfish-off: off redfish 192.0.2.11:443, then redfish-on: on redfish 192.0.2.11:443');
    expect(code).toBe(0);
  });

  it('tells ConfigMap, key and line, file and line, and what to do; no password is repeated', async () => {
    const folder = join(world.folder, 'broken');
    mkdirSync(folder);
    const text = `kind: ConfigMap
metadata: { name: fence-config-a }
data:
  config.properties: |-
    isolation=mark-unschedulable
    power_timout=1m
    power_management=off
  fence-method-off: |-
    agent_name=redfihs
    password=${PASSWORD}
    action=off
`;
    writeFileSync(join(folder, 'nodes.yaml'), text);
    const { code, stdout } = await nodefence('-f', folder);
    expect(stdout).toContain(
      `error    ConfigMap fence-config-a, key fence-method-off, line 1 (${folder}/nodes.yaml:9): unknown agent redfihs: did you mean redfish?`,
    );
    expect(stdout).toContain(
      `warning  ConfigMap fence-config-a, key config.properties, line 2 (${folder}/nodes.yaml:6): unknown key power_timout: did you mean power_timeout?`,
    );
    expect(stdout).not.toContain(PASSWORD);
    expect(code).toBe(1);
    const json = JSON.parse((await nodefence('-f', folder, '-o', 'json')).stdout) as { valid: boolean; problems: object[]; nodes: object[] };
    expect(json).toMatchObject({ valid: false, errors: 1, warnings: 1, nodes: [{ name: 'a', source: 'node', powerManagement: [{ methods: [] }] }] });
    expect(json.problems[0]).toMatchObject({ severity: 'error', line: 9, nodes: ['a'], steps: ['power-management'] });
  });

  it('that cannot check ends with 2 and says why', async () => {
    const gone = await nodefence('-f', join(world.folder, 'gone'));
    expect([gone.code, gone.stdout]).toEqual([2, '']);
    expect(gone.stderr).toMatch(/gone: cannot be read \(ENOENT\): name a file, a folder/);
    const both = await nodefence('-f', 'config/samples', '--context', 'x');
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('give one of them');
  });

  it('reads every device on request and sets none: one is well, one is dead, one is the machine of another node; a pinned certificate ends soon', async () => {
    const [well, other, dead] = [await bmc('a', UUIDS.a), await bmc('c', UUIDS.a), await bmc('b', UUIDS.b)];
    await bmcs.pop()?.close();
    const list = {
      kind: 'List',
      items: [
        ...Object.entries({ a: well, b: dead, c: other }).map(([node, port]) => {
          const { name, ...data } = config(node, port);
          return { kind: 'ConfigMap', metadata: { name }, data };
        }),
        { kind: 'ConfigMap', metadata: { name: 'fence-method-template-bmc' }, data: { 'template.properties': template() } },
        { kind: 'Secret', metadata: { name: 'login' }, stringData: { username: 'fence', password: PASSWORD } },
        nodeOf('a', UUIDS.a),
        nodeOf('b', UUIDS.b),
        nodeOf('c', '8d1e2f3a-0000-4000-8000-00000000000c'),
      ],
    };
    const file = world.file('probe.json', JSON.stringify(list));
    const { code, stdout, stderr } = await nodefence('-f', file, '--probe');
    expect(stderr.replaceAll(/\d of 3 devices read\n/g, '')).toBe('');
    expect(stdout).toMatch(new RegExp(`device            redfish 127.0.0.1:${well}  on, identity verified, [0-9.]+ ms`));
    expect(stdout).toMatch(new RegExp(`error    Node b, redfish 127.0.0.1:${dead}: NF002 Unreachable: .*ECONNREFUSED`));
    expect(stdout).toMatch(new RegExp(`error    Node c, redfish 127.0.0.1:${other}: NF004 Misconfigured: .*It is the machine of node a\\.`));
    expect(stdout).toMatch(new RegExp(`warning  Node a, redfish 127.0.0.1:${well}: its certificate ends at [^ ]+, within 20 day\\(s\\): renew it`));
    expect(stdout).toMatch(/3 nodes, 2 errors, 1 warning\n$/);
    expect(stdout).not.toContain(PASSWORD);
    expect(code).toBe(1);
    const reads = new Set(['login', 'logout', 'identity', 'read']);
    expect(events.filter((event) => event.kind !== 'device' || !reads.has(event.action))).toEqual([]);
  });

  it('checks a cluster over HTTPS, and says what it may not see', async () => {
    const { cluster } = world.world;
    const { name, ...data } = config('a', 443);
    await cluster.create(NODES, { metadata: { name: 'a' }, spec: {}, status: {} });
    await cluster.create(CONFIG_MAPS, { metadata: { name: name ?? '', namespace: FENCE_NAMESPACE }, data });
    await cluster.create(CONFIG_MAPS, {
      metadata: { name: 'fence-method-template-bmc', namespace: FENCE_NAMESPACE },
      data: { 'template.properties': template() },
    });
    const kubeconfig = world.kubeconfig('validate', CONTROLLER_USER);
    const missing = await nodefence('--kubeconfig', kubeconfig);
    expect(missing.stdout).toContain('error    ConfigMap fence-method-template-bmc, key template.properties, line 2: Secret login does not exist');
    expect(missing.code).toBe(1);
    await cluster.create(SECRETS, secretObject('login', { username: 'fence', password: `${PASSWORD}\n` }));
    const found = await nodefence('--kubeconfig', kubeconfig, '--node', 'a', '--node', 'zz');
    expect(found.stdout).toContain('error    Node zz: does not exist in the cluster at');
    expect(found.stdout).toContain('warning  Secret login, key password: ends with a line break');
    expect(found.stdout).not.toContain(PASSWORD);
    const stranger = await nodefence('--kubeconfig', world.kubeconfig('stranger', CONTROLLER_USER, { token: 'wrong' }));
    expect([stranger.code, stranger.stdout]).toEqual([2, '']);
    expect(stranger.stderr).toContain('does not accept your credentials');
  });
});
