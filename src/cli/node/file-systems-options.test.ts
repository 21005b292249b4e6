import { Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { fileSystemsOf, fileSystemsOptions } from './file-systems-options.ts';
import type { FileSystemsFlags } from './file-systems-options.ts';

function given(...words: readonly string[]): ReturnType<typeof fileSystemsOf> {
  const command = new Command('node').exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of fileSystemsOptions((flags, _variable, description) => new Option(flags, description))) command.addOption(option);
  command.parse(words, { from: 'user' });
  return fileSystemsOf(command.opts<FileSystemsFlags>());
}

it('looks at no file system unless it is asked to', () => {
  expect(given()).toEqual({});
  expect(given('--verify-file-systems')).toEqual({ fileSystems: { written: [], byDesign: [] } });
});

it('takes folders that are written to, and mount points that are read-only by design', () => {
  expect(given('--verify-file-systems', '--verify-written', '/data,/log', '--read-only-by-design', '/usr')).toEqual({
    fileSystems: { written: ['/data', '/log'], byDesign: ['/usr'] },
  });
});

it.each<[string, string[], RegExp]>([
  ['folders without the look', ['--verify-written', '/data'], /--verify-file-systems is missing/],
  ['read-only mount points without the look', ['--read-only-by-design', '/usr'], /--verify-file-systems is missing/],
  ['a path that is not absolute', ['--verify-file-systems', '--verify-written', 'data'], /must be absolute paths/],
  ['more than are written to at once', ['--verify-file-systems', '--verify-written', '/1,/2,/3,/4,/5'], /must be at most 4 paths/],
])('refuses %s', (_, words, why) => {
  expect(() => given(...words)).toThrow(why);
});
