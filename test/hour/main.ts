import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { actsOf } from './page.ts';
import { played } from './play.ts';
import { Site } from './site.ts';

/** `node test/hour/main.ts [--api real] [--write] PAGE`: plays what a page shows, and prints or writes it with what was said this time. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { api: { type: 'string', default: 'embedded' }, write: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [name = 'docs/first-hour.md'] = positionals;
  const path = resolve(join(import.meta.dirname, '..', '..'), name);
  const page = readFileSync(path, 'utf8');
  const site = new Site(values.api === 'real' ? 'real' : 'embedded');
  try {
    await site.start();
    const answers = await played(site, actsOf(page), (words) => process.stdout.write(`${words}\n`));
    if (values.write) writeFileSync(path, answers.inPage(page));
  } finally {
    await site.stop();
  }
}

await main();
