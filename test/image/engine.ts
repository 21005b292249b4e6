import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { OWN } from './architecture.ts';
import type { Architecture } from './architecture.ts';

const CALL_MS = 20 * 60_000;
/** The only isolation that needs neither control groups nor namespaces of a container runtime: it works in a container too. */
const ISOLATION = ['--isolation', 'chroot'];

export interface Volume {
  from: string;
  to: string;
}

interface Build {
  target: string;
  name: string;
  bases: Readonly<Record<string, string>>;
  context: string;
  /** Time of every file and of the image, in seconds. */
  timestamp: number;
  volumes: readonly Volume[];
  isCached: boolean;
  architecture: Architecture;
}

function mounts(volumes: readonly Volume[]): string[] {
  return volumes.flatMap(({ from, to }) => ['--volume', `${from}:${to}`]);
}

/** buildah with a store of its own under `folder`, as root. */
export class Engine {
  readonly #store: readonly string[];

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#store = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  }

  /** What it said on stdout. */
  call(...words: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile('buildah', [...this.#store, ...words], { timeout: CALL_MS, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) => {
        if (error === null) resolve(out.trim());
        else reject(new Error(`buildah ${words.join(' ')}: ${err.trim().slice(-2_000)}`));
      });
    });
  }

  async has(image: string): Promise<boolean> {
    return (await this.call('images', '--format', '{{.Name}}:{{.Tag}}')).split('\n').includes(image);
  }

  async build({ target, name, bases, context, timestamp, volumes, isCached, architecture }: Build): Promise<void> {
    // Engines set these themselves; this buildah does not in every stage.
    const platforms = { BUILDPLATFORM: `linux/${OWN}`, TARGETPLATFORM: `linux/${architecture}`, TARGETARCH: architecture };
    const choices = Object.entries({ ...bases, ...platforms }).flatMap(([key, image]) => ['--build-arg', `${key}=${image}`]);
    const cache = ['--layers', ...(isCached ? [] : ['--no-cache'])];
    await this.call(
      'build',
      ...ISOLATION,
      ...cache,
      '--pull-never',
      '--arch',
      architecture,
      '--timestamp',
      String(timestamp),
      ...choices,
      ...mounts(volumes),
      '--target',
      target,
      '-t',
      name,
      context,
    );
  }

  /** A container of the image; `remove` it. */
  from(image: string): Promise<string> {
    return this.call('from', '--pull-never', image);
  }

  async remove(container: string): Promise<void> {
    await this.call('rm', container);
  }

  /** A program in it, with the user and the environment of the image. */
  start(container: string, command: readonly string[], volumes: readonly Volume[] = []): ChildProcess {
    return spawn('buildah', [...this.#store, 'run', ...ISOLATION, ...mounts(volumes), container, '--', ...command], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  run(
    container: string,
    command: readonly string[],
    input = '',
    volumes: readonly Volume[] = [],
  ): Promise<{ code: number; said: string; tookMs: number }> {
    const startedAtMs = performance.now();
    return new Promise((resolve, reject) => {
      const child = this.start(container, command, volumes);
      const said: string[] = [];
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      child.stdin?.end(input);
      child.on('error', reject);
      child.on('close', (code) => resolve({ code: code ?? 1, said: said.join(''), tookMs: performance.now() - startedAtMs }));
    });
  }
}
