import { createSocket } from 'node:dgram';
import type { RemoteInfo, Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { DATAGRAM_MAX_BYTES } from '../../domain/node-daemon/datagram.ts';
import type { BindAddress } from '../../http/bind-address.ts';
import type { DatagramSocket } from '../../ports/node-daemon.ts';
import { messageOf } from '../core/message-of.ts';
import { codeOf } from './file-errors.ts';

export interface UdpOptions {
  /** Host `::`: all addresses of the machine, where it has no IPv6 all of IPv4. */
  listen: BindAddress;
  /** What others reach, where it is not what is bound: an IP address, or one with its port. */
  address?: string;
  /** Bytes that may wait in this process to be sent; more are as good as lost. */
  queueMaxBytes?: number;
  /** Larger ones are counted here and handed to nobody; absent: no datagram of ours is larger. */
  largestBytes?: number;
}

export interface UdpCounts {
  sent: number;
  /** The system refused them, or their address is none. */
  failed: number;
  /** Too many waited to be sent. */
  overflowed: number;
  received: number;
  /** Larger than any datagram of ours. */
  oversized: number;
}

const QUEUE_MAX_BYTES = 262_144;
/** A second of heartbeats of 5,000 nodes; the system gives what `net.core.rmem_max` allows. */
const RECEIVE_BUFFER_BYTES = 4_194_304;

/** UDP over IPv4 or IPv6. Names are never resolved: a send must not wait for DNS. */
export class UdpSocket implements DatagramSocket {
  readonly address: string;
  readonly counts: UdpCounts = { sent: 0, failed: 0, overflowed: 0, received: 0, oversized: 0 };
  /** What was wrong with the last one that failed. */
  lastError: string | undefined;
  readonly #socket: Socket;
  readonly #isIPv6: boolean;
  readonly #queueMaxBytes: number;
  readonly #largestBytes: number;

  private constructor(socket: Socket, options: UdpOptions) {
    const { address, port, family } = socket.address();
    this.#socket = socket;
    this.#isIPv6 = family === 'IPv6';
    this.#queueMaxBytes = options.queueMaxBytes ?? QUEUE_MAX_BYTES;
    this.#largestBytes = options.largestBytes ?? DATAGRAM_MAX_BYTES;
    this.address = reachableAt(options.address ?? address, port);
    socket.on('error', (error) => this.#fail(error));
  }

  /** Rejects where the address is taken, or is none of this machine. */
  static async open(options: UdpOptions): Promise<UdpSocket> {
    const { host, port } = options.listen;
    try {
      return new UdpSocket(await bound(host, port), options);
    } catch (error) {
      if (host === '::' && codeOf(error) === 'EAFNOSUPPORT') return new UdpSocket(await bound('0.0.0.0', port), options);
      throw new Error(`UDP ${withPort(host, port)}: ${messageOf(error)}; choose another address to listen on`, { cause: error });
    }
  }

  send(address: string, bytes: Uint8Array): void {
    const to = parseAddress(address);
    if (to === undefined || this.#isClosed) {
      this.#fail(new Error(to === undefined ? `${address} is no address to send to` : 'the socket is closed'));
      return;
    }
    if (this.#socket.getSendQueueSize() + bytes.length > this.#queueMaxBytes) {
      this.counts.overflowed += 1;
      return;
    }
    const host = this.#isIPv6 && isIP(to.host) === 4 ? `::ffff:${to.host}` : to.host;
    try {
      this.#socket.send(bytes, to.port, host, (error) => {
        if (error === null) this.counts.sent += 1;
        else this.#fail(error);
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  receive(handle: (bytes: Uint8Array, from: string) => void): void {
    this.#socket.on('message', (message: Buffer, from: RemoteInfo) => {
      this.counts.received += 1;
      if (message.length > this.#largestBytes) this.counts.oversized += 1;
      else handle(new Uint8Array(message.buffer, message.byteOffset, message.length), withPort(plain(from.address), from.port));
    });
  }

  /** May be called twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.close();
  }

  #isClosed = false;

  #fail(error: unknown): void {
    this.counts.failed += 1;
    this.lastError = messageOf(error);
  }
}

/** The address of this machine that packets to `host` leave from, as its routes say; nothing is sent. Rejects where no route leads there. */
export function ownAddressTowards(host: string, port: number): Promise<string> {
  const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(new Error(`no route to ${host}: ${error.message}`, { cause: error }));
    });
    socket.once('connect', () => {
      const { address } = socket.address();
      socket.close();
      resolve(plain(address));
    });
    socket.connect(port, host);
  });
}

function bound(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const isIPv6 = isIP(host) === 6;
    const socket = createSocket({
      type: isIPv6 ? 'udp6' : 'udp4',
      // At once, so that what is sent leaves in the turn in which it was decided.
      lookup: (address, _options, callback) => callback(null, address, isIPv6 ? 6 : 4),
    });
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
      resolve(socket);
    });
  });
}

/** `192.0.2.7:7411` or `[2001:db8::7]:7411`; undefined for anything else, a name above all. */
function parseAddress(text: string): BindAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(digits);
  return isIP(host) === (bracketed === undefined ? 4 : 6) && port > 0 && port <= 65_535 ? { host, port } : undefined;
}

function reachableAt(address: string, port: number): string {
  if (parseAddress(address) !== undefined) return address;
  const host = address.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) throw new TypeError(`${address} is no address that others can send to: write an IP address, or one with its port`);
  return withPort(host, port);
}

function withPort(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A socket for both families shows IPv4 in the dress of IPv6. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
