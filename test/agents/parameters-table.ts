import type { AgentDefinition } from '../../src/ports/agents.ts';

/** The table of parameters on an agent's page, from the agent's own description of them. */
export function parametersTable(definition: AgentDefinition): string {
  const rows = definition.describe().map(({ name, aliases = [], required, secret, description, default: preset }) => {
    const others = aliases.length === 0 ? '' : ` (${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
    const value = required ? 'required' : (preset ?? '');
    return `| \`${name}\`${others} | ${value} | ${description}${secret ? ' Secret.' : ''} |`;
  });
  return ['| name (also) | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The first table under the heading `## Parameters`, whatever its column widths. */
export function tableOf(readme: string): string {
  const lines = (/^## Parameters\n+((?:\|.*\n)+)/mu.exec(readme)?.[1] ?? '').trim().split('\n');
  return lines
    .map((line) =>
      line
        .replaceAll(/ {2,}/g, ' ')
        .replaceAll(/-{2,}/g, '---')
        .replaceAll(/\|\s+\|/g, '|  |'),
    )
    .join('\n');
}
