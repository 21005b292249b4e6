import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import type { AgentDefinition } from '../../src/ports/agents.ts';
import { parametersTable, tableOf } from './parameters-table.ts';
import { readmeOf, yamlOf } from './readme.ts';

interface Document {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

function definitionOf(name: string): AgentDefinition {
  const definition = standardRegistry().find(name);
  if (definition === undefined) throw new Error(`no agent ${name}`);
  return definition;
}

describe.each([
  'metal3',
  'kubevirt',
  'ceph',
  'storage',
  'scsi',
  'ack',
  'watchdog',
  'node-daemon',
  'aws',
  'azure',
  'gce',
  'vsphere',
  'ovirt',
  'proxmox',
])('the page of %s', (name) => {
  it('shows a configuration that fences by it, with no secret in its plan', () => {
    const documents = parseAllDocuments(yamlOf(readmeOf(name))).map((document) => document.toJS() as Document);
    const secrets = new Map(documents.filter(({ kind }) => kind === 'Secret').map(({ metadata, stringData = {} }) => [metadata.name, stringData]));
    const configMaps = documents.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata, data = {} }) => ({ name: metadata.name, data }));
    const plan = resolvePlan({
      node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] },
      configuration: configurationOf(configMaps, standardRegistry()),
      secretKeys: (secret) => (secrets.has(secret) ? Object.keys(secrets.get(secret) ?? {}) : undefined),
    });
    expect(plan.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const methods = [...plan.isolation, ...plan.powerManagement, ...plan.recovery].flatMap((level) => level.methods);
    expect(methods.filter(({ agent }) => agent === name).length).toBeGreaterThan(0);
    expect(JSON.stringify(plan)).not.toContain('change-me');
  });

  it('has the table of parameters that the agent describes', () => {
    expect(tableOf(readmeOf(name))).toBe(parametersTable(definitionOf(name)));
  });

  it('says what to do about each failure', () => {
    expect(readmeOf(name)).toMatch(/^## When it fails\n\n\|.*\| do +\|$/mu);
  });
});
