import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttps } from '../../src/testbed/apiserver/http-shell.ts';
import type { HttpShell } from '../../src/testbed/apiserver/http-shell.ts';
import { PACE } from './settings.ts';
import { CONTROLLER_USER } from './witness.ts';
import { World } from './world.ts';

export interface KubeconfigParts {
  server: string;
  caPem: string;
  token: string;
  context?: string;
}

/** A cluster whose API is served over HTTPS, for programs of their own: the daemon, kubectl. */
export class ServedWorld {
  readonly world: World;
  readonly shell: HttpShell;
  /** For files of one test; removed with the world. */
  readonly folder = mkdtempSync(join(tmpdir(), 'nodefence-scenario-'));
  readonly #tokens: Readonly<Record<string, string>>;

  private constructor(world: World, shell: HttpShell, tokens: Readonly<Record<string, string>>) {
    this.world = world;
    this.shell = shell;
    this.#tokens = tokens;
  }

  /** Without `nodes` it has none. */
  static async start(nodes: readonly string[] = [], login = { username: 'fence', password: 'unused' }): Promise<ServedWorld> {
    const tokens = Object.fromEntries(['operator', CONTROLLER_USER].map((user) => [user, randomBytes(18).toString('base64url')]));
    const { bootDelayMs, nodeGraceMs } = PACE;
    const world = await World.start({ nodes, login, bmcs: {}, secondBmcs: {}, bootDelayMs, nodeGraceMs }, tokens);
    return new ServedWorld(world, await serveHttps({ server: world.server }), tokens);
  }

  /** A right kubeconfig of this user, with parts changed; returns its path. */
  kubeconfig(name: string, user: string, changes: Partial<KubeconfigParts> = {}): string {
    const parts: KubeconfigParts = { server: this.shell.url, caPem: this.shell.caPem, token: this.#tokens[user] ?? '', ...changes };
    const cluster = { server: parts.server, 'certificate-authority-data': Buffer.from(parts.caPem).toString('base64') };
    return this.file(
      name,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'scenario', cluster }],
        users: [{ name: user, user: { token: parts.token } }],
        contexts: [{ name: 'scenario', context: { cluster: 'scenario', user } }],
        'current-context': parts.context ?? 'scenario',
      }),
    );
  }

  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  async end(): Promise<void> {
    await this.shell.close();
    await this.world.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
