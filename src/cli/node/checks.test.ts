import { spawn, spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compileCache } from '../../testbed/compile-cache.ts';
import { MachineFolder } from '../../node/checks/testing/machine-folder.ts';
import { programPath } from '../../testbed/shipped/program.ts';

const MAIN = programPath('main');
let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** `nodefence node check <words>` in the machine of the test. */
function check(name: string, ...words: string[]): Promise<Ended> {
  const parameters = [MAIN, 'node', 'check', name, '--root', machine.root, '--state', machine.stateFolder, ...words];
  const child = spawn(process.execPath, parameters, { env: { PATH: '/nodefence-nothing', ...compileCache() }, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  return new Promise((resolve) => {
    // The end of stdout is what node-problem-detector waits for: no child may hold it open.
    child.once('close', (code) => resolve({ code, ...said }));
  });
}

describe('nodefence node check', { timeout: 60_000 }, () => {
  it('ends with 0 and one line where nothing is wrong', async () => {
    machine.write({ 'sys/class/watchdog/watchdog0/state': 'active\n', 'sys/class/watchdog/watchdog0/identity': 'iTCO_wdt\n' });
    expect(await check('watchdog', '--hardware')).toEqual({ code: 0, out: 'armed: watchdog0 (iTCO_wdt)\n', err: '' });
  });

  it('takes the controllers of a crash kernel as kdump-setup does, with commas too', async () => {
    machine.write({
      'sys/kernel/kexec_crash_loaded': '1\n',
      'sys/kernel/kexec_crash_size': '268435456\n',
      'etc/kdump.conf': 'fence_kdump_nodes 192.0.2.1 192.0.2.2\n',
    });
    const armed = { code: 0, out: 'kdump is armed, and notifies 192.0.2.1, 192.0.2.2\n', err: '' };
    expect(await check('kdump', '--controller', '192.0.2.1,192.0.2.2')).toEqual(armed);
    expect(await check('kdump', '--controller', '192.0.2.1', '--controller', '192.0.2.2,192.0.2.3')).toMatchObject({
      code: 1,
      out: 'kdump is armed, and does not notify 192.0.2.3\n',
    });
  });

  it('ends with 1 where something is wrong', async () => {
    machine.write({ 'sys/class/watchdog/watchdog0/state': 'inactive\n' });
    expect(await check('watchdog')).toEqual({ code: 1, out: 'not armed: watchdog0 (?)\n', err: '' });
  });

  it.each([
    ['storage', 'not checked: no mount or device is named, and there is no multipath, FC or iSCSI'],
    ['kdump', 'not checked: this kernel tells nothing of kdump'],
    ['hardware', 'not checked: this kernel counts no memory errors (no EDAC driver)'],
    ['bmc', 'not checked: there is no /dev/ipmi0 (modules ipmi_si, ipmi_devintf)'],
    ['previous-boot', 'not checked: when this boot began is not told (/proc/stat)'],
    ['watchdog', 'not checked: this node has no watchdog'],
  ])('of %s ends with 2 on a machine that has none of it', async (name, sentence) => {
    const { code, out } = await check(name);
    expect({ code, out: out.slice(0, 77) }).toEqual({ code: 2, out: sentence.length < 77 ? `${sentence}\n` : sentence.slice(0, 77) });
  });

  it('says on stderr what does not fit into the line', async () => {
    const path = `/mnt/${'long/'.repeat(30)}`;
    machine.mount('/mnt/other');
    const { code, out, err } = await check('storage', '--mount', path);
    expect({ code, length: out.length, err }).toEqual({ code: 1, length: 81, err: `not mounted: ${path}\n` });
  });

  it('tries every device that is named, however many they are', async () => {
    const devices = Array.from({ length: 10 }, (_, index) => `/dev/shared-${index}`);
    for (const device of devices) machine.write({ [device.slice(1)]: 'x'.repeat(4_096) });
    const { code, out } = await check('storage', '--deadline', '20', ...devices.flatMap((device) => ['--device', device]));
    expect([code, out]).toEqual([0, '10 storage targets answered\n']);
  });

  it('ends within its deadline though the storage hangs, and its output too', async () => {
    machine.write({ 'dev/placed': '' });
    expect(spawnSync('mkfifo', [`${machine.root}/dev/shared`]).status).toBe(0);
    expect(await check('storage', '--device', '/dev/shared', '--deadline', '1')).toMatchObject({ code: 1, out: 'no answer for 1 s: /dev/shared\n' });
  });

  it('is unknown, and no crash, where its memory cannot be written', async () => {
    machine.write({ 'run/nodefence': 'a file', 'sys/devices/system/edac/mc/mc0/ce_count': '1\n', 'sys/devices/system/edac/mc/mc0/ue_count': '0\n' });
    const { code, out } = await check('hardware');
    expect({ code, out }).toEqual({ code: 2, out: expect.stringMatching(/^not checked: .*$/m) as string });
  });

  it('of the previous boot makes no Event of what it could not check', async () => {
    expect(await check('previous-boot', '--once')).toMatchObject({ code: 0, out: 'not checked: when this boot began is not told (/proc/stat)\n' });
  });

  it.each([['no-such'], ['storage', '--deadline', '0'], ['hardware', '--corrected', '-1'], ['storage', 'extra']])(
    'ends with 2 at wrong usage: %s %s',
    async (name, ...words) => {
      expect(await check(name, ...words)).toMatchObject({ code: 2, out: '' });
    },
  );
});
