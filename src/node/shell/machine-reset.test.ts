import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Logger } from '../../ports/recorder.ts';
import { SysrqReset } from './machine-reset.ts';

let root: string;
let lines: { message: string; fields: unknown }[];
const note = (message: string, fields?: unknown): void => void lines.push({ message, fields });
const logger: Logger = { debug: note, info: note, warn: note, error: note };
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'nodefence-reset-'));
  lines = [];
  for (const folder of ['dev', 'proc/sys/kernel']) mkdirSync(join(root, folder), { recursive: true });
  for (const file of ['dev/kmsg', 'proc/sys/kernel/sysrq', 'proc/sysrq-trigger']) writeFileSync(join(root, file), '');
  writeFileSync(join(root, 'reboot'), `#!/bin/sh\necho "$@" > ${root}/rebooted\n`);
  chmodSync(join(root, 'reboot'), 0o700);
});
// The program that stands in for reboot may still write there.
afterEach(() => rmSync(root, { recursive: true, maxRetries: 10, retryDelay: 100 }));

it('says why in the kernel log, enables sysrq and triggers the reset before it returns', () => {
  new SysrqReset({ root, logger, reboot: [join(root, 'reboot'), '-ff'] }).reset('cut off\nfor good');
  expect(text('dev/kmsg')).toBe('<2>nodefence: this node takes itself down: cut off for good\n');
  expect([text('proc/sys/kernel/sysrq'), text('proc/sysrq-trigger')]).toEqual(['1', 'b']);
});

it('reboots by a program where the kernel did not', async () => {
  new SysrqReset({ root, logger, reboot: [join(root, 'reboot'), '-ff'] }).reset('cut off');
  await vi.waitFor(() => expect(text('rebooted')).toBe('-ff\n'));
});

it('goes on to the next way where one cannot be written', async () => {
  for (const file of ['dev/kmsg', 'proc/sys/kernel/sysrq', 'proc/sysrq-trigger']) rmSync(join(root, file));
  new SysrqReset({ root, logger, reboot: [join(root, 'reboot'), '-ff'] }).reset('cut off');
  await vi.waitFor(() => expect(existsSync(join(root, 'rebooted'))).toBe(true));
  expect(lines[0]).toMatchObject({ message: 'sysrq did not reset the machine; trying reboot -ff', fields: { reason: 'cut off' } });
  expect(JSON.stringify(lines[0]?.fields).match(/ENOENT/g)).toHaveLength(3);
});

it('returns and says so where nothing can be done', async () => {
  new SysrqReset({ root, logger, reboot: [join(root, 'nothing-there')] }).reset('cut off');
  await vi.waitFor(() => expect(lines.at(-1)?.message).toBe('reboot -ff could not be started either'));
});

it('starts no program by itself where the root is not that of the machine', () => {
  new SysrqReset({ root, logger }).reset('cut off');
  expect(text('proc/sysrq-trigger')).toBe('b');
  expect(lines).toEqual([]);
});

it('refuses the real machine in a test', () => {
  expect(() => new SysrqReset({ root: '/', logger })).toThrow('a test must not be able to reset its machine');
});
