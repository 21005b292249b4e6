import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { ethernetSwitch } from '../../agents/ethernet-switch/definition.ts';
import { fcSwitch } from '../../agents/fc-switch/definition.ts';
import { standardRegistry } from '../../agents/registry.ts';
import { ssh } from '../../agents/ssh/definition.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { resolveParameters } from '../../src/config/resolve-parameters.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import { parametersTable, tableOf } from './parameters-table.ts';
import { readmeOf, yamlOf } from './readme.ts';

interface Document {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

describe.each([
  [ethernetSwitch, 'off', '192.0.2.20:22', ['Ethernet7', 'Ethernet8']],
  [fcSwitch, 'off', '192.0.2.30:22', ['7']],
  [ssh, 'run', '192.0.2.40:22', ['']],
] as const)('the README of $name', (definition, action, device, plugs) => {
  const readme = readmeOf(definition.name);

  it('shows a configuration that isolates, and no secret in its plan', () => {
    const documents = parseAllDocuments(yamlOf(readme)).map((document) => document.toJS() as Document);
    const secret = documents.find(({ kind }) => kind === 'Secret');
    const maps = documents.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata, data = {} }) => ({ name: metadata.name, data }));
    const configuration = configurationOf(maps, standardRegistry());
    const plan = resolvePlan({
      node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] },
      configuration,
      secretKeys: (name) => (name === secret?.metadata.name ? Object.keys(secret.stringData ?? {}) : undefined),
    });
    expect(plan.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const methods = plan.isolation.flatMap((level) => level.methods);
    expect(methods.map((method) => [method.action, method.device, method.plug])).toEqual(plugs.map((plug) => [action, device, plug]));
    expect(JSON.stringify(plan)).not.toContain('change-me');
    for (const method of methods)
      expect(definition.check(resolveParameters({ node: 'worker-1', method, configuration, secret: secret?.stringData }), true)).toEqual([]);
  });

  it('has the table of parameters that the agent describes', () => {
    expect(tableOf(readme)).toBe(parametersTable(definition));
  });
});
