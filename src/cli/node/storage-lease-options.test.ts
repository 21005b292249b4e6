import { Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { storageLeaseOf, storageLeaseOptions } from './storage-lease-options.ts';
import type { StorageLeaseFlags } from './storage-lease-options.ts';

function given(...words: readonly string[]): ReturnType<typeof storageLeaseOf> {
  const command = new Command('node').exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of storageLeaseOptions((flags, _variable, description) => new Option(flags, description))) command.addOption(option);
  command.parse(words, { from: 'user' });
  return storageLeaseOf(command.opts<StorageLeaseFlags>());
}

const LEASE = ['--storage-lease', '/dev/mapper/lease', '--storage-lease-cluster', 'prod'];

it('renews no slot by itself', () => {
  expect(given()).toEqual({});
});

it('renews one every 5 s, which takes nothing down when it is lost', () => {
  expect(given(...LEASE)).toEqual({ storageLease: { path: '/dev/mapper/lease', cluster: 'prod', intervalMs: 5_000 } });
});

it('takes slot, interval and after what loss the node goes down', () => {
  const all = ['--storage-lease-slot', '0', '--storage-lease-interval', '30s', '--storage-lease-lost-timeout', '3m'];
  expect(given(...LEASE, ...all)).toEqual({
    storageLease: { path: '/dev/mapper/lease', cluster: 'prod', slot: 0, intervalMs: 30_000 },
    storageLeaseLostMs: 180_000,
  });
});

it.each<[string, string[], RegExp]>([
  ['a cluster without a lease', ['--storage-lease-cluster', 'prod'], /--storage-lease is missing/],
  ['a slot without a lease', ['--storage-lease-slot', '7'], /--storage-lease is missing/],
  ['a loss without a lease', ['--storage-lease-lost-timeout', '60s'], /--storage-lease is missing/],
  ['a lease without its cluster', LEASE.slice(0, 2), /needs --storage-lease-cluster/],
  ['a path that is not absolute', ['--storage-lease', 'lease'], /must be an absolute path/],
  ['a cluster that is no name', ['--storage-lease-cluster', 'my cluster'], /must be at most 63 letters, digits, dots and hyphens/],
  ['a slot that no lease has', [...LEASE, '--storage-lease-slot', '8191'], /must be a whole number under 8191/],
  ['a slot that is no number', [...LEASE, '--storage-lease-slot', '-1'], /must be a whole number under 8191/],
  ['a renewal twice a second', [...LEASE, '--storage-lease-interval', '500ms'], /must be a duration from 1s to 30s/],
  ['a renewal once a minute', [...LEASE, '--storage-lease-interval', '60s'], /must be a duration from 1s to 30s/],
  ['a loss within which storage may fail over', [...LEASE, '--storage-lease-lost-timeout', '59s'], /must be a duration from 60s to 1h/],
  [
    'a loss that is noticed by fewer than six renewals',
    [...LEASE, '--storage-lease-interval', '30s', '--storage-lease-lost-timeout', '179s'],
    /at least six times/,
  ],
])('refuses %s', (_, words, why) => {
  expect(() => given(...words)).toThrow(why);
});
