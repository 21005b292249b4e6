import { execFile } from 'node:child_process';
import { placeOf, verbFor } from './manifests.ts';

/** Older ones validate by OpenAPI v2 in protobuf, which the embedded server does not have. */
const OLDEST_MINOR = 30;
const VERSION_MS = 15_000;
const CALL_MS = 120_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * A call of kubectl, or of helm, lives for a second: it ends before it would be worth collecting what it left behind, which takes a quarter of its time.
 * One that reads the schemas of a real server takes memory that the kernel has to clear, which takes as long: above the limit it collects.
 */
export const SHORT_LIVED = { GOGC: 'off', GOMEMLIMIT: '128MiB' } as const;

interface Said {
  code: number;
  out: string;
  err: string;
}

/** The name under which kubectl is called: what KUBECTL says, else the one in PATH. */
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';

/** kubectl of this machine, as the administrator of one cluster. */
export class Kubectl {
  readonly #kubeconfig: string;
  readonly #home: string;

  /** `home`: a folder for its caches. */
  constructor(kubeconfig: string, home: string) {
    this.#kubeconfig = kubeconfig;
    this.#home = home;
  }

  /** Installs folders of config/, one after the other. */
  async install(folders: readonly string[]): Promise<void> {
    for (const folder of folders) await this.#install(folder);
  }

  /** By the command that the pages give for it; an object that others have brought stays as it is. */
  async #install(folder: string): Promise<void> {
    const verb = verbFor(folder);
    const { code, err } = await said([verb, '-k', placeOf(folder), '--kubeconfig', this.#kubeconfig], this.#home, CALL_MS);
    const lines = err.trim().split('\n');
    const others = verb === 'create' && lines.every((line) => line.endsWith('already exists'));
    if (code !== 0 && !others) throw new Error(`kubectl ${verb} -k config/${folder}: ${err}`);
  }
}

/** Is there a kubectl that the embedded server can serve? */
export async function hasKubectl(home: string): Promise<boolean> {
  const { code, out } = await said(['version', '--client', '-o', 'json'], home, VERSION_MS);
  return code === 0 && minorOf(out) >= OLDEST_MINOR;
}

function minorOf(json: string): number {
  const { clientVersion } = JSON.parse(json) as { clientVersion?: { minor?: string } };
  return Number.parseInt(clientVersion?.minor ?? '', 10);
}

/** Its environment has nothing that leads to another cluster. */
function said(words: readonly string[], home: string, timeoutMs: number): Promise<Said> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: home, ...SHORT_LIVED };
  return new Promise((resolve) => {
    execFile(KUBECTL, words, { env, timeout: timeoutMs, maxBuffer: OUTPUT_BYTES_MAX }, (error, out, err) => {
      resolve({ code: error === null ? 0 : 1, out, err: err === '' && error !== null ? error.message : err });
    });
  });
}
