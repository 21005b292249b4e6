import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format } from 'oxfmt';
import { assetsLine, findAssets } from '../../../src/testbed/control-plane/assets.ts';
import { DISTURBANCES } from './disturbances.ts';
import { played } from './played.ts';
import type { Row } from './played.ts';
import { inPage, tableOf } from './table.ts';

const PAGE = fileURLToPath(new URL('../../../docs/availability.md', import.meta.url));

/** `node test/availability/real/main.ts [--only NAME,NAME] [--write]`: a fence on a real control plane that is disturbed in the middle of it. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } });
  const only = values.only?.split(',');
  const unknown = (only ?? []).filter((name) => DISTURBANCES[name] === undefined);
  if (unknown.length > 0) throw new Error(`no disturbance ${unknown.join(', ')}: there are ${Object.keys(DISTURBANCES).join(', ')}`);
  if (values.write && only !== undefined) throw new Error('--write takes no --only: the table of the page is that of one run of all');
  if (findAssets(process.env) === undefined) throw new Error('there is no real control plane here; CONTRIBUTING.md says where one is looked for');
  process.stdout.write(`${assetsLine(process.env)}\n`);
  const rows: Row[] = [];
  for (const [name, disturbance] of Object.entries(DISTURBANCES)) {
    if (only !== undefined && !only.includes(name)) continue;
    const row = await played(name, disturbance);
    rows.push(row);
    process.stdout.write(`${name}: ${row.result.expected ? 'as it must be' : `NOT AS IT MUST BE: ${row.result.problems.join('; ')}`}\n`);
    process.stdout.write(`${JSON.stringify({ ...row, result: { timeline: row.result.timeline, leaders: row.result.leaders } })}\n`);
  }
  const table = tableOf(rows);
  process.stdout.write(`\n${table}`);
  if (values.write) {
    const page = inPage(readFileSync(PAGE, 'utf8'), table);
    writeFileSync(PAGE, (await format(PAGE, page)).code);
  }
  process.exitCode = rows.every(({ result }) => result.expected) ? 0 : 1;
}

await main();
