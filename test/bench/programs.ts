import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { rounded } from './figures.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface CompiledDrill {
  seconds: number;
  rssMb: number;
  cpuMs: number;
  expected: boolean;
  api: Record<string, number>;
}

/** Builds the package and plays one drill from it: the controller's memory as published. */
export async function measureCompiled(): Promise<CompiledDrill> {
  await outputOf(['scripts/run.mjs', 'build']);
  const began = performance.now();
  const drill = JSON.parse(await outputOf(['dist/src/main.js', 'drill', '--json'])) as {
    expected: boolean;
    controller: { rssMb: number; cpuMs: number };
    api: Record<string, number>;
  };
  const seconds = rounded((performance.now() - began) / 1_000);
  return { seconds, expected: drill.expected, api: drill.api, ...drill.controller };
}

/** stdout of a program of this tree; what it says on stderr is shown when it fails. */
export async function outputOf(command: readonly string[]): Promise<string> {
  return (await saidBy(command)).stdout;
}

/** Both of its streams. */
export function saidBy(command: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve({ stdout: out.join(''), stderr: err.join('') });
      else reject(new Error(`${command.join(' ')} ended with ${code ?? 'a signal'}: ${out.join('').slice(-1_000)} ${err.join('').slice(-1_000)}`));
    });
  });
}
