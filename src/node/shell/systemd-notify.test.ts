import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemdNotify } from './systemd-notify.ts';

const canRun = ['systemd-notify', 'python3'].every((program) => spawnSync(program, ['--version']).status === 0);
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodefence-notify-'));
  log.warn.mockReset();
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What systemd listens with; Node cannot. */
async function listener(path: string): Promise<{ heard: () => string[]; close: () => void }> {
  const program = `
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print('bound', flush=True)
while True: print(listener.recv(4096).decode().replace('\\n', ' '), flush=True)`;
  const child = spawn('python3', ['-c', program, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await vi.waitFor(() => expect(text).toContain('bound'), 15_000);
  const heard = (): string[] => text.split('\n').filter((line) => line !== '' && line !== 'bound' && !line.startsWith('BARRIER'));
  return { heard, close: () => child.kill('SIGKILL') };
}

describe.runIf(canRun)('SystemdNotify (needs systemd-notify and python3)', () => {
  it('says that it is ready, gets on and stops', async () => {
    const path = join(folder, 'notify');
    const systemd = await listener(path);
    const notify = new SystemdNotify({ environment: { ...process.env, NOTIFY_SOCKET: path, WATCHDOG_USEC: '30000000' }, log });
    await notify.ready('kept up by a controller');
    await notify.progress();
    await notify.status('cut off');
    await notify.stopping();
    await vi.waitFor(() => expect(systemd.heard()).toHaveLength(4));
    systemd.close();
    expect(systemd.heard()[0]).toMatch(/READY=1.*STATUS=kept up by a controller|STATUS=kept up by a controller.*READY=1/);
    expect(systemd.heard().slice(1)).toEqual([
      expect.stringContaining('WATCHDOG=1'),
      expect.stringContaining('STATUS=cut off'),
      expect.stringContaining('STOPPING=1'),
    ]);
    expect(log.warn.mock.calls).toEqual([]);
    expect(notify.pingIntervalMs).toBe(15_000);
  });

  it('says once what keeps systemd from hearing it', async () => {
    const notify = new SystemdNotify({ environment: { ...process.env, NOTIFY_SOCKET: join(folder, 'nobody') }, log });
    await notify.progress();
    await notify.progress();
    expect(log.warn).toHaveBeenCalledTimes(1);
  });
});

describe('SystemdNotify', () => {
  it('says nothing where systemd does not supervise it', async () => {
    const notify = new SystemdNotify({ environment: { WATCHDOG_USEC: '30000000' }, log, program: join(folder, 'nothing') });
    await notify.ready('kept');
    expect([log.warn.mock.calls, notify.pingIntervalMs]).toEqual([[], undefined]);
  });

  it('names the program that is missing', async () => {
    const program = join(folder, 'nothing');
    await new SystemdNotify({ environment: { NOTIFY_SOCKET: join(folder, 'notify') }, log, program }).ready('kept');
    expect(log.warn).toHaveBeenCalledWith('systemd does not hear of this daemon', { error: `there is no ${program}` });
  });
});
