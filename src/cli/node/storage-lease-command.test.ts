import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeHeader, encodeSlot, isZero, slotOffset } from '../../domain/node-daemon/storage-lease/layout.ts';
import type { LeaseHeader, LeaseSlot } from '../../domain/node-daemon/storage-lease/layout.ts';
import { compileCache } from '../../testbed/compile-cache.ts';
import { programPath } from '../../testbed/shipped/program.ts';

const MAIN = programPath('main');
const BOOT = '11111111-2222-4333-8444-555555555555';
const [STILL, GONE, DAMAGED, RENEWED, EMPTY] = [0, 1, 2, 3, 4];

describe('nodefence node storage-lease', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-lease-command-'));
  const path = join(folder, 'slots');
  let header: LeaseHeader;

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  interface Ended {
    code: number | null;
    out: string;
    err: string;
  }

  function lease(...words: string[]): Promise<Ended> {
    const child = spawn(process.execPath, [MAIN, 'node', 'storage-lease', ...words], {
      env: { PATH: process.env['PATH'] ?? '', ...compileCache() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
    return new Promise((resolve) => {
      child.once('close', (code) => resolve({ code, ...said }));
    });
  }

  const asked = (what: string, ...words: string[]): Promise<Ended> => lease(what, path, '--state', folder, ...words);

  function put(slot: number, bytes: Uint8Array): void {
    const file = openSync(path, 'r+');
    writeSync(file, bytes, 0, bytes.length, slotOffset(header, slot));
    closeSync(file);
  }

  const slotOf = (slot: number, node: string, more: Partial<LeaseSlot> = {}): Uint8Array =>
    encodeSlot(header, { ...{ slot, state: 'held', node, systemUUID: `u-${node}`, bootID: BOOT, counter: 7, intervalMs: 1_000 }, ...more });

  const isEmpty = (slot: number): boolean => {
    const at = slotOffset(header, slot);
    return isZero(readFileSync(path).subarray(at, at + header.sectorSize));
  };

  beforeAll(async () => {
    writeFileSync(path, '');
    truncateSync(path, 1_048_576);
    expect(await asked('init', '--cluster', 'prod', '--slots', '8')).toEqual({
      code: 0,
      out: 'laid out: 8 slots in sectors of 4096 bytes for cluster prod\n',
      err: '',
    });
    const read = decodeHeader(readFileSync(path));
    if (!('header' in read)) throw new Error(read.problem);
    header = read.header;
    put(STILL, slotOf(STILL, 'worker-1'));
    put(GONE, slotOf(GONE, 'worker-2', { state: 'released', counter: 40, intervalMs: 5_000 }));
    const damaged = slotOf(DAMAGED, 'worker-3');
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    put(DAMAGED, damaged);
    put(RENEWED, slotOf(RENEWED, 'worker-4'));
  }, 60_000);

  it('show tells whose slots stand there, which are released and which are damaged', async () => {
    const { code, out, err } = await asked('show');
    expect([code, err]).toEqual([0, '']);
    const [first, ...lines] = out.trimEnd().split('\n');
    expect(first).toBe(`Cluster prod, lease ${header.id}, 8 slots in sectors of 4096 bytes`);
    expect(lines.map((line) => line.split(/ {2,}/u))).toEqual([
      ['SLOT', 'STATE', 'NODE', 'COUNTER', 'EVERY', 'BOOT', 'SYSTEM UUID'],
      ['0', 'held', 'worker-1', '7', '1s', BOOT, 'u-worker-1'],
      ['1', 'released', 'worker-2', '40', '5s', BOOT, 'u-worker-2'],
      ['2', 'damaged'],
      ['3', 'held', 'worker-4', '7', '1s', BOOT, 'u-worker-4'],
    ]);
  });

  it('clear refuses a slot that is renewed, names its node, and leaves it', async () => {
    let counter = 8;
    const renewing = setInterval(() => put(RENEWED, slotOf(RENEWED, 'worker-4', { counter: (counter += 1) })), 100);
    try {
      const { code, out, err } = await asked('clear', '--slot', String(RENEWED));
      expect([code, out]).toEqual([1, '']);
      expect(err).toBe(`nodefence: ${path}: slot 3 is renewed by node worker-4: stop its daemon first\n`);
    } finally {
      clearInterval(renewing);
    }
    expect(isEmpty(RENEWED)).toBe(false);
  });

  it('clear empties one that stands still, one that was released and one that is damaged, and no other', async () => {
    const said = await Promise.all(
      [STILL, GONE, DAMAGED].map(async (slot) => asked('clear', '--slot', String(slot), '--state', join(folder, `${slot}`))),
    );
    expect(said).toEqual([
      { code: 0, out: 'slot 0 is empty; it was of node worker-1\n', err: '' },
      { code: 0, out: 'slot 1 is empty; it was of node worker-2\n', err: '' },
      { code: 0, out: 'slot 2 is empty\n', err: '' },
    ]);
    expect([STILL, GONE, DAMAGED, RENEWED, EMPTY].map(isEmpty)).toEqual([true, true, true, false, true]);
  });

  it('says what is wrong: a slot that is not there, none at all, a lease that is none, a second init', async () => {
    const nothing = join(folder, 'nothing');
    writeFileSync(nothing, Buffer.alloc(65_536));
    const [beyond, none, empty, again] = await Promise.all([
      asked('clear', '--slot', '8'),
      asked('clear'),
      lease('show', nothing, '--state', join(folder, 'other')),
      asked('init', '--cluster', 'prod', '--state', join(folder, 'third')),
    ]);
    expect([beyond.code, beyond.err]).toEqual([1, `nodefence: ${path}: it has 8 slots: there is no 8\n`]);
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('--slot <number>') as string]);
    expect([empty.code, empty.err]).toEqual([1, `nodefence: ${nothing}: nothing is laid out there\n`]);
    expect([again.code, again.err]).toEqual([1, `nodefence: ${path}: it is a storage lease of cluster prod already; --overwrite lays it out anew\n`]);
    expect(isEmpty(RENEWED)).toBe(false);
  });
});
