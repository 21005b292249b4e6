import { Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { storageOf, storageOptions } from './storage-options.ts';
import type { StorageFlags } from './storage-options.ts';

function given(...words: readonly string[]): ReturnType<typeof storageOf> {
  const command = new Command('node').exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of storageOptions((flags, _variable, description) => new Option(flags, description))) command.addOption(option);
  command.parse(words, { from: 'user' });
  return storageOf(command.opts<StorageFlags>());
}

it('names no storage by itself', () => {
  expect(given()).toEqual({ storage: [] });
});

it('takes several, given one by one or with commas between them', () => {
  expect(
    given('--storage-mount', '/mnt/a,/mnt/b', '--storage-mount', '/mnt/c', '--storage-device', '/dev/d', '--storage-lost-timeout', '2m'),
  ).toEqual({
    storage: [
      { kind: 'mount', path: '/mnt/a' },
      { kind: 'mount', path: '/mnt/b' },
      { kind: 'mount', path: '/mnt/c' },
      { kind: 'device', path: '/dev/d' },
    ],
    storageLostMs: 120_000,
  });
});

it.each<[string, string[]]>([
  ['a path that is not absolute', ['--storage-mount', 'mnt']],
  ['more than can hang beside each other', ['--storage-device', '/1,/2,/3,/4,/5,/6,/7']],
  ['a time in which three probes do not fit', ['--storage-lost-timeout', '59s']],
  ['no time', ['--storage-lost-timeout', 'soon']],
])('refuses %s', (_, words) => {
  expect(() => given(...words)).toThrow(/must be/);
});
