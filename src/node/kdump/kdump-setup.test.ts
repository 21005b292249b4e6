import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEBIAN_DROP_IN, DEBIAN_UNIT } from '../checks/kdump.ts';
import { MachineFolder } from '../checks/testing/machine-folder.ts';
import { applyKdumpSetup, diffOf, planKdumpSetup } from './kdump-setup.ts';

let machine: MachineFolder;
beforeEach(() => {
  machine = new MachineFolder();
  machine.write({ 'usr/sbin/fence_kdump_send': '', 'etc/default/kdump-tools': '' });
});
afterEach(() => machine.remove());

describe('a set-up for kdump-tools', () => {
  it.each([DEBIAN_UNIT, DEBIAN_DROP_IN])('refuses where somebody else wrote %s', async (path) => {
    machine.write({ [path]: '[Unit]\n' });
    await expect(planKdumpSetup(machine.root, ['192.0.2.1'])).rejects.toThrow(`/${path} was written by somebody else`);
  });

  it('starts the program that is installed, and is complete after one call', async () => {
    await applyKdumpSetup(machine.root, await planKdumpSetup(machine.root, ['192.0.2.1']));
    expect(readFileSync(join(machine.root, DEBIAN_UNIT), 'utf8')).toContain('\nExecStart=/usr/sbin/fence_kdump_send -p 7410 ');
    expect(diffOf(await planKdumpSetup(machine.root, ['192.0.2.1']))).toBe('');
  });
});

it('says where kdump.conf sends to another port than the controllers listen on', async () => {
  machine.write({ 'etc/kdump.conf': 'fence_kdump_args -p 7411\n' });
  expect((await planKdumpSetup(machine.root, ['192.0.2.1'])).notes).toContain(
    'fence_kdump_args sends to port 7411, and the controllers listen on 7410',
  );
});

it('keeps the kdump.conf that stood there before its first call, whatever it writes later', async () => {
  const saved = (): string => readFileSync(join(machine.root, 'etc/kdump.conf.nodefence-saved'), 'utf8');
  machine.write({ 'etc/kdump.conf': 'path /var/crash\n' });
  for (const controller of ['192.0.2.1', '192.0.2.2']) {
    await applyKdumpSetup(machine.root, await planKdumpSetup(machine.root, [controller]));
    expect(saved()).toBe('path /var/crash\n');
  }
});
