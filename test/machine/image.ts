import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FILES, SUITE, PACKAGES, UNIT_LINKS } from './recipe.ts';
import { cloned } from '../package/installation.ts';

const BUILD_WITHIN_MS = 15 * 60_000;
const BASE_MIB = 1_800;
const PACKAGE_MIB = 600;
/** What nobody reads there. */
const DISPENSABLE = ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'var/cache/apt/archives', 'var/lib/apt/lists'];

export interface BaseImage {
  disk: string;
  kernel: string;
  initrd: string;
}

/** Debian with systemd, its kernel and containerd, made once by debootstrap and kept in ~/.cache. */
export function baseImage(tell: (line: string) => void): BaseImage {
  const recipe = JSON.stringify([SUITE, PACKAGES, FILES, UNIT_LINKS]);
  const cache = join(homedir(), '.cache', 'nodefence-machine');
  const folder = join(cache, createHash('sha256').update(recipe).digest('hex').slice(0, 16));
  const image = { disk: join(folder, 'base.img'), kernel: join(folder, 'vmlinuz'), initrd: join(folder, 'initrd.img') };
  if (existsSync(folder)) return image;
  tell(`making a Debian with ${PACKAGES.length} packages in ${folder}: some minutes, once`);
  const packages = join(cache, 'packages');
  mkdirSync(packages, { recursive: true });
  // Whole or not at all: the folder has its name when everything is in it.
  const making = mkdtempSync(join(cache, 'making-'));
  try {
    const root = join(making, 'root');
    polite('debootstrap', [`--cache-dir=${packages}`, '--variant=minbase', `--include=${PACKAGES.join(',')}`, SUITE, root]);
    for (const path of DISPENSABLE) rmSync(join(root, path), { recursive: true, force: true });
    for (const [path, text] of Object.entries(FILES)) write(join(root, path), text);
    for (const [path, target] of Object.entries(UNIT_LINKS)) execFileSync('ln', ['-sfn', target, join(root, path)]);
    writeFileSync(join(root, 'etc/machine-id'), '');
    for (const [name, file] of [
      ['vmlinuz', image.kernel],
      ['initrd.img', image.initrd],
    ] as const) {
      const found = readdirSync(join(root, 'boot')).find((entry) => entry.startsWith(`${name}-`));
      if (found === undefined) throw new Error(`the kernel package brought no ${name}`);
      cpSync(join(root, 'boot', found), file.replace(folder, making));
    }
    polite('mke2fs', ['-q', '-t', 'ext4', '-d', root, join(making, 'base.img'), `${BASE_MIB}M`]);
    rmSync(root, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return image;
}

/** The package as it ships, installed by the npm commands of systemd/README.md, as a disk for /opt/nodefence. */
export function packageImage(work: string, tell: (line: string) => void): string {
  tell('building the package, and installing it as systemd/README.md says');
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-machine-'));
  try {
    const clone = cloned(folder);
    const home = join(folder, 'opt');
    const [pack = '', install = ''] = npmCommands(readFileSync(join(clone, 'systemd/README.md'), 'utf8'));
    for (const command of [pack, install.replace('/opt/nodefence', home)])
      execFileSync('nice', ['sh', '-e', '-c', command], { cwd: clone, stdio: ['ignore', 'ignore', 'pipe'], timeout: BUILD_WITHIN_MS });
    const disk = join(work, 'package.img');
    polite('mke2fs', ['-q', '-t', 'ext4', '-d', home, disk, `${PACKAGE_MIB}M`]);
    return disk;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `npm pack` and the first `npm install`, without their comments. */
function npmCommands(page: string): string[] {
  return (/```sh\n([^]*?)```/u.exec(page)?.[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('npm '))
    .map((line) => line.replace(/\s+#.*$/u, ''));
}

function polite(program: string, words: readonly string[]): void {
  execFileSync('nice', ['-n', '10', program, ...words], { stdio: ['ignore', 'ignore', 'inherit'], timeout: BUILD_WITHIN_MS });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, text.startsWith('#!') ? { mode: 0o755 } : {});
}
