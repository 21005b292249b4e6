// `npm run image`: builds the image by buildah from the Dockerfile, on bases made by debootstrap, twice; prints what it is made of; runs it. Root, on Debian.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setUpPackages, thisMachine } from '../../scripts/packages.ts';
import { architectureOf, OWN } from './architecture.ts';
import { makeBases } from './bases.ts';
import type { Bases } from './bases.ts';
import { EMULATOR, whyNotRun } from './emulation.ts';
import { Engine } from './engine.ts';
import type { Volume } from './engine.ts';
import { measured } from './measure.ts';
import type { Measured } from './measure.ts';
import { FULL_TRIALS, TRIALS } from './trials.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(homedir(), '.cache', 'nodefence-image');
const PROGRAMS = [
  { command: 'buildah', package: 'buildah' },
  { command: 'debootstrap', package: 'debootstrap' },
  { command: 'ipmi_sim', package: 'openipmi' },
];
const CONTEXT = [
  ...['Dockerfile', '.dockerignore', 'LICENSE', '.npmrc', 'package.json', 'package-lock.json'],
  ...['src', 'agents', 'scripts/supply'],
];
const WORD_LENGTH_MAX = 90;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1).padStart(7)} MB`;
}

/** npm's registry of this machine, and its cache: for the build alone, they are no part of the image. */
function npmOf(work: string): Volume[] {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: tmpdir() }).trim();
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  const file = join(work, 'npmrc');
  mkdirSync(cache, { recursive: true });
  writeFileSync(file, `registry=${registry}\nprefer-offline=true\n`);
  return [
    { from: file, to: '/root/.npmrc' },
    { from: cache, to: '/root/.npm' },
  ];
}

/** What the Dockerfile copies, as it is now: sources that change while it builds would make an image of both. */
function contextIn(work: string): string {
  const context = join(work, 'context');
  for (const path of CONTEXT) cpSync(join(ROOT, path), join(context, path), { recursive: true });
  return context;
}

function show(name: string, { digest, layers, compressedBytes }: Measured): void {
  say(`${name}  ${digest}`);
  for (const { by, compressedBytes: size } of layers) say(`  ${megabytes(size)}  ${by.replace(/\s+/g, ' ').slice(0, WORD_LENGTH_MAX)}`);
  say(`  ${megabytes(compressedBytes)}  compressed`);
}

async function tried(engine: Engine, image: string, target: string, work: string): Promise<number> {
  const container = await engine.from(image);
  let failures = 0;
  for (const [name, trial] of Object.entries(target === 'full' ? { ...TRIALS, ...FULL_TRIALS } : TRIALS)) {
    try {
      say(`  ok      ${name}: ${await trial(engine, container, work)}`);
    } catch (error) {
      failures += 1;
      say(`  NOT SO  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  await engine.remove(container);
  return failures;
}

async function main(): Promise<number> {
  const options = {
    base: { type: 'string' },
    runtime: { type: 'string' },
    target: { type: 'string', default: 'controller' },
    arch: { type: 'string', default: OWN },
    once: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  const architecture = architectureOf(values.arch);
  const missing = setUpPackages([...PROGRAMS, ...(architecture === OWN ? [] : [EMULATOR])], thisMachine(), say);
  if (missing.length > 0 || process.getuid?.() !== 0)
    throw new Error(
      'npm run image needs root on Debian, and these packages: buildah debootstrap openipmi; for another architecture qemu-user-static',
    );
  const notRun = whyNotRun(architecture);
  if (notRun !== undefined) throw new Error(notRun);
  const work = mkdtempSync(join(tmpdir(), 'nodefence-image-'));
  try {
    const engine = new Engine(CACHE);
    const made =
      values.base === undefined || values.runtime === undefined
        ? await makeBases(engine, CACHE, realpathSync(process.execPath), architecture)
        : undefined;
    const base = values.base ?? made?.BASE ?? '';
    const bases: Bases = { BASE: base, NODE: made?.NODE ?? base, RUNTIME: values.runtime ?? made?.RUNTIME ?? '' };
    const timestamp = Number(process.env['SOURCE_DATE_EPOCH'] ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }));
    const context = contextIn(work);
    const build = async (name: string): Promise<Measured> => {
      const startedAtMs = performance.now();
      await engine.build({ target: values.target, name, bases, context, timestamp, volumes: npmOf(work), isCached: false, architecture });
      say(`${name} built in ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
      return measured(engine, name, work);
    };
    const image = `localhost/nodefence:${values.target}${architecture === OWN ? '' : `-${architecture}`}`;
    const first = await build(image);
    show(image, first);
    let failures = await tried(engine, image, values.target, work);
    if (!values.once) {
      const again = await build(`${image}-again`);
      const isSame = again.digest === first.digest;
      say(isSame ? '  ok      a second build gives the same image' : `  NOT SO  a second build gives another image: ${again.digest}`);
      failures += isSame ? 0 : 1;
    }
    return failures === 0 ? 0 : 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
