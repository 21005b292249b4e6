import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const KEY_MAKER = 'ssh-keygen';
const SSHD = '/usr/sbin/sshd';
const PRIVILEGE_FOLDER = '/run/sshd';
const WAIT_MS = 30_000;
const ATTEMPTS = 5;
export const PASSPHRASE = 'open sesame, please';

/** Tests against the real server are skipped where Debian's `openssh-server` is missing. */
export const isSshdThere = existsSync(SSHD) && spawnSync('which', [KEY_MAKER], { stdio: 'ignore' }).status === 0;

export interface OpenSshd {
  port: number;
  username: string;
  /** Of the client, which the server lets in. */
  privateKey: string;
  lockedKey: string;
  strangersKey: string;
  /** known_hosts lines for `[127.0.0.1]:port`. */
  knownHosts: Record<'ed25519' | 'rsa' | 'hashed', string>;
  fingerprint: string;
  folder: string;
  /** Processes of this server that carry a connection now. */
  connections(): number;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function makeKey(folder: string, name: string, type: string, passphrase: string): void {
  const bits = type === 'rsa' ? ['-b', '2048'] : [];
  execFileSync(KEY_MAKER, ['-q', '-t', type, ...bits, '-N', passphrase, '-C', 'test', '-f', join(folder, name)]);
}

/** Somebody else may take the port between the look and the start; then it is another one. */
async function startOnFreePort(folder: string, options: readonly string[]): Promise<{ child: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const log = { text: '' };
    const child = start(folder, port, options, log);
    const deadline = performance.now() + WAIT_MS;
    while (!log.text.includes('Server listening') && child.exitCode === null && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (log.text.includes('Server listening')) return { child, port };
    child.kill('SIGKILL');
    if (attempt >= ATTEMPTS || !log.text.includes('Address already in use')) throw new Error(`sshd did not start: ${log.text}`);
  }
}

function start(folder: string, port: number, options: readonly string[], log: { text: string }): ChildProcess {
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host_ed25519')}`,
    `HostKey ${join(folder, 'host_rsa')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'UsePAM no',
    'StrictModes no',
    'PidFile none',
    ...options,
  ];
  writeFileSync(join(folder, 'sshd_config'), `${lines.join('\n')}\n`);
  const child = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.on('data', (chunk: Buffer) => (log.text += chunk.toString()));
  return child;
}

/** OpenSSH's server on a port of its own, for the user that runs the tests, with host keys made for it. */
export async function startOpenSshd(options: readonly string[] = []): Promise<OpenSshd> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-sshd-'));
  if (userInfo().uid === 0) mkdirSync(PRIVILEGE_FOLDER, { recursive: true, mode: 0o755 });
  for (const [name, type, passphrase] of [
    ['host_ed25519', 'ed25519', ''],
    ['host_rsa', 'rsa', ''],
    ['client', 'ed25519', ''],
    ['locked', 'ed25519', PASSPHRASE],
    ['stranger', 'ed25519', ''],
  ] as const)
    makeKey(folder, name, type, passphrase);
  const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
  writeFileSync(join(folder, 'authorized'), text('client.pub') + text('locked.pub'));
  chmodSync(join(folder, 'authorized'), 0o600);
  const { child, port } = await startOnFreePort(folder, options);
  const keyOf = (name: string): string => text(`${name}.pub`).split(' ').slice(0, 2).join(' ');
  writeFileSync(join(folder, 'known'), `[127.0.0.1]:${port} ${keyOf('host_ed25519')}\n`);
  execFileSync(KEY_MAKER, ['-q', '-H', '-f', join(folder, 'known')], { stdio: 'ignore' });
  return {
    port,
    username: userInfo().username,
    privateKey: text('client'),
    lockedKey: text('locked'),
    strangersKey: text('stranger'),
    knownHosts: {
      ed25519: `[127.0.0.1]:${port} ${keyOf('host_ed25519')}`,
      rsa: `[127.0.0.1]:${port} ${keyOf('host_rsa')}`,
      hashed: text('known'),
    },
    fingerprint: execFileSync(KEY_MAKER, ['-l', '-f', join(folder, 'host_ed25519.pub')], { encoding: 'utf8' }).split(' ')[1] ?? '',
    folder,
    connections: () => {
      const found = spawnSync('ps', ['--ppid', String(child.pid), '-o', 'pid=,stat='], { encoding: 'utf8' }).stdout;
      return found.split('\n').filter((line) => line.trim() !== '' && !line.includes('Z')).length;
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      if (child.exitCode === null) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
