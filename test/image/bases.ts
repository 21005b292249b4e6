import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packedNode } from '../../scripts/supply/packed-node.ts';
import { OWN } from './architecture.ts';
import type { Architecture } from './architecture.ts';
import type { Engine } from './engine.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SUITE = 'bookworm';
const RUNTIME = 'localhost/nodefence-runtime:bookworm';
const BUILD = 'localhost/nodefence-build:bookworm';
/** As the slim images of Debian: no page, no translation, no index; copyrights stay. */
const SLIM = `find usr/share/doc -type f ! -name copyright -delete; rm -rf usr/share/man/* usr/share/info/* usr/share/locale/* var/lib/apt/lists/* var/cache/apt/* var/cache/debconf/* var/log/*`;

export type Bases = Record<'BASE' | 'NODE' | 'RUNTIME', string>;

/** Where this machine's apt takes its packages from; debootstrap knows nothing but names of suites. */
function mirror(): string[] {
  const policy = execFileSync('apt-cache', ['policy', 'base-files'], { encoding: 'utf8' });
  return /https?:\/\/\S+/.exec(policy)?.slice(0, 1) ?? [];
}

/** A Debian tree, made once; of another architecture by its own programs, which the kernel then runs by qemu-user-static. */
export function debianTree(folder: string, architecture: Architecture = OWN): string {
  const tree = join(folder, architecture === OWN ? 'debian' : `debian-${architecture}`);
  if (existsSync(tree)) return tree;
  const unfinished = `${tree}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const words = [`--arch=${architecture}`, '--variant=minbase', SUITE, unfinished, ...mirror()];
  execFileSync('debootstrap', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync('sh', ['-c', SLIM], { cwd: unfinished });
  renameSync(unfinished, tree);
  return tree;
}

/** Images in place of those of a registry: Debian by debootstrap, and the same with the pinned Node and this machine's npm. */
export async function makeBases(engine: Engine, folder: string, node: string, architecture: Architecture): Promise<Bases> {
  if (!(await engine.has(RUNTIME))) await commit(engine, 'scratch', RUNTIME, [debianTree(folder)], OWN);
  if (!(await engine.has(BUILD))) await commit(engine, RUNTIME, BUILD, [withNode(join(folder, 'node'), node)], OWN);
  if (architecture === OWN) return { BASE: BUILD, NODE: BUILD, RUNTIME };
  const [runtime, other] = [`${RUNTIME}-${architecture}`, `${BUILD}-${architecture}`];
  if (!(await engine.has(runtime))) await commit(engine, 'scratch', runtime, [debianTree(folder, architecture)], architecture);
  if (!(await engine.has(other))) await commit(engine, 'scratch', other, [nodeOf(folder, architecture)], architecture);
  return { BASE: BUILD, NODE: other, RUNTIME: runtime };
}

/** The same Node of another architecture. */
function nodeOf(folder: string, architecture: Architecture): string {
  const tree = join(folder, `node-${architecture}`);
  rmSync(tree, { recursive: true, force: true });
  packedNode(ROOT, join(tree, 'usr/local/bin'), architecture);
  return tree;
}

function withNode(tree: string, node: string): string {
  const program = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(join(tree, 'usr/local/bin'), { recursive: true });
  mkdirSync(join(tree, 'usr/local/lib/node_modules'), { recursive: true });
  cpSync(node, join(tree, 'usr/local/bin/node'), { dereference: true });
  cpSync(dirname(dirname(program)), join(tree, 'usr/local/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(tree, 'usr/local/bin/npm'));
  return tree;
}

async function commit(engine: Engine, from: string, name: string, trees: readonly string[], architecture: Architecture): Promise<void> {
  const container = await engine.call('from', '--pull-never', from);
  for (const tree of trees) await engine.call('add', '--quiet', container, tree, '/');
  await engine.call('config', '--arch', architecture, '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container);
  await engine.call('commit', '--quiet', container, name);
  await engine.remove(container);
}
