import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DATAGRAM_MAX_BYTES } from '../../domain/node-daemon/datagram.ts';
import { ownAddressTowards, UdpSocket } from './datagram-socket.ts';
import type { UdpOptions } from './datagram-socket.ts';

const open: UdpSocket[] = [];
const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'));

async function socketOn(host: string, options: Partial<UdpOptions> = {}): Promise<UdpSocket> {
  const socket = await UdpSocket.open({ listen: { host, port: 0 }, ...options });
  open.push(socket);
  return socket;
}

function heard(socket: UdpSocket): { text: string; from: string }[] {
  const list: { text: string; from: string }[] = [];
  socket.receive((bytes, from) => list.push({ text: Buffer.from(bytes).toString(), from }));
  return list;
}

afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

describe('UdpSocket', () => {
  it('sends and receives over IPv4, and says whom it came from', async () => {
    const [a, b] = [await socketOn('127.0.0.1'), await socketOn('127.0.0.1')];
    const list = heard(b);
    a.send(b.address, Buffer.from('hello'));
    await vi.waitFor(() => expect(list).toEqual([{ text: 'hello', from: a.address }]));
    expect([a.counts.sent, b.counts.received]).toEqual([1, 1]);
  });

  it.runIf(hasIPv6)('sends and receives over IPv6', async () => {
    const [a, b] = [await socketOn('::1'), await socketOn('::1')];
    const list = heard(b);
    a.send(b.address, Buffer.from('hello'));
    await vi.waitFor(() => expect(list).toEqual([{ text: 'hello', from: a.address }]));
    expect(a.address).toMatch(/^\[::1\]:\d+$/);
  });

  it('speaks IPv4 from a socket on all addresses, and shows it as IPv4', async () => {
    const [a, b] = [await socketOn('::', { address: '127.0.0.1' }), await socketOn('127.0.0.1')];
    const [toA, toB] = [heard(a), heard(b)];
    a.send(b.address, Buffer.from('there'));
    await vi.waitFor(() => expect(toB).toEqual([{ text: 'there', from: a.address }]));
    b.send(a.address, Buffer.from('back'));
    await vi.waitFor(() => expect(toA).toEqual([{ text: 'back', from: b.address }]));
  });

  it('tells others the address that they reach, with the bound port or another', async () => {
    const own = await socketOn('127.0.0.1', { address: '192.0.2.7' });
    expect(own.address).toMatch(/^192\.0\.2\.7:\d{2,5}$/);
    expect((await socketOn('127.0.0.1', { address: '[2001:db8::7]:7411' })).address).toBe('[2001:db8::7]:7411');
    expect((await socketOn('127.0.0.1', { address: '2001:db8::7' })).address).toMatch(/^\[2001:db8::7\]:\d{2,5}$/);
    await expect(UdpSocket.open({ listen: { host: '127.0.0.1', port: 0 }, address: 'node-1.example' })).rejects.toThrow(
      'no address that others can send to',
    );
  });

  it.each(['node-1.example:7411', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', '::1:7411', '[127.0.0.1]:7411', ''])(
    'counts what goes to %j as failed, and does not throw',
    async (address) => {
      const a = await socketOn('127.0.0.1');
      a.send(address, Buffer.from('x'));
      expect([a.counts.failed, a.lastError]).toEqual([1, `${address} is no address to send to`]);
    },
  );

  it('counts what the system refuses', async () => {
    const a = await socketOn('127.0.0.1');
    a.send('127.0.0.1:9', new Uint8Array(70_000));
    await vi.waitFor(() => expect(a.counts.failed).toBe(1));
    expect(a.lastError).toContain('EMSGSIZE');
  });

  it('counts what is sent after it was closed', async () => {
    const a = await socketOn('127.0.0.1');
    a.close();
    a.close();
    a.send('127.0.0.1:9', new Uint8Array(1));
    expect(a.counts.failed).toBe(1);
  });

  it('drops what does not fit into its queue', async () => {
    const a = await socketOn('127.0.0.1', { queueMaxBytes: 100 });
    a.send('127.0.0.1:9', new Uint8Array(101));
    a.send('127.0.0.1:9', new Uint8Array(100));
    await vi.waitFor(() => expect(a.counts.sent).toBe(1));
    expect(a.counts.overflowed).toBe(1);
  });

  it('hands no larger datagram on than there are', async () => {
    const [a, b] = [await socketOn('127.0.0.1'), await socketOn('127.0.0.1')];
    const list = heard(b);
    a.send(b.address, new Uint8Array(DATAGRAM_MAX_BYTES + 1));
    a.send(b.address, Buffer.alloc(DATAGRAM_MAX_BYTES, 'x'));
    await vi.waitFor(() => expect(list.map(({ text }) => text.length)).toEqual([DATAGRAM_MAX_BYTES]));
    expect(b.counts).toMatchObject({ received: 2, oversized: 1 });
  });

  it('says which address is taken', async () => {
    const a = await socketOn('127.0.0.1');
    const port = Number(a.address.split(':')[1]);
    await expect(UdpSocket.open({ listen: { host: '127.0.0.1', port } })).rejects.toThrow(`UDP ${a.address}: bind EADDRINUSE`);
  });
});

describe('ownAddressTowards', () => {
  it('is the address that the routes choose', async () => {
    expect(await ownAddressTowards('127.0.0.1', 443)).toBe('127.0.0.1');
  });

  it('rejects where no route leads', async () => {
    // To broadcast needs a permission that the socket does not have.
    await expect(ownAddressTowards('255.255.255.255', 443)).rejects.toThrow('no route to 255.255.255.255');
  });

  it('binds nothing that stays', async () => {
    await ownAddressTowards('127.0.0.1', 7_411);
    const socket = createSocket('udp4');
    await expect(new Promise<void>((resolve) => socket.bind(7_411, '127.0.0.1', resolve))).resolves.toBeUndefined();
    socket.close();
  });
});
