import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A loaded machine takes several times the usual ten seconds. */
const BUILD_DEADLINE_MS = 180_000;
/** What the build and the package are made of; generated folders are not copied. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'tsconfig.json',
  'tsconfig.build.json',
  'src',
  'agents',
  'scripts',
  'config',
  'docs',
  'systemd',
];
const DOCUMENTS = ['README.md', 'LICENSE'];
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
  const environment = { ...process.env, PATH: [...path, process.env['PATH'] ?? ''].join(delimiter) };
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

async function succeed(command: readonly string[], cwd: string, deadlineMs: number): Promise<string> {
  const { code, stdout, stderr } = await run(command, cwd, deadlineMs);
  if (code === 0) return stdout;
  throw new Error(`${command.join(' ')} ended with ${code ?? 'a signal'}: ${stderr.trim().split('\n').slice(-8).join('\n')}`);
}

/** Builds and packs a copy of the sources, so that nobody's `dist` is touched; returns the path of the archive. */
export async function packed(folder: string): Promise<string> {
  const copy = join(folder, 'sources');
  mkdirSync(copy);
  for (const name of [...SOURCES, ...DOCUMENTS]) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  await succeed(['npm', 'run', '--silent', 'build'], copy, BUILD_DEADLINE_MS);
  await succeed(['npm', 'pack', '--silent', '--pack-destination', folder], copy, 30_000);
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (archive === undefined) throw new Error(`npm pack left no archive in ${folder}`);
  return join(folder, archive);
}

/** Installs the archive as a user would, in a folder of its own; returns that folder. */
export async function installed(folder: string, archive: string): Promise<string> {
  const home = join(folder, 'installed');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'somewhere-else', private: true }));
  const quick = ['--prefer-offline', '--fetch-retries=1', '--fetch-timeout=10000', '--no-audit', '--no-fund'];
  const { code, stderr } = await run(['npm', 'install', archive, '--omit=dev', ...quick], home, BUILD_DEADLINE_MS);
  if (code !== 0 && NO_REGISTRY.test(stderr)) throw new NoRegistry(stderr.trim().split('\n')[0] ?? '');
  if (code !== 0) throw new Error(`npm install ended with ${code ?? 'a signal'}: ${stderr}`);
  return home;
}
