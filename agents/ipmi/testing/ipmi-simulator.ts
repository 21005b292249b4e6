import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Target } from '../../../src/ports/agents.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url);
const WAIT_MS = 60_000;
const SIMULATOR = 'ipmi_sim';

/** Tests against the real programs are skipped where Debian's `ipmitool` and `openipmi` are missing. */
export const areProgramsThere = ['ipmitool', SIMULATOR].every((program) => spawnSync('which', [program], { stdio: 'ignore' }).status === 0);

/** With a quote, since it is typed; a blank is more than the simulator's own configuration can hold. */
export const PASSWORD = "tr0ub4dor&3'x";

/** Waits for a condition, not for a time. */
export async function until(isSo: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come to pass in ${WAIT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

/** Process ids of the ipmitool shells that talk to this port, of this process or of one that is gone. */
export function shellsOf(port: number): number[] {
  return processes().filter((pid) => {
    const line = read(`/proc/${pid}/cmdline`).split('\0');
    return /(?:^|\/)ipmitool$/.test(line[0] ?? '') && line.includes(String(port));
  });
}

function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Empty when the process has ended meanwhile. */
export function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

export interface Simulator {
  readonly port: number;
  fault(name: 'lie' | 'slow' | 'fail_get' | 'fail_set', value: string | undefined): void;
  /** The power as the simulator's own supply has it. */
  power(): 'on' | 'off';
  turn(power: 'on' | 'off'): void;
  /** What the supply was asked to do, e.g. `set power 0`. */
  calls(): string[];
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): Promise<void>;
  start(): Promise<void>;
  target(changes?: Partial<Target>): Target;
  dispose(): Promise<void>;
}

/** One BMC of OpenIPMI's simulator, on a port of its own. `guid`: 32 hexadecimal digits in wire order; it opens no session without one. */
export async function startSimulator(guid = '0'.repeat(32)): Promise<Simulator> {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-ipmi-'));
  const port = await freePort();
  mkdirSync(join(folder, 'state'));
  const values: Record<string, string> = {
    PORT: String(port),
    DIR: folder,
    PASSWORD,
    GUID: guid,
  };
  for (const name of ['lan.conf', 'sim.emu', 'chassis.sh']) {
    const text = readFileSync(new URL(name, FIXTURES), 'utf8').replaceAll(/@([A-Z]+)@/g, (_, key: string) => values[key] ?? '');
    writeFileSync(join(folder, name), text);
  }
  chmodSync(join(folder, 'chassis.sh'), 0o755);
  let child: ChildProcess | undefined;
  const simulator: Simulator = {
    port,
    fault: (name, value) => (value === undefined ? rmSync(join(folder, name), { force: true }) : writeFileSync(join(folder, name), value)),
    power: () => (read(join(folder, 'power')).trim() === '1' ? 'on' : 'off'),
    turn: (power) => writeFileSync(join(folder, 'power'), power === 'on' ? '1\n' : '0\n'),
    calls: () =>
      read(join(folder, 'calls.log'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.replace(/^\S+ /, '')),
    signal: (name) => void child?.kill(name),
    async stop() {
      const ended = child;
      child = undefined;
      if (ended === undefined) return;
      const exited = new Promise((resolve) => ended.once('exit', resolve));
      ended.kill('SIGKILL');
      await exited;
    },
    async start() {
      child = spawn(SIMULATOR, ['-n', '-c', 'lan.conf', '-f', 'sim.emu', '-s', 'state'], { cwd: folder, stdio: 'ignore' });
      const bound = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
      const started = child;
      await until(() => {
        if (started.exitCode !== null) throw new Error(`ipmi_sim ended with ${started.exitCode}`);
        return read('/proc/net/udp').includes(bound);
      }, 'the simulator');
    },
    target: (changes = {}) => ({
      plug: '',
      device: `127.0.0.1:${port}`,
      parameters: { ip: '127.0.0.1', ipport: String(port), username: 'admin', password: PASSWORD, cipher: '3', transport: 'ipmitool' },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 20_000,
      beforeSend: () => undefined,
      ...changes,
    }),
    async dispose() {
      await simulator.stop();
      // The killed simulator may still be writing its state.
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  simulator.turn('on');
  try {
    await simulator.start();
  } catch (error) {
    await simulator.dispose();
    throw error;
  }
  return simulator;
}
