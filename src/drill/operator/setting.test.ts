import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigMap } from '../../ports/objects.ts';
import { DEFAULT_OPTIONS } from '../run/options.ts';
import type { DrillOptions } from '../run/options.ts';
import type { Bmc, Credentials } from '../run/scene-configuration.ts';
import type { DrillSetting } from '../run/setting.ts';
import { ConfigurationRefused } from './refusal.ts';
import { operatorSetting } from './setting.ts';

const SAMPLES = fileURLToPath(new URL('../../../config/samples', import.meta.url));
const OPTIONS: DrillOptions = { ...DEFAULT_OPTIONS, fault: 'panic', seed: 1, json: true, config: SAMPLES };
const CREDENTIALS: Credentials = { username: 'unused', password: 'unused', caPem: '' };
const TEMPLATE = `
kind: ConfigMap
metadata: { name: fence-method-template-bmc }
data:
  template.properties: |-
    agent_name=redfish
    username=admin
    password=inline
`;

const SECRET_TEMPLATE = `
kind: ConfigMap
metadata: { name: fence-method-template-bmc }
data: { template.properties: "agent_name=redfish\\nsecret=login" }
---
kind: Secret
metadata: { name: login }
stringData: { username: admin, password: x }
`;

function node(name: string, power = 'off on', method = ''): string {
  return `
kind: ConfigMap
metadata: { name: fence-config-${name} }
data:
  config.properties: |-
    isolation=mark-unschedulable
    power_management=${power}
  fence-method-off: |-
    template=fence-method-template-bmc
    ip=${name}.bmc
    action=off
    ${method}
  fence-method-on: |-
    template=fence-method-template-bmc
    ip=${name}.bmc
    action=on
`;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'operator-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

function setting(files: Readonly<Record<string, string>>, options: Partial<DrillOptions> = {}): DrillSetting {
  write(files);
  return operatorSetting(folder, { ...OPTIONS, ...options });
}

function refusalOf(files: Readonly<Record<string, string>>, options: Partial<DrillOptions> = {}): readonly string[] {
  try {
    setting(files, options);
  } catch (error) {
    if (error instanceof ConfigurationRefused) return error.lines;
    throw error;
  }
  throw new Error('the folder was accepted');
}

function copyOf(played: DrillSetting): Map<string, Record<string, string>> {
  const bmcs: Bmc[] = played.victims.map((name, index) => ({ node: name, host: '127.0.0.1', port: 40_000 + index, fingerprint: 'ab'.repeat(32) }));
  const { configMaps } = played.configuration(bmcs, CREDENTIALS);
  return new Map(configMaps.map(({ metadata, data = {} }: ConfigMap) => [metadata.name, data]));
}

describe("a drill with the operator's own configuration", () => {
  it('has the nodes that the sample names, and one more for its group', () => {
    const played = operatorSetting(SAMPLES, OPTIONS);
    expect(played.machines.map((machine) => machine.node)).toEqual(['node-a', 'node-b', 'worker-1']);
    expect(played.machines[2]?.labels).toEqual({ 'example.com/rack': 'storage' });
    expect(played.machines.map(({ credentials }) => credentials)).toEqual(Array(3).fill({ username: 'fence', password: 'change-me' }));
  });

  it('points every redfish method to its emulated BMC and leaves what is shared as it is', () => {
    const played = operatorSetting(SAMPLES, OPTIONS);
    const copy = copyOf(played);
    expect(copy.get('fence-config-node-a')?.['fence-method-redfish-off']?.split('\n')).toEqual([
      'template=fence-method-template-redfish',
      '# replaced by the drill',
      'action=off',
      'ssl_insecure=',
      'ip=127.0.0.1',
      'ipport=40000',
      `ssl_fingerprint=${'ab'.repeat(32)}`,
    ]);
    expect(copy.get('fence-config-worker-1')).toMatchObject({ 'config.properties': '' });
    expect(copy.get('fence-config-worker-1')?.['fence-method-reboot']).toContain('ipport=40002');
    expect(copy.get('fence-config-storage')?.['fence-method-reboot']).toContain('ip={node}.bmc.example.com');
    expect(copy.get('fence-method-template-redfish')?.['template.properties']).toContain('ssl_insecure=no');
  });

  it('keeps credentials and drops trust from Secrets', () => {
    const secret = 'kind: Secret\nmetadata: { name: s }\nstringData: { user: x, password: y, ca: z, ssl-fingerprint: w }\n';
    const { secrets } = setting({ 'a.yaml': `${TEMPLATE}---${node('a')}---\n${secret}` }).configuration(
      [{ node: 'a', host: '127.0.0.1', port: 1, fingerprint: 'ab' }],
      CREDENTIALS,
    );
    expect(Object.keys(secrets[0]?.data ?? {})).toEqual(['user', 'password']);
  });

  it('adds a bystander to a single node, and never breaks it', () => {
    const played = setting({ 'a.yml': `${TEMPLATE}---${node('a')}` });
    expect(played.machines.map((machine) => machine.node)).toEqual(['a', 'bystander-1']);
    expect(played.victims).toEqual(['a']);
  });

  it('reads a bare YAML list, as the seed writes it, and JSON', () => {
    const list = '- kind: ConfigMap\n  metadata: { name: fence-config-b }\n  data: { config.properties: "power_management=" }\n';
    const json = '{"kind":"ConfigMap","metadata":{"name":"fence-config-c"},"data":{"config.properties":"power_management="}}';
    expect(refusalOf({ 'b.yaml': list, 'c.json': json })).toEqual([
      expect.stringMatching(/^b\.yaml: ConfigMap fence-config-b, key config\.properties, line 1: power_management switches nothing off/),
      expect.stringMatching(/^c\.json: ConfigMap fence-config-c, key config\.properties, line 1: /),
    ]);
  });

  it('gives the machine the UUID and the serial number that the configuration asks for', () => {
    const uuid = '8d1e2f3a-0000-4000-8000-1234567890ab';
    const played = setting({ 'a.yaml': `${TEMPLATE}---${node('a', 'off on', `system_uuid=${uuid}`)}` });
    expect(played.machines[0]).toMatchObject({ systemUUID: uuid });
    expect(copyOf(played).get('fence-config-a')?.['fence-method-off']).toContain(`system_uuid=${uuid}`);
  });

  it('puts --set over what the nodes and the cluster have written, and says so', () => {
    const own = node('a').replace('isolation=', 'settle=40s\n    isolation=');
    const played = setting({ 'a.yaml': `${TEMPLATE}---${own}` }, { settings: { settle: '20s', grace_timeout: '0' } });
    const copy = copyOf(played);
    expect(copy.get('fence-config-a')?.['config.properties']).toContain('# replaced by the drill\nisolation=');
    expect(copy.get('fence-cluster-config')?.['config.properties']).toBe('\nsettle=20s\nisolation_delay=0');
    expect(played.says.at(-1)).toContain('settle=20s');
  });

  it('waits as long as the delays say, and longer for a device that never does it', () => {
    const played = operatorSetting(SAMPLES, OPTIONS);
    expect(played.expected('panic')).toMatchObject({ outcome: 'recovered', released: true });
    expect(played.expected('panic').deadlineMs).toBeGreaterThan(20 * 60_000);
    expect(played.expected('bmc-lies')).toMatchObject({ outcome: 'failed', released: false });
  });

  it('expects no release where the configuration forbids it', () => {
    const own = node('a').replace('isolation=', 'release=none\n    isolation=');
    expect(setting({ 'a.yaml': `${TEMPLATE}---${own}` }).expected('panic').released).toBe(false);
  });
});

describe('a folder that cannot be played is refused before anything starts', () => {
  const template = TEMPLATE;
  it.each([
    ['no folder at all', {}, /no YAML file here holds a ConfigMap/],
    ['broken YAML', { 'a.yaml': 'kind: [' }, /^a\.yaml: .*line 1/],
    [
      'an agent that this version has not',
      { 'a.yaml': `${template}---${node('a').replace('template=fence-method-template-bmc', 'agent_name=eaton')}` },
      /^a\.yaml: ConfigMap fence-config-a, key fence-method-off, line 1: unknown agent eaton/,
    ],
    [
      'a step without power-management',
      { 'a.yaml': `${template}---${node('a', '')}` },
      /^a\.yaml: ConfigMap fence-config-a, key config\.properties, line 2: power_management switches nothing off/,
    ],
    ['off without on', { 'a.yaml': `${template}---${node('a', 'off')}` }, /line 2: power_management switches off and never on/],
    ['a template that is nowhere', { 'a.yaml': node('a') }, /^a\.yaml: .* template fence-method-template-bmc does not exist/],
    [
      'a Secret that is nowhere',
      { 'a.yaml': `${template}---${node('a', 'off on', 'secret=gone')}` },
      /^a\.yaml: ConfigMap fence-config-a, key fence-method-off, line 4: Secret gone does not exist/,
    ],
    [
      'two BMCs of one node',
      { 'a.yaml': `${template}---${node('a', 'off on', 'ipport=8443')}` },
      /^a\.yaml: ConfigMap fence-config-a, key fence-method-on[^:]*: level 1: off switches \S+ off, and on switches \S+ on: name the same device/,
    ],
    [
      'one BMC of two nodes',
      { 'a.yaml': SECRET_TEMPLATE, 'g.yaml': node('group').replace('isolation=', 'node_selector=rack=1\n    isolation=') },
      /^g\.yaml: ConfigMap fence-config-group, key fence-method-off, line 2: group\.bmc:443 serves node worker-2 and node worker-1/,
    ],
    [
      'evidence that the drill cannot give',
      { 'a.yaml': `${template}---${node('a').replace('isolation=', 'minimum_evidence=kdump\n    isolation=')}` },
      /^a\.yaml: ConfigMap fence-config-a, key config\.properties, line 1: minimum_evidence does not admit power-off/,
    ],
    ['one name twice', { 'a.yaml': template, 'b.yaml': template }, /^b\.yaml: ConfigMap fence-method-template-bmc is already in a\.yaml/],
    ['a number without quotes', { 'a.yaml': 'kind: ConfigMap\nmetadata: { name: a }\ndata: { x: 1 }' }, /^a\.yaml: ConfigMap a, key x is not a text/],
    [
      'plain text under data',
      { 'a.yaml': 'kind: Secret\nmetadata: { name: s }\ndata: { password: change-me }' },
      /^a\.yaml: Secret s, key password is not base64/,
    ],
  ])('%s', (_what, files: Record<string, string>, expected) => {
    expect(refusalOf(files)).toContainEqual(expect.stringMatching(expected));
  });

  it('a fence that never ends, with a lying BMC only', () => {
    const files = { 'a.yaml': `${template}---${node('a').replace('isolation=', 'max_restarts=-1\n    isolation=')}` };
    expect(setting(files).victims).toEqual(['a']);
    expect(refusalOf(files, { fault: 'bmc-lies' })).toEqual([expect.stringContaining('max_restarts=-1 never ends')]);
  });

  it('a folder that is not there', () => {
    expect(() => operatorSetting(join(folder, 'gone'), OPTIONS)).toThrow(/the folder cannot be read \(ENOENT\)/);
  });
});
