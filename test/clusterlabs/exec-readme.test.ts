import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { FAULTY_PROGRAMS, knownFaults } from '../../agents/exec/known-faults.ts';
import { FakeFenceAgent } from '../../agents/exec/testing/fake-fence-agent.ts';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';

interface Document {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

const README = readFileSync(new URL('../../agents/exec/README.md', import.meta.url), 'utf8');
const fake = new FakeFenceAgent();
const CLOUDS = { fence_aws: 'aws', fence_azure_arm: 'azure', fence_openstack: 'openstack', fence_pve: 'proxmox' };
for (const name of ['fence_netio', ...Object.keys(CLOUDS)]) symlinkSync(join(fake.folder, 'fence_fake'), join(fake.folder, name));
afterAll(() => fake.dispose());

describe('the README of exec', () => {
  it('shows a configuration that fences', () => {
    const documents = parseAllDocuments(/```yaml\n([\s\S]*?)```/.exec(README)?.[1] ?? '').map((document) => document.toJS() as Document);
    const secret = documents.find(({ kind }) => kind === 'Secret');
    const configMaps = documents.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata, data }) => ({ name: metadata.name, data: data ?? {} }));
    const plan = resolvePlan({
      node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] },
      configuration: configurationOf(configMaps, standardRegistry({ kind: 'folder', path: fake.folder })),
      secretKeys: (name) => (name === secret?.metadata.name ? Object.keys(secret.stringData ?? {}) : undefined),
    });
    expect(plan.problems).toEqual([]);
    expect(plan.powerManagement[0]?.methods.map(({ agent, action, device, plug }) => [agent, action, device, plug])).toEqual([
      ['exec/fence_netio', 'off', '192.0.2.20', '4'],
      ['exec/fence_netio', 'on', '192.0.2.20', '4'],
    ]);
  });

  it.each(Object.entries(CLOUDS))(
    'means no program that is installed by %s, which calls off what would write again: ours is used',
    (program, own) => {
      expect(standardRegistry({ kind: 'folder', path: fake.folder }).find(program)?.name).toBe(own);
    },
  );

  it('names our own parameters, and every program that faults are known of, with the faults', () => {
    const own = standardRegistry({ kind: 'folder', path: fake.folder }).find('exec/fence_fake')?.describe().slice(-2) ?? [];
    expect(own).toHaveLength(2);
    for (const { name, default: usual } of own) expect(README).toMatch(new RegExp(`\\| \`${name}\` +\\| ${usual ?? ''} +\\|`));
    for (const program of FAULTY_PROGRAMS) {
      const row = README.split('\n').find((line) => line.startsWith(`| \`${program}\``));
      expect(Object.keys(knownFaults(program))).not.toEqual([]);
      for (const fault of Object.values(knownFaults(program))) expect(row).toContain(fault);
    }
  });
});
