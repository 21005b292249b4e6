import { Telemetry } from './telemetry.ts';
import type { CatalogueEntry } from './telemetry.ts';

const HEADING = `# Metrics

What \`/metrics\` of the controller serves, beside what prom-client reports of the process itself. Seconds and bytes are base units. Label values are closed sets or names from configuration; nodes, pods and machines are never labels: \`nodefence status\` and Events name them.

\`controller\` is one of preservation, health-checks, remediation, machine-remediation, metal3-remediation, node-daemons, kdump, remedies, problems. The current state of preservation and health checks is reported by every replica, that of the others by the leader only. Actions are counted by the replica that performs them.

Who may read them: [deployment.md](deployment.md#who-may-read-the-metrics).
`;

/** docs/metrics.md: every metric with its labels, from the registry itself. */
export function metricsPage(): string {
  const telemetry = new Telemetry({ version: '', freshness: () => [] });
  try {
    const rows = [['metric', 'type', 'labels', 'what'], ...telemetry.catalogue().map(cellsOf)];
    const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
    const line = (row: readonly string[]): string => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
    const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
    const [head = [], ...body] = rows;
    return `${HEADING}\n${[line(head), rule, ...body.map(line)].join('\n')}\n`;
  } finally {
    telemetry.close();
  }
}

function cellsOf({ name, type, labels, help }: CatalogueEntry): string[] {
  return [`\`${name}\``, type, labels.join(', '), help];
}
