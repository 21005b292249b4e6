import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from './reading.ts';
import { MachineFolder } from './testing/machine-folder.ts';

let machine: MachineFolder;
beforeEach(() => void (machine = new MachineFolder()));
afterEach(() => machine.remove());

describe('a file', () => {
  it('of /proc is read to its end, though each read is answered with a page at most', async () => {
    const maps = '/proc/self/smaps';
    const pages = readFileSync(maps).length / 4_096;
    expect(pages).toBeGreaterThan(4);
    const text = await textOf('/', maps, 16_777_216);
    expect((text ?? '').length / 4_096).toBeGreaterThan(pages / 2);
  });

  it('is cut where it is longer than is wanted', async () => {
    machine.write({ log: 'x'.repeat(70_000) });
    expect((await textOf(machine.root, 'log'))?.length).toBe(65_536);
    expect((await textOf(machine.root, 'log', 10))?.length).toBe(10);
  });

  it('that is not there is none', async () => {
    expect(await textOf(machine.root, 'log')).toBeUndefined();
  });
});
