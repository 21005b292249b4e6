import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('every reason in the table of importances is one that the program says: a renamed one would lose its place without a word', async () => {
  const root = new URL('../../src/', import.meta.url).pathname;
  const table = await readFile(join(root, 'kube/events/importance.ts'), 'utf8');
  const reasons = [...table.matchAll(/^ {2}'([A-Z]\w+)',$/gmu)].map(([, reason = '']) => reason);
  const files = (await readdir(root, { recursive: true })).filter((name) => /^(?:domain|controllers)\/.*(?<!\.test)\.ts$/u.test(name));
  const sources = (await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')))).join('\n');
  expect(reasons.length).toBeGreaterThan(15);
  expect(reasons.filter((reason) => !sources.includes(`'${reason}'`))).toEqual([]);
});
