import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { askStatus, StatusSocket } from './status-socket.ts';

const unexpected = (error: Error): void => {
  throw error;
};
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodefence-status-'));
  path = join(folder, 'run', 'node.sock');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('answers each that asks with what is so then, to its own user only', async () => {
  let phase = 'kept';
  const socket = await StatusSocket.listen(path, () => ({ phase }), unexpected);
  expect(await askStatus(path)).toEqual({ phase: 'kept' });
  phase = 'isolated';
  expect(await askStatus(path)).toEqual({ phase: 'isolated' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await socket.close();
  await expect(askStatus(path)).rejects.toThrow('no node daemon runs here');
});

it('takes over what a daemon left that was killed', async () => {
  const left = `require('net').createServer().listen(${JSON.stringify(join(folder, 'left'))}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', left]);
  expect(statSync(join(folder, 'left')).isSocket()).toBe(true);
  const socket = await StatusSocket.listen(join(folder, 'left'), () => 1, unexpected);
  expect(await askStatus(join(folder, 'left'))).toBe(1);
  await socket.close();
});

it('refuses to run beside another daemon', async () => {
  const socket = await StatusSocket.listen(path, () => 1, unexpected);
  await expect(StatusSocket.listen(path, () => 2, unexpected)).rejects.toThrow('another daemon runs on this node');
  expect(await askStatus(path)).toBe(1);
  await socket.close();
});

it('leaves the mask of the process as it was', async () => {
  const before = process.umask(0o027);
  const socket = await StatusSocket.listen(path, () => 1, unexpected);
  expect(process.umask(before)).toBe(0o027);
  await socket.close();
});

it('goes on where somebody could not be accepted, and tells it', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  const failed: string[] = [];
  const socket = await StatusSocket.listen(
    path,
    () => 1,
    ({ message }) => void failed.push(message),
  );
  (listen.mock.contexts[0] as Server).emit('error', new Error('accept EMFILE'));
  listen.mockRestore();
  expect([failed, await askStatus(path)]).toEqual([['accept EMFILE'], 1]);
  await socket.close();
});

it('says where nothing like a daemon answers', async () => {
  const other = createServer((socket) => socket.end('hello'));
  await new Promise<void>((resolve) => other.listen(join(folder, 'other'), resolve));
  await expect(askStatus(join(folder, 'other'))).rejects.toThrow('no node daemon');
  other.close();
  writeFileSync(join(folder, 'file'), '');
  await expect(askStatus(join(folder, 'file'))).rejects.toThrow('no node daemon runs here');
});
