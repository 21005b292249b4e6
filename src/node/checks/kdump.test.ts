import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkKdump, DEBIAN_DROP_IN, DEBIAN_UNIT, notifiedByConfig, notifiedByUnit } from './kdump.ts';
import { MachineFolder } from './testing/machine-folder.ts';

let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

const ARMED = {
  'sys/kernel/kexec_crash_loaded': '1\n',
  'sys/kernel/kexec_crash_size': '268435456\n',
  'proc/sys/kernel/osrelease': '5.14.0-1.el9.x86_64\n',
};
const RHEL = 'path /var/crash\n# fence_kdump_nodes old\nfence_kdump_nodes 192.0.2.1 192.0.2.2 # both\nfence_kdump_args -p 7410 -f auto -c 0 -i 10\n';
const UNIT = '[Service]\nExecStart=/usr/libexec/fence-agents/fence_kdump_send -p 7410 -f auto -c 0 -v -i 5 192.0.2.1 192.0.2.2\n';
const sentence = async (...controllers: string[]): Promise<string> => (await checkKdump(machine.root, controllers)).sentence;

describe('kdump', () => {
  it('is armed and notifies the controllers on RHEL', async () => {
    machine.write({ ...ARMED, 'etc/kdump.conf': RHEL });
    expect(await checkKdump(machine.root, ['192.0.2.2'])).toEqual({
      health: 'ok',
      sentence: 'kdump is armed, and notifies 192.0.2.1, 192.0.2.2',
      kdump: { isArmed: true, notifies: ['192.0.2.1', '192.0.2.2'] },
    });
  });

  it('is armed and notifies the controllers on Debian by our unit', async () => {
    machine.write({ ...ARMED, [DEBIAN_DROP_IN]: '[Unit]\nWants=nodefence-kdump-notify.service\n', [DEBIAN_UNIT]: UNIT });
    expect(await checkKdump(machine.root, ['192.0.2.1', '192.0.2.2'])).toMatchObject({ health: 'ok' });
  });

  it('notifies nobody by a unit that nothing pulls in', async () => {
    machine.write({ ...ARMED, [DEBIAN_UNIT]: UNIT });
    expect(await checkKdump(machine.root, [])).toMatchObject({ health: 'problem', sentence: 'kdump is armed, and notifies nobody (fence_kdump)' });
  });

  it('is a problem where a controller is not notified', async () => {
    machine.write({ ...ARMED, 'etc/kdump.conf': RHEL });
    expect(await sentence('192.0.2.1', '192.0.2.3')).toBe('kdump is armed, and does not notify 192.0.2.3');
  });

  it('is a problem where no crash kernel is loaded, or there is no room for one', async () => {
    machine.write({ ...ARMED, 'etc/kdump.conf': RHEL, 'sys/kernel/kexec_crash_loaded': '0\n' });
    expect(await sentence()).toBe('kdump is not armed: no crash kernel is loaded');
    machine.write({ 'sys/kernel/kexec_crash_size': '0\n' });
    expect(await sentence()).toBe('kdump is not armed: no memory is reserved (crashkernel=)');
  });

  it('is a problem where its configuration is newer than the initramfs that it must stand in', async () => {
    machine.write({ ...ARMED, 'etc/kdump.conf': RHEL });
    machine.write({ 'boot/initramfs-5.14.0-1.el9.x86_64kdump.img': '' }, Date.UTC(2020, 0, 1));
    expect(await sentence()).toBe('kdump.conf is newer than the crash initramfs: restart kdump');
    machine.write({ 'etc/kdump.conf': RHEL }, Date.UTC(2019, 0, 1));
    expect(await checkKdump(machine.root, [])).toMatchObject({ health: 'ok' });
  });

  it('is unknown where the kernel has none', async () => {
    expect(await checkKdump(machine.root, [])).toEqual({ health: 'unknown', sentence: 'not checked: this kernel tells nothing of kdump' });
  });
});

describe('whom it notifies', () => {
  it('is the last fence_kdump_nodes', () => {
    expect(notifiedByConfig('fence_kdump_nodes a\nfence_kdump_nodes b c\n')).toEqual(['b', 'c']);
    expect(notifiedByConfig('#fence_kdump_nodes a\nfence_kdump_nodesx a\n')).toBeUndefined();
  });

  it('is what stands behind the options of fence_kdump_send', () => {
    expect(notifiedByUnit(UNIT)).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(notifiedByUnit('ExecStart=-/usr/sbin/fence_kdump_send a\n')).toEqual(['a']);
    expect(notifiedByUnit('ExecStart=/bin/true a\n')).toBeUndefined();
  });

  it('is nobody that does not stand in the text, whatever the text', () => {
    const words = fc.array(fc.constantFrom('fence_kdump_nodes', 'ExecStart=', '/x/fence_kdump_send', '-p', '7410', 'a', '#', ' ', '\n', '\r'), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(words, fc.string(), (parts, noise) => {
        const text = parts.join('') + noise;
        expect([...(notifiedByConfig(text) ?? []), ...(notifiedByUnit(text) ?? [])].every((host) => text.includes(host) && !/\s/.test(host))).toBe(
          true,
        );
      }),
    );
  });
});
