import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { Children, roomFor } from './children.ts';
import type { ChildrenOptions } from './children.ts';
import { HungChildren } from './hung-children.ts';
import { MachineFolder } from './testing/machine-folder.ts';

let machine: MachineFolder;
let started: number[];
beforeEach(() => {
  machine = new MachineFolder();
  started = [];
});
afterEach(() => {
  for (const pid of started) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  machine.remove();
});

/** As the kernel makes it of a process that waits for a dead disk: SIGKILL does nothing. */
const immortal: ChildrenOptions['spawn'] = (program, parameters) => {
  const child = spawn(program, [...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) started.push(child.pid);
  child.kill = () => true;
  return child;
};
const children = (options: Partial<ChildrenOptions> = {}): Children =>
  new Children({ clock: new SystemClock(), stateFolder: machine.stateFolder, ...options });
const noted = (): string[] => {
  const folder = join(machine.stateFolder, 'children');
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe('a child', { timeout: 10_000 }, () => {
  it('says what it said, and is forgotten', async () => {
    expect(await children().run('a', 'sh', ['-c', 'echo out; echo err >&2; exit 3'], 5_000)).toEqual({
      kind: 'ended',
      code: 3,
      output: 'out\n',
      errors: 'err\n',
    });
    expect(noted()).toEqual([]);
  });

  it('that is no program is absent', async () => {
    expect(await children().run('a', 'nodefence-no-such-program', [], 5_000)).toEqual({ kind: 'absent' });
  });

  it('is killed at its deadline, though it was stopped', async () => {
    const result = await children().run('a', 'sh', ['-c', 'kill -STOP $$'], 300);
    expect(result).toEqual({ kind: 'late', isGone: true, output: '' });
    expect(noted()).toEqual([]);
  });

  it('that not even SIGKILL ends is abandoned at its deadline and counted', async () => {
    const began = performance.now();
    expect(await children({ spawn: immortal }).run('/mnt/a', 'sleep', ['60'], 200)).toEqual({ kind: 'late', isGone: false, output: '' });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(new HungChildren(machine.stateFolder).standing()).toMatchObject([{ key: '/mnt/a', pid: started[0] }]);
  });

  it('is started once for each path, be it by another process', async () => {
    await children({ spawn: immortal }).run('/mnt/a', 'sleep', ['60'], 100);
    expect(await children({ spawn: immortal }).run('/mnt/a', 'sleep', ['60'], 100)).toMatchObject({ kind: 'still-there', pid: started[0] });
    expect(started).toHaveLength(1);
    expect(await children().run('/mnt/b', 'true', [], 5_000)).toMatchObject({ kind: 'ended', code: 0 });
  });

  it('that hangs is told from one that did not even begin, be it by another process', async () => {
    const spoken = await children({ spawn: immortal }).run('/mnt/a', 'sh', ['-c', 'echo begins; exec sleep 60'], 1_000);
    await children({ spawn: immortal }).run('/mnt/b', 'sleep', ['60'], 100);
    expect(spoken).toEqual({ kind: 'late', isGone: false, output: 'begins\n' });
    expect(await children().run('/mnt/a', 'true', [], 100)).toMatchObject({ kind: 'still-there', hasSpoken: true });
    expect(await children().run('/mnt/b', 'true', [], 100)).toMatchObject({ kind: 'still-there', hasSpoken: false });
  });

  it('is started once for each path, be it at the same moment', async () => {
    const both = children();
    const results = await Promise.all([both.run('a', 'sleep', ['0.2'], 5_000), both.run('a', 'sleep', ['0.2'], 5_000)]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['ended', 'still-there']);
  });

  it('is started for each of those that are named, though all of them hang', async () => {
    const paths = Array.from({ length: 10 }, (_, index) => `/mnt/${index}`);
    const named = children({ spawn: immortal, most: roomFor(paths.length) });
    const results = await Promise.all(paths.map(async (path) => named.run(path, 'sleep', ['60'], 50)));
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['late']));
  });

  it('is not started where too many hang already', async () => {
    for (const path of ['/mnt/a', '/mnt/b']) await children({ spawn: immortal, most: 2 }).run(path, 'sleep', ['60'], 50);
    expect(await children({ spawn: immortal, most: 2 }).run('/mnt/c', 'sleep', ['60'], 50)).toEqual({ kind: 'too-many', count: 2 });
    expect(started).toHaveLength(2);
  });

  it('is started again once the one that hung has ended', async () => {
    const same = children({ spawn: immortal });
    await same.run('/mnt/a', 'sleep', ['60'], 50);
    process.kill(started[0] ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(noted()).toEqual([]));
    expect(await same.run('/mnt/a', 'true', [], 5_000)).toMatchObject({ kind: 'ended' });
  });
});

describe('what is noted of a child', () => {
  it('is forgotten where its number is another process now', () => {
    const hung = new HungChildren(machine.stateFolder);
    hung.add('/mnt/a', process.pid, 1);
    expect(hung.standing()).toHaveLength(1);
    const [name = ''] = noted();
    const path = `run/nodefence/checks/children/${name}`;
    machine.write({ [path]: readFileSync(join(machine.root, path), 'utf8').replace(/"startTicks":"\d+"/, '"startTicks":"1"') });
    expect(hung.standing()).toEqual([]);
    expect(noted()).toEqual([]);
  });

  it.each(['', '{', '[]', '{"key":"\\u12","pid":1,"startTicks":"1","startedAtMs":1}', '{"key":7}'])(
    'is forgotten where it is not whole: %j',
    (text) => {
      machine.write({ 'run/nodefence/checks/children/x': text });
      expect(new HungChildren(machine.stateFolder).standing()).toEqual([]);
    },
  );

  it('is of the process and not of what it calls itself', () => {
    machine.write({ 'proc/7/stat': '7 (a) Z (b c) D 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0\n' });
    const hung = new HungChildren(machine.stateFolder, join(machine.root, 'proc'));
    hung.add('/mnt/a', 7, 1);
    expect(hung.standing()).toEqual([{ key: '/mnt/a', pid: 7, startTicks: '4242', startedAtMs: 1, hasSpoken: false }]);
    machine.write({ 'proc/7/stat': '7 (a) Z 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0\n' });
    expect(hung.standing()).toEqual([]);
  });
});
