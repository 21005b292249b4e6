import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { prune } from './prune.ts';

const modules = mkdtempSync(join(tmpdir(), 'prune-'));
const KEPT = ['node-pty/prebuilds/linux-x64/pty.node', 'zod/index.js', 'zod/package.json', 'yaml/LICENSE', 'axios/license.md', 'axios/data.json'];
const REMOVED = [
  'node-pty/prebuilds/win32-x64/pty.node',
  'node-pty/third_party/conpty/x.dll',
  'zod/index.d.ts',
  'zod/src/index.ts',
  'yaml/README.md',
  'yaml/a.js.map',
];

describe('pruning of packages', () => {
  afterAll(() => rmSync(modules, { recursive: true }));

  it('keeps what this platform runs, and every licence', () => {
    for (const file of [...KEPT, ...REMOVED]) {
      mkdirSync(dirname(join(modules, file)), { recursive: true });
      writeFileSync(join(modules, file), '0123456789');
    }
    expect(prune(modules, 'linux-x64')).toBe(REMOVED.length * 10);
    expect(KEPT.filter((file) => !existsSync(join(modules, file)))).toEqual([]);
    expect(REMOVED.filter((file) => existsSync(join(modules, file)))).toEqual([]);
    expect(() => prune(modules, 'linux-arm64')).toThrow('node-pty brings no build for linux-arm64: linux-x64');
  });
});
