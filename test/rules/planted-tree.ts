import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A throw-away project with the given files (path → text), seeing the real dependencies. */
export class PlantedTree {
  readonly root = mkdtempSync(join(tmpdir(), 'nodefence-rules-'));

  constructor(files: Readonly<Record<string, string>>) {
    symlinkSync(join(ROOT, 'node_modules'), join(this.root, 'node_modules'));
    this.write('tsconfig.json', JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), include: ['**/*'] }));
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
