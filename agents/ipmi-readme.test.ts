import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { configurationOf } from '../src/config/configuration.ts';
import { resolveParameters } from '../src/config/resolve-parameters.ts';
import { resolvePlan } from '../src/config/resolve-plan.ts';
import { ipmi } from './ipmi/definition.ts';
import { parseSettings } from './ipmi/parameters.ts';
import { standardRegistry } from './registry.ts';

const README = readFileSync(new URL('./ipmi/README.md', import.meta.url), 'utf8');

interface Document {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

describe('the README of ipmi', () => {
  const yaml = /```yaml\n([\s\S]*?)```/.exec(README)?.[1] ?? '';
  const documents = parseAllDocuments(yaml).map((document) => document.toJS() as Document);

  it('shows a configuration that fences', () => {
    const secret = documents.find((document) => document.kind === 'Secret');
    const configMaps = documents
      .filter((document) => document.kind === 'ConfigMap')
      .map(({ metadata, data }) => ({ name: metadata.name, data: data ?? {} }));
    const configuration = configurationOf(configMaps, standardRegistry());
    const plan = resolvePlan({
      node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] },
      configuration,
      secretKeys: (name) => (name === secret?.metadata.name ? Object.keys(secret.stringData ?? {}) : undefined),
    });
    expect(plan.problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    const [off, on] = plan.powerManagement[0]?.methods ?? [];
    expect([off?.action, on?.action]).toEqual(['off', 'on']);
    if (off === undefined) throw new Error('no off');
    expect(JSON.stringify(plan)).not.toContain('change-me');
    const parameters = resolveParameters({ node: 'worker-1', method: off, configuration, secret: secret?.stringData });
    expect(parseSettings(parameters)).toMatchObject({
      host: '192.0.2.10',
      username: 'fence',
      password: 'change-me',
      cipher: '17',
      privilege: 'operator',
    });
    expect(off.device).toBe('192.0.2.10:623');
  });

  it('names every other name of the agent', () => {
    for (const alias of ipmi.aliases) expect(README).toContain(alias.replace('fence-', 'fence_').replace(/^(?!fence)/, 'fence_'));
  });

  it('names every parameter and every other spelling of it', () => {
    for (const { name, aliases } of ipmi.describe()) {
      for (const spelling of [name, ...(aliases ?? [])]) expect(README).toContain(`\`${spelling}\``);
    }
  });
});
