import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkKdump, DEBIAN_DROP_IN, DEBIAN_UNIT } from '../../node/checks/kdump.ts';
import { MachineFolder } from '../../node/checks/testing/machine-folder.ts';
import { programPath } from '../../testbed/shipped/program.ts';

const MAIN = programPath('main');
const ARMED = { 'sys/kernel/kexec_crash_loaded': '1\n', 'sys/kernel/kexec_crash_size': '268435456\n' };
const SENDER = { 'usr/libexec/fence-agents/fence_kdump_send': '' };
const HAND = 'path /var/crash\nfence_kdump_nodes pcmk-1\n';
let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

function setUp(...words: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [MAIN, 'node', 'kdump-setup', '--root', machine.root, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...said })));
}
const read = (path: string): string => readFileSync(join(machine.root, path), 'utf8');

describe('nodefence node kdump-setup', { timeout: 60_000 }, () => {
  it('shows with --dry-run what it would write, and writes nothing', async () => {
    machine.write({ ...SENDER, 'etc/kdump.conf': HAND });
    expect(await setUp('--controller', '192.0.2.1,192.0.2.2', '--dry-run')).toEqual({
      code: 0,
      out: [
        '--- /etc/kdump.conf',
        '+++ /etc/kdump.conf',
        ' path /var/crash',
        '-fence_kdump_nodes pcmk-1',
        '+# nodefence node kdump-setup added: 192.0.2.1 192.0.2.2',
        '+fence_kdump_nodes pcmk-1 192.0.2.1 192.0.2.2',
        '',
      ].join('\n'),
      err: 'nothing was written (--dry-run)\n',
    });
    expect(read('etc/kdump.conf')).toBe(HAND);
  });

  it('writes kdump.conf once, saves what was there, and keeps its mode', async () => {
    machine.write({ ...ARMED, ...SENDER, 'etc/kdump.conf': HAND });
    chmodSync(join(machine.root, 'etc/kdump.conf'), 0o600);
    const { code, err } = await setUp('--controller', '192.0.2.1', '--controller', '192.0.2.2');
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('systemctl restart kdump') as string });
    expect(await checkKdump(machine.root, ['192.0.2.1', '192.0.2.2', 'pcmk-1'])).toMatchObject({ health: 'ok' });
    expect(read('etc/kdump.conf.nodefence-saved')).toBe(HAND);
    expect(statSync(join(machine.root, 'etc/kdump.conf')).mode & 0o777).toBe(0o600);
    expect(await setUp('--controller', '192.0.2.1,192.0.2.2')).toEqual({ code: 0, out: 'nothing to do: it stands there already\n', err: '' });
  });

  it('writes a unit that kdump-tools pulls in on Debian, and writes it anew for other controllers', async () => {
    machine.write({ ...ARMED, ...SENDER, 'etc/default/kdump-tools': 'USE_KDUMP=1\n' });
    expect((await setUp('--controller', '192.0.2.1')).code).toBe(0);
    expect((await setUp('--controller', '192.0.2.2')).code).toBe(0);
    expect(await checkKdump(machine.root, [])).toMatchObject({ health: 'ok', kdump: { notifies: ['192.0.2.2'] } });
    expect(existsSync(join(machine.root, `${DEBIAN_UNIT}.nodefence-saved`))).toBe(false);
  });

  it('leaves a unit that somebody else wrote', async () => {
    machine.write({ ...SENDER, 'etc/default/kdump-tools': '', [DEBIAN_DROP_IN]: '[Unit]\nWants=mine.service\n' });
    const { code, err } = await setUp('--controller', '192.0.2.1');
    expect({ code, err }).toEqual({ code: 1, err: `nodefence: /${DEBIAN_DROP_IN} was written by somebody else: move it away first\n` });
    expect(existsSync(join(machine.root, DEBIAN_UNIT))).toBe(false);
  });

  it.each<[string, Record<string, string>, string]>([
    ['kdump', SENDER, 'kdump is not installed here'],
    ['fence_kdump_send', { 'etc/kdump.conf': HAND }, 'fence_kdump_send is not installed here'],
  ])('says that %s is missing', async (_, files, words) => {
    machine.write(files);
    const { code, err } = await setUp('--controller', '192.0.2.1');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(words) as string });
  });

  it.each([[[]], [['--controller', '']], [['--controller', '-v']], [['--controller', 'a b']], [['--controller', 'a;reboot']]])(
    'ends with 2 at wrong usage: %j',
    async (words) => {
      machine.write({ ...SENDER, 'etc/kdump.conf': HAND });
      expect((await setUp(...words)).code).toBe(2);
      expect(read('etc/kdump.conf')).toBe(HAND);
    },
  );
});
