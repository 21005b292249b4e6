import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileDisk } from './file-disk.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'disk-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a disk of files', () => {
  it('starts empty', () => {
    expect(new FileDisk(folder).last('disk-0')).toBe(0);
  });

  it('shows each machine what another one wrote last', () => {
    const [left, right] = [new FileDisk(folder), new FileDisk(folder)];
    for (let counter = 1; counter <= 200; counter += 1) left.write({ volume: 'disk-0', node: 'a', podUID: 'pod-1', counter });
    expect(right.last('disk-0')).toBe(200);
    right.write({ volume: 'disk-0', node: 'b', podUID: 'pod-2', counter: 201 });
    expect(left.last('disk-0')).toBe(201);
    expect(left.last('disk-1')).toBe(0);
  });

  it('takes nothing from a machine that is shut out, and from all others', () => {
    const disk = new FileDisk(folder);
    const record = { volume: 'disk-0', podUID: 'pod-1', counter: 1 };
    writeFileSync(join(folder, 'closed-a'), '');
    expect(disk.write({ ...record, node: 'a' })).toBe(false);
    expect(disk.last('disk-0')).toBe(0);
    expect(disk.write({ ...record, node: 'b' })).toBe(true);
    rmSync(join(folder, 'closed-a'));
    expect(disk.write({ ...record, node: 'a', counter: 2 })).toBe(true);
    expect(disk.last('disk-0')).toBe(2);
  });
});
