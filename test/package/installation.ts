import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a clone has not: it is made by commands. */
const MADE = ['node_modules', 'dist', '.git', '.cache', '.drill', 'coverage'];
/** A registry that cannot be reached is found out soon, and what npm has in its own cache is not asked for. */
const QUICK = { npm_config_prefer_offline: 'true', npm_config_fetch_retries: '1', npm_config_fetch_timeout: '10000' };
export const NO_REGISTRY = /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ENOTCACHED|network/;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The registry cannot be reached, and npm's own cache has not all of it. */
export class NoRegistry extends Error {}

/** Runs a program to its end; killed after `deadlineMs`. */
export function run(command: readonly string[], cwd: string, deadlineMs: number, path: readonly string[] = []): Promise<Ended> {
  const [program = '', ...rest] = command;
  const environment = { ...process.env, ...QUICK, PATH: [...path, process.env['PATH'] ?? ''].join(delimiter) };
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'], timeout: deadlineMs });
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout: out.join(''), stderr: err.join('') });
    });
  });
}

/** The sources as a fresh clone has them: nothing is installed, nothing built. */
export function cloned(folder: string): string {
  const clone = join(folder, 'clone');
  cpSync(ROOT, clone, { recursive: true, filter: (path) => !MADE.includes(relative(ROOT, path)) });
  return clone;
}
