import { readFileSync } from 'node:fs';

import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { configurationOf } from '../../src/config/configuration.ts';
import { resolveParameters } from '../../src/config/resolve-parameters.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import type { PlanMethod } from '../../src/domain/plan.ts';
import type { Parameters } from '../../src/ports/agents.ts';
import { standardRegistry } from '../../agents/registry.ts';

interface Document {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/** The page of an agent. */
export function readmeOf(agent: string): string {
  return readFileSync(new URL(`../../agents/${agent}/README.md`, import.meta.url), 'utf8');
}

/** The off of the configuration that a page shows, and its parameters with the Secret's; the configuration fences, and no secret stands in its plan. */
export function shownOff(yaml: string): { off: PlanMethod; parameters: Parameters } {
  const documents = parseAllDocuments(yaml).map((document) => document.toJS() as Document);
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
  return { off, parameters: resolveParameters({ node: 'worker-1', method: off, configuration, secret: secret?.stringData }) };
}

export function yamlOf(readme: string): string {
  return /```yaml\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
}
