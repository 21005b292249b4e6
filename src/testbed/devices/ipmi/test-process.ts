import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

import type { BmcConfiguration, BmcReady } from '../bmc/bmc-configuration.ts';
import type { DeviceEvent, PowerEvent, TraceEvent } from '../../../laws/trace.ts';
import type { BmcProtocol } from './protocol.ts';
import { TEST_UUID } from './rmcp/test-device.ts';
import { programPath } from '../../shipped/program.ts';

const PROGRAM = programPath('testbed/processes/bmc');
export const TEST_PASSWORD = 'of-the_drill-nr-19!';

/** Is this program on the machine? */
export function has(command: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Waits for a condition, ten seconds at most. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a client to its end. */
export function run(command: string, args: readonly string[], input = '', env: Readonly<Record<string, string>> = {}): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, [...args], { env: { ...process.env, ...env }, timeout: 15_000 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(new Error(`${command}: ${error.message}`));
      else resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    // A client that ends without reading is no error here.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** A BMC process with a machine that sleeps, as the drill starts it. */
export async function startTestProcess(protocol: BmcProtocol, overrides: Partial<BmcConfiguration> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-ipmi-'));
  const trace = join(folder, 'trace.jsonl');
  writeFileSync(trace, '');
  const configuration: BmcConfiguration = { node: 'a', protocol, uuid: TEST_UUID, username: 'admin', password: TEST_PASSWORD, trace, ...overrides };
  writeFileSync(join(folder, 'bmc.json'), JSON.stringify(configuration), { mode: 0o600 });
  const child = spawn(process.execPath, [PROGRAM, join(folder, 'bmc.json')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const firstLine = new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const line = await Promise.race([firstLine, exited.then(() => undefined)]);
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  if (line === undefined) {
    await stop();
    throw new Error(complaint);
  }
  const ready = JSON.parse(line) as BmcReady;
  const address = ['-H', ready.host, '-p', String(ready.port)];
  const events = (): TraceEvent[] =>
    readFileSync(trace, 'utf8')
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as TraceEvent);
  return {
    ready,
    folder,
    child,
    exited,
    stop,
    say: (command: unknown) => void child.stdin.write(`${JSON.stringify(command)}\n`),
    ipmitool: (words: string, { password = TEST_PASSWORD, suite = 3, attempts = 2, input = '' } = {}) =>
      run(
        'ipmitool',
        ['-I', 'lanplus', ...address, '-U', 'admin', '-E', '-C', String(suite), '-N', '1', '-R', String(attempts), ...words.split(' ')],
        input,
        {
          IPMI_PASSWORD: password,
        },
      ),
    deviceEvents: () => events().filter((event): event is DeviceEvent => event.kind === 'device'),
    powerEvents: () => events().filter((event): event is PowerEvent => event.kind === 'power'),
  };
}

/** Processes that this one started, by id. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Does it still run? One that nobody has waited for does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
