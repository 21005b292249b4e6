import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';

import type { Target } from '../../../src/ports/agents.ts';

/** Are all of them on this machine? Under continuous integration they have to be. */
export function areHere(...programs: string[]): boolean {
  return (
    process.env['CI'] === 'true' ||
    programs.every((program) => spawnSync('which', [program], { stdio: 'ignore', env: withSystemPath() }).status === 0)
  );
}

export function withSystemPath(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
}

export async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

export function targetOf(port: number, plug: string, parameters: Record<string, string>, node = 'worker-1'): Target {
  return {
    plug,
    device: `127.0.0.1:${port}`,
    parameters: { ip: '127.0.0.1', ipport: String(port), ...parameters },
    identity: { node },
    signal: new AbortController().signal,
    deadlineMs: 30_000,
    beforeSend: () => undefined,
  };
}

export function startProgram(program: string, options: readonly string[]): ChildProcess {
  return spawn(program, options, { stdio: 'ignore', env: withSystemPath() });
}

/** Runs a fence agent of ClusterLabs as its fencer does: parameters on stdin. */
export async function runFenceAgent(program: string, parameters: Record<string, string>): Promise<{ code: number | null; words: string }> {
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'pipe'], env: withSystemPath() });
  const said: string[] = [];
  child.stdout.on('data', (text) => said.push(String(text)));
  child.stderr.on('data', (text) => said.push(String(text)));
  child.stdin.end(
    Object.entries(parameters)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  return { code, words: said.join('') };
}
