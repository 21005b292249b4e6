import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSent, parseDockerfile } from './dockerfile.ts';
import type { Instruction, Stage } from './dockerfile.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUN_DEADLINE_MS = 120_000;

/** What a stage left behind: its file tree in a folder, and how it would be started. */
export interface Built {
  folder: string;
  workdir: string;
  user: string;
  environment: Readonly<Record<string, string>>;
  entrypoint: readonly string[];
  command: readonly string[];
}

/** Programs for the RUN lines: the pinned Node before what the machine has. */
export const PATH = [dirname(process.execPath), process.env['PATH'] ?? ''].join(':');

/**
 * Builds a stage of the Dockerfile without an engine: each stage is a folder, base images are empty (their programs are this machine's), COPY
 * obeys .dockerignore, and RUN runs here, in the stage's folder. Proves that the build works from exactly the files that are copied.
 */
export async function buildStage(target: string, under: string): Promise<Built> {
  const stages = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  const built = new Map<string, Built>();
  const build = async (stage: Stage): Promise<Built> => {
    const known = built.get(stage.name);
    if (known !== undefined) return known;
    const parent = stages.find(({ name }) => name === stage.from);
    const state: Built =
      parent === undefined
        ? { folder: join(under, stage.name), workdir: '/', user: '0', environment: {}, entrypoint: [], command: [] }
        : { ...(await build(parent)) };
    mkdirSync(state.folder, { recursive: true });
    chmodSync(state.folder, 0o755);
    for (const instruction of stage.instructions) await obey(instruction, state, async (name) => (await build(named(stages, name))).folder);
    built.set(stage.name, state);
    return state;
  };
  return build(named(stages, target));
}

function named(stages: readonly Stage[], name: string): Stage {
  const stage = stages.find((each) => each.name === name);
  if (stage === undefined) throw new Error(`the Dockerfile has no stage ${name}`);
  return stage;
}

async function obey({ word, rest, line }: Instruction, state: Built, folderOf: (stage: string) => Promise<string>): Promise<void> {
  const inside = (path: string): string => join(state.folder, path.startsWith('/') ? path : join(state.workdir, path));
  switch (word) {
    case 'WORKDIR':
      state.workdir = rest;
      mkdirSync(inside(rest), { recursive: true });
      return;
    case 'USER':
      state.user = rest;
      return;
    case 'ENV':
      state.environment = { ...state.environment, ...Object.fromEntries([rest.split('=')] as [string, string][]) };
      return;
    case 'ENTRYPOINT':
      state.entrypoint = JSON.parse(rest) as string[];
      state.command = [];
      return;
    case 'CMD':
      state.command = JSON.parse(rest) as string[];
      return;
    case 'COPY': {
      const [, stage] = /^--from=(\S+)\s/.exec(rest) ?? [];
      const words = rest.replace(/^--from=\S+\s+/, '').split(/\s+/);
      const to = words.pop() ?? '';
      for (const path of words.filter((each) => stage === undefined || !isOfBase(each)))
        copy(path, stage === undefined ? undefined : await folderOf(stage), inside(to), to.endsWith('/'));
      return;
    }
    case 'RUN':
      await runLine(rest, inside(''), line);
      return;
    // Those that an engine sets are not set here.
    case 'ARG':
    case 'EXPOSE':
      return;
    default:
      throw new Error(`Dockerfile, line ${line}: ${word} is not understood here`);
  }
}

/** Programs of a base image are this machine's. */
function isOfBase(path: string): boolean {
  return path.startsWith('/usr/');
}

/** From the context, as far as .dockerignore lets it through, or from another stage. */
function copy(path: string, stageFolder: string | undefined, to: string, isInto: boolean): void {
  const from = join(stageFolder ?? ROOT, path);
  if (!existsSync(from)) throw new Error(`COPY ${path}: there is no such file`);
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8');
  const destination = isInto && statSync(from).isFile() ? join(to, basename(path)) : to;
  mkdirSync(dirname(destination), { recursive: true });
  if (stageFolder === undefined && !isSent(ignored, path)) throw new Error(`COPY ${path}: .dockerignore keeps it back`);
  const filter = (source: string): boolean => stageFolder !== undefined || isSent(ignored, relative(ROOT, source));
  cpSync(from, destination, { recursive: true, filter, verbatimSymlinks: true });
}

function runLine(command: string, folder: string, line: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PATH, npm_config_prefer_offline: 'true', npm_config_fetch_retries: '1' };
    const child = spawn('/bin/sh', ['-c', command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_DEADLINE_MS });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`Dockerfile, line ${line}: RUN ${command} ended with ${code ?? 'a signal'}: ${said.join('').trim().slice(-2_000)}`));
    });
  });
}
