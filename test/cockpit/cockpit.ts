import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../scenarios/waiting.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const WEB_SERVER = '/usr/lib/cockpit/cockpit-ws';
const PAGE = fileURLToPath(new URL('../../cockpit/nodefence-node', import.meta.url));
const MAIN = programPath('main');
const START_MS = 20_000;

/** Why no page can be looked at here; undefined: it can. */
export function cockpitProblem(): string | undefined {
  const missing = [...(existsSync(WEB_SERVER) ? [] : ['cockpit-ws']), ...['cockpit-bridge', 'chromium'].filter((command) => !isCommand(command))];
  return missing.length === 0 ? undefined : `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
}

/** Debian's own Cockpit, with the page installed as its document says; `--local-session`: no systemd, no PAM, and who started it is logged in. */
export class Cockpit {
  readonly socket: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.socket = join(folder, 'run/node.sock');
    mkdirSync(join(folder, 'bin'));
    cpSync(PAGE, join(folder, 'share/cockpit/nodefence-node'), { recursive: true });
    this.useProgram();
    const env = {
      ...process.env,
      HOME: folder,
      LANG: 'C.UTF-8',
      PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
      XDG_DATA_DIRS: `${join(folder, 'share')}:/usr/share`,
    };
    const words = ['--no-tls', '--address', '127.0.0.1', '--port', String(port), '--local-session=cockpit-bridge'];
    this.#process = spawn(WEB_SERVER, words, { env, stdio: 'ignore' });
  }

  static async start(): Promise<Cockpit> {
    const cockpit = new Cockpit(mkdtempSync(join(tmpdir(), 'nodefence-cockpit-')), await freePort());
    const isServed = async (): Promise<true | undefined> =>
      fetch(cockpit.url).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      );
    try {
      await until('Cockpit to serve the page', isServed, START_MS);
    } catch (error) {
      await cockpit.close();
      throw error;
    }
    return cockpit;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#port)}/cockpit/@localhost/nodefence-node/index.html`;
  }

  /** The real program: it asks the daemon that the test plays. */
  useProgram(): void {
    this.useScript(`exec '${process.execPath}' '${MAIN}' "$@" --socket '${this.socket}'`);
  }

  /** Another one in its place. */
  useScript(line: string): void {
    // In the place of the old one at once: a program that is still running cannot be written to (ETXTBSY).
    const next = `${this.#program}.next`;
    writeFileSync(next, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    renameSync(next, this.#program);
  }

  removeProgram(): void {
    rmSync(this.#program);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #program(): string {
    return join(this.#folder, 'bin/nodefence');
  }
}

function isCommand(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
