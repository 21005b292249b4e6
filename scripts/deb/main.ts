// `npm run deb`: builds a Debian package of the program and prints its path. The same sources and SOURCE_DATE_EPOCH give the same package.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/cli/version.ts';
import { fillTree } from './package-tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = join(ROOT, 'dist', 'deb');
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const architecture = ARCHITECTURES[process.arch];
if (architecture === undefined) throw new Error(`there is no pinned Node for ${process.arch}: build on x64 or arm64`);
const work = mkdtempSync(join(tmpdir(), 'nodefence-deb-'));
try {
  const tree = join(work, 'tree');
  mkdirSync(tree, { mode: 0o755 });
  fillTree(ROOT, tree, architecture);
  mkdirSync(OUT, { recursive: true });
  const file = join(OUT, `nodefence_${VERSION}_${architecture}.deb`);
  const committed = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const env = { ...process.env, SOURCE_DATE_EPOCH: process.env['SOURCE_DATE_EPOCH'] ?? committed };
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', tree, file], { env, stdio: ['ignore', 2, 2] });
  process.stdout.write(`${file} ${(statSync(file).size / 1e6).toFixed(1)} MB\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
