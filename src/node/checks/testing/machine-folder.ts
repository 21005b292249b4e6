import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder in place of `/`. */
export class MachineFolder {
  readonly root = mkdtempSync(join(tmpdir(), 'nodefence-checks-'));
  readonly stateFolder = join(this.root, 'run/nodefence/checks');

  write(files: Readonly<Record<string, string>>, atMs?: number): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), text);
      if (atMs !== undefined) utimesSync(join(this.root, path), atMs / 1000, atMs / 1000);
    }
  }

  /** Mounts, as /proc/self/mountinfo lists them. */
  mount(...points: string[]): void {
    this.write({
      'proc/self/mountinfo': points.map((point, index) => `${index + 30} 1 0:${index} / ${point} rw,relatime - nfs4 filer:/ rw\n`).join(''),
    });
    for (const point of points) mkdirSync(join(this.root, point), { recursive: true });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
