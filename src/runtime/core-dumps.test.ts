import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { keepMemoryOutOfDumps } from './core-dumps.ts';

const MODULE = fileURLToPath(new URL('./core-dumps.ts', import.meta.url));

describe('A dump of a process that knows passwords', () => {
  it('holds no memory of it, nor of what it starts', () => {
    const script = `
      import { execFileSync } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      import { keepMemoryOutOfDumps } from ${JSON.stringify(MODULE)};
      const said = keepMemoryOutOfDumps();
      const child = execFileSync('cat', ['/proc/self/coredump_filter'], { encoding: 'utf8' });
      console.log(JSON.stringify([said ?? null, readFileSync('/proc/self/coredump_filter', 'utf8').trim(), child.trim()]));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual([null, '00000000', '00000000']);
  });

  it('holds none because the kernel is told so by a mask of nothing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-dumps-'));
    const file = join(folder, 'coredump_filter');
    expect(keepMemoryOutOfDumps(file)).toBeUndefined();
    expect(Number(readFileSync(file, 'utf8'))).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it('is left as it is where the system has no such filter, in words', () => {
    expect(keepMemoryOutOfDumps('/proc/self/no-such-file')).toContain('no-such-file');
  });
});
