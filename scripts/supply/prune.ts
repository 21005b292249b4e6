// `node scripts/supply/prune.ts node_modules [arm64]`: removes what Node on this platform never runs: sources in other languages, types, maps, builds for other platforms. Licences stay.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PLATFORM = `${process.platform}-${process.arch}`;
/** Folders that hold nothing which is loaded; the packages that they are known of. */
const UNUSED_FOLDERS = [
  'node-pty/third_party',
  'node-pty/src',
  'node-pty/deps',
  'node-pty/scripts',
  'zod/src',
  'ssh2/test',
  'ssh2/examples',
  'net-snmp/example',
];
const UNUSED_FILES = /\.(map|[cm]?ts|tsx|md|markdown|gyp|gypi|flow)$/i;
const LICENCE = /licen[cs]e|copying|notice/i;

/** Returns how many bytes went. */
export function prune(modules: string, platform: string = PLATFORM): number {
  const unused = [...UNUSED_FOLDERS.map((path) => join(modules, path)), ...otherPlatforms(modules, platform)];
  const before = sizeOf(modules);
  for (const folder of unused) rmSync(folder, { recursive: true, force: true });
  for (const file of filesUnder(modules)) if (UNUSED_FILES.test(file) && !LICENCE.test(basename(file))) rmSync(file);
  return before - sizeOf(modules);
}

function otherPlatforms(modules: string, platform: string): string[] {
  const builds = join(modules, 'node-pty', 'prebuilds');
  const all = readdirSync(builds);
  if (!all.includes(platform)) throw new Error(`node-pty brings no build for ${platform}: ${all.join(', ')}`);
  return all.filter((name) => name !== platform).map((name) => join(builds, name));
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function sizeOf(folder: string): number {
  return filesUnder(folder).reduce((sum, file) => sum + statSync(file).size, 0);
}

/** In the words of container images, and of Node. */
const ARCHITECTURES: Readonly<Record<string, string>> = { amd64: 'linux-x64', arm64: 'linux-arm64' };

const [, program = '', folder, architecture] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const platform = architecture === undefined ? PLATFORM : ARCHITECTURES[architecture];
  if (folder === undefined || platform === undefined) throw new Error('usage: node scripts/supply/prune.ts node_modules [amd64|arm64]');
  process.stdout.write(`${Math.round(prune(folder, platform) / 1e6)} MB removed from ${folder}\n`);
}
