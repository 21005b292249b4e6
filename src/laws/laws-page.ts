import { LAW_NAMES } from './law.ts';
import type { LawName } from './law.ts';
import { EVIDENCE, STATEMENTS } from './statements.ts';

const HEADING = `# The eleven laws

What nodefence must never do, whatever fails around it. Code and tests cite these laws by number. They are judged from outside: the judge reads what the devices, the audit log of the API server, the shared disk and the power supply recorded, never the memory of a controller. The judge is [src/laws](../src/laws); it shares types with what it judges, and neither code nor constants.

Runs are judged in three places:

- the simulation (\`npm run -s simulate\`), every world: [test/simulation](../test/simulation/README.md);
- the drill (\`npm run -s drill\`), every fault, with real processes; those of node daemons without root on a virtual clock: [src/drill](../src/drill);
- the scenarios of the test suite: [test/scenarios](../test/scenarios).

Each law has tests of its own beside its file, which hand the judge a trace that breaks the law. All three judgements count one more thing that no single law names: how often a volume had two writers. It must be never.
`;

/** docs/laws.md: every law with its reason and its checks. */
export function lawsPage(): string {
  return [HEADING, ...LAW_NAMES.map(section), evidenceTable()].join('\n');
}

function section(name: LawName): string {
  const { title, law, rules, why, checks, notSeen, file } = STATEMENTS[name];
  const rest = notSeen === undefined ? '' : `\n${notSeen}\n`;
  return `## ${name}: ${title.toLowerCase()}

**${law}**

${list(rules)}
Why: ${why}

Checked in every run ([${file}](../src/laws/${file})):

${list(checks)}${rest}`;
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}\n`).join('');
}

function evidenceTable(): string {
  const rows = EVIDENCE.map(({ kind, grade, proves, needs }) => [`\`${kind}\``, grade, proves, needs]);
  const all = [['kind', 'grade', 'proves', 'needs'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  const [head = [], ...body] = all;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`;
  return `## Evidence

Grades: \`read-back\` is read from a device or control plane, \`person\` is the word of a person, \`inferred\` is concluded from what else is seen.

${line(head)}${rule}${body.map(line).join('')}`;
}
