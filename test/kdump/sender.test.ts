import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { malformedMessage } from '../../src/domain/kdump/message.ts';
import { kdumpPorts } from '../../src/cli/kdump-option.ts';

/** Of Debian's package fence-agents. */
const SENDER = '/usr/libexec/fence-agents/fence_kdump_send';
const PORT = 17_410;

describe.skipIf(!existsSync(SENDER))('fence_kdump_send of Debian', { timeout: 20_000 }, () => {
  it.each(['127.0.0.1', '::1'])('is heard at %s, as what it is and from where it is', async (address) => {
    const { kdump } = await kdumpPorts({ kdumpAddress: { host: '::', port: PORT } });
    const heard: { problem: string | undefined; from: string }[] = [];
    kdump?.socket.receive((bytes, from) => heard.push({ problem: malformedMessage(bytes), from }));
    try {
      await new Promise<void>((resolve, reject) => {
        const family = address.includes(':') ? 'ipv6' : 'ipv4';
        execFile(SENDER, ['-p', String(PORT), '-f', family, '-c', '2', '-i', '1', address], (error) =>
          error === null ? resolve() : reject(new Error(error.message)),
        );
      });
      for (let tries = 0; heard.length < 2 && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(heard).toEqual([
        { problem: undefined, from: address },
        { problem: undefined, from: address },
      ]);
    } finally {
      kdump?.socket.close();
    }
  });
});

describe('the port of kdump messages', () => {
  it('hands on what is too long, so that it is counted', async () => {
    const { kdump } = await kdumpPorts({ kdumpAddress: { host: '127.0.0.1', port: PORT } });
    const { createSocket } = await import('node:dgram');
    const sender = createSocket('udp4');
    try {
      const heard = new Promise<number>((resolve) => kdump?.socket.receive((bytes) => resolve(bytes.length)));
      sender.send(new Uint8Array(5_000), PORT, '127.0.0.1');
      expect(await heard).toBe(5_000);
    } finally {
      sender.close();
      kdump?.socket.close();
    }
  });

  it('is not opened unless it is asked for', async () => {
    expect(await kdumpPorts({})).toEqual({});
  });
});
