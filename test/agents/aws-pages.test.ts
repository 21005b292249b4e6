import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { aws, awsSecurityGroup, awsVolume } from '../../agents/aws/definition.ts';
import type { AgentDefinition } from '../../src/ports/agents.ts';
import { parametersTable, tableOf } from './parameters-table.ts';
import { shownOff, yamlOf } from './readme.ts';

const PAGES: readonly (readonly [file: string, definition: AgentDefinition])[] = [
  ['README.md', aws],
  ['volumes.md', awsVolume],
  ['security-groups.md', awsSecurityGroup],
];

describe.each(PAGES)('the page %s of aws', (file, definition) => {
  const page = readFileSync(new URL(`../../agents/aws/${file}`, import.meta.url), 'utf8');

  it('shows a configuration that stops the instance', () => {
    expect(shownOff(yamlOf(page)).off).toMatchObject({ agent: 'aws', plug: 'i-0123456789abcdef0', secret: 'secret-fence-aws' });
  });

  it('has the table of parameters that the agent describes', () => {
    expect(tableOf(page)).toBe(parametersTable(definition));
  });
});
