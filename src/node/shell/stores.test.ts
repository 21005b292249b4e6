import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeepRecordFile } from './keep-record-store.ts';
import { PROMISES_MAX } from '../../ports/node-daemon.ts';
import { PromiseFile } from './promise-store.ts';

const BOOT = '11111111-2222-3333-4444-555555555555';
const OTHER = '99999999-2222-3333-4444-555555555555';
const hasStrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodefence-stores-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('KeepRecordFile', () => {
  const path = (): string => join(folder, 'run', 'keep.json');

  it('gives back what was written, to the next process of this boot', async () => {
    const peers = [{ node: 'node-2', domain: 'rack-2', publicKey: 'A'.repeat(43), address: '192.0.2.2:7411' }];
    const known = {
      controllerKeys: ['B'.repeat(43)],
      controllerAddresses: ['192.0.2.9:7411'],
      told: { domain: 'rack-1', peers },
      accepted: ['node-2'],
    };
    const record = {
      bootID: BOOT,
      keptUntilMs: 1_234.5,
      stoppingSinceMs: 2_000,
      isArmed: true,
      device: '/dev/watchdog1',
      asleepMs: 0.5,
      fencesItself: true,
      known,
    };
    new KeepRecordFile(path(), BOOT).write({ bootID: BOOT, isArmed: false });
    new KeepRecordFile(path(), BOOT).write(record);
    expect(await new KeepRecordFile(path(), BOOT).read()).toEqual(record);
    expect([statSync(path()).mode & 0o777, readdirSync(join(folder, 'run'))]).toEqual([0o600, ['keep.json']]);
  });

  it('has nothing to say of a boot that nothing was written in', async () => {
    expect(await new KeepRecordFile(path(), BOOT).read()).toBeUndefined();
    new KeepRecordFile(path(), OTHER).write({ bootID: OTHER, isArmed: true });
    expect(await new KeepRecordFile(path(), BOOT).read()).toBeUndefined();
  });

  const known = `{"bootID":"${BOOT}","isArmed":true,"known":`;
  it.each([
    `${known}7}`,
    `${known}{"controllerKeys":[],"controllerAddresses":[],"accepted":[]}}`,
    '',
    '{',
    'null',
    '[]',
    '{"bootID":"","isArmed":true}',
    `{"bootID":"${BOOT}"}`,
    `{"bootID":"${BOOT}","isArmed":true,"keptUntilMs":"1"}`,
    `{"bootID":"${BOOT}","isArmed":true,"fencesItself":"no"}`,
    `{"bootID":"${BOOT}","isArmed":true,"device":"/dev/sda"}`,
  ])('rejects %j, of which nothing may be assumed', async (text) => {
    const store = new KeepRecordFile(path(), BOOT);
    writeFileSync(path(), text);
    await expect(store.read()).rejects.toThrow('nothing may be assumed');
  });

  it('rejects what is there and cannot be read', async () => {
    const store = new KeepRecordFile(path(), BOOT);
    mkdirSync(path());
    await expect(store.read()).rejects.toThrow('EISDIR');
  });

  it('throws where it cannot write, and leaves the old record', async () => {
    const store = new KeepRecordFile(path(), BOOT);
    store.write({ bootID: BOOT, isArmed: true });
    mkdirSync(`${path()}.new`);
    expect(() => store.write({ bootID: BOOT, isArmed: false })).toThrow('EISDIR');
    expect(await store.read()).toEqual({ bootID: BOOT, isArmed: true });
  });
});

describe('PromiseFile', () => {
  const path = (): string => join(folder, 'lib', 'promises.json');

  it('gives back what was promised', async () => {
    expect(await new PromiseFile(path()).read()).toEqual(new Map());
    await new PromiseFile(path()).write(new Map([[BOOT, 'node-1']]));
    expect(await new PromiseFile(path()).read()).toEqual(new Map([[BOOT, 'node-1']]));
    expect([statSync(path()).mode & 0o777, readdirSync(join(folder, 'lib'))]).toEqual([0o600, ['promises.json']]);
  });

  it('keeps the order, the oldest first', async () => {
    const promises = new Map([
      [OTHER, 'node-2'],
      [BOOT, 'node-1'],
      [`8${BOOT.slice(1)}`, 'node-3'],
    ]);
    await new PromiseFile(path()).write(promises);
    expect([...(await new PromiseFile(path()).read())]).toEqual([...promises]);
  });

  it('writes one after the other, the last one last', async () => {
    const store = new PromiseFile(path());
    const maps = Array.from({ length: 20 }, (_, index) => new Map([[BOOT, `node-${index}`.repeat(20 - index)]]));
    await Promise.all(maps.map((promises) => store.write(promises)));
    expect(await store.read()).toEqual(maps.at(-1));
  });

  it('rejects what is no list of promises', async () => {
    mkdirSync(join(folder, 'lib'));
    for (const text of ['', '[]', 'null', '{"node-1":7}', '{"node-1"']) {
      writeFileSync(path(), text);
      await expect(new PromiseFile(path()).read()).rejects.toThrow('vouch for nobody');
    }
  });

  it('rejects when it is not on the disk, and tries the next one all the same', async () => {
    const store = new PromiseFile(path());
    writeFileSync(join(folder, 'lib'), 'a file');
    await expect(store.write(new Map([[BOOT, 'node-1']]))).rejects.toThrow(/ENOTDIR|EEXIST/);
    rmSync(join(folder, 'lib'));
    await store.write(new Map([[BOOT, 'node-1']]));
    expect(existsSync(path())).toBe(true);
  });

  it('keeps so many promises and no more', async () => {
    const of = (count: number): Map<string, string> => new Map(Array.from({ length: count }, (_, index) => [`${BOOT}${index}`, 'node-1']));
    const store = new PromiseFile(path());
    await store.write(of(PROMISES_MAX));
    expect((await store.read()).size).toBe(PROMISES_MAX);
    await expect(store.write(of(PROMISES_MAX + 1))).rejects.toThrow(RangeError);
    expect((await store.read()).size).toBe(PROMISES_MAX);
  });

  it.runIf(hasStrace)('has synced file and folder before it resolves (needs strace)', () => {
    const program = join(folder, 'program.mjs');
    const trace = join(folder, 'trace');
    writeFileSync(
      program,
      `import { PromiseFile } from ${JSON.stringify(join(import.meta.dirname, 'promise-store.ts'))};
       import { writeSync } from 'node:fs';
       await new PromiseFile(${JSON.stringify(path())}).write(new Map([['boot', 'node-1']]));
       writeSync(1, 'resolved');`,
    );
    const run = spawnSync('strace', ['-f', '-y', '-o', trace, '-e', 'trace=fsync,rename,renameat,renameat2,write', process.execPath, program], {
      encoding: 'utf8',
    });
    expect(run.stdout).toBe('resolved');
    const lines = readFileSync(trace, 'utf8').split('\n');
    const order = lines.flatMap(
      (line) => /fsync\(\d+<[^>]*\/(promises\.json\.new|lib)>|(rename)\w*\(.*promises\.json|(resolved)/.exec(line)?.slice(1).filter(Boolean) ?? [],
    );
    expect(order.filter((step, index) => step !== order[index - 1])).toEqual(['promises.json.new', 'rename', 'lib', 'resolved']);
  });
});
