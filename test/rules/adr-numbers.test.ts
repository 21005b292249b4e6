import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('each decision has a number of its own, which its title says: two of one number are cited as one', async () => {
  const root = new URL('../../docs/adr/', import.meta.url).pathname;
  const files = (await readdir(root)).filter((name) => /^\d{4}-.*\.md$/u.test(name));
  const numbers = files.map((name) => Number(name.slice(0, 4)));
  expect(files.length).toBeGreaterThan(30);
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  const titles = await Promise.all(files.map(async (name) => Number.parseInt((await readFile(join(root, name), 'utf8')).slice(2), 10)));
  expect(titles).toEqual(numbers);
});
