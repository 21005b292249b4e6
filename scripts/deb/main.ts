// `npm run deb -- [--arch amd64|arm64]`: builds a Debian package of the program and prints its path. The same sources and SOURCE_DATE_EPOCH give the same package.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { VERSION } from '../../src/cli/version.ts';
import { fillTree } from './package-tree.ts';
import type { Architecture } from './package-tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = join(ROOT, 'dist', 'deb');
const OWN: Readonly<Record<string, Architecture>> = { x64: 'amd64', arm64: 'arm64' };

const { values } = parseArgs({ options: { arch: { type: 'string' } } });
const architecture = values.arch ?? OWN[process.arch];
if (architecture !== 'amd64' && architecture !== 'arm64')
  throw new Error(`there is no pinned Node for ${architecture ?? process.arch}: --arch is amd64 or arm64`);
const work = mkdtempSync(join(tmpdir(), 'nodefence-deb-'));
try {
  const tree = join(work, 'tree');
  mkdirSync(tree, { mode: 0o755 });
  fillTree(ROOT, tree, architecture, architecture === OWN[process.arch]);
  mkdirSync(OUT, { recursive: true });
  const file = join(OUT, `nodefence_${VERSION}_${architecture}.deb`);
  const committed = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const env = { ...process.env, SOURCE_DATE_EPOCH: process.env['SOURCE_DATE_EPOCH'] ?? committed };
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', tree, file], { env, stdio: ['ignore', 2, 2] });
  process.stdout.write(`${file} ${(statSync(file).size / 1e6).toFixed(1)} MB\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
