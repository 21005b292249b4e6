import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** What reaches the network and the registry of this machine; everything else of the environment is left behind. */
const NETWORK = /^(npm_config_(registry|cafile|proxy|https_proxy|noproxy|strict_ssl)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;

function find(command: string, isWanted: (path: string) => boolean = () => true): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return folders.map((folder) => join(folder, command)).find((path) => isExecutable(path) && isWanted(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
}

/** The Node that this machine had before the project brought its own: the one that a stranger would run. */
export function machinesNode(): { path: string; version: string } {
  const pinned = realpathSync(process.execPath);
  const path = find('node', (candidate) => realpathSync(candidate) !== pinned) ?? process.execPath;
  return { path, version: versionOf(path) };
}

/** A machine with nothing on it but Node, npm and a shell: an empty home and a PATH of exactly these. */
export class BareMachine {
  readonly root = mkdtempSync(join(tmpdir(), 'nodefence-fresh-'));
  readonly environment: Readonly<Record<string, string>>;

  constructor(more: Readonly<Record<string, string>> = {}) {
    const [home, programs] = [join(this.root, 'home'), join(this.root, 'bin')];
    mkdirSync(home);
    mkdirSync(programs);
    symlinkSync(machinesNode().path, join(programs, 'node'));
    for (const command of ['npm', 'npx', 'sh']) {
      const path = find(command);
      if (path === undefined) throw new Error(`this machine has no ${command} on its PATH`);
      symlinkSync(realpathSync(path), join(programs, command));
    }
    const network = Object.entries(process.env).filter((entry): entry is [string, string] => NETWORK.test(entry[0]) && entry[1] !== undefined);
    const userConfiguration = join(homedir(), '.npmrc');
    const registry = existsSync(userConfiguration) ? { npm_config_userconfig: userConfiguration } : {};
    this.environment = { ...Object.fromEntries(network), ...registry, HOME: home, PATH: programs, TMPDIR: tmpdir(), ...more };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
