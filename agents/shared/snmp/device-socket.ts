import { createSocket, type Socket } from 'node:dgram';
import { checkedAddress, type AddressCheck } from '../address/address-check.ts';
import type { SnmpSettings } from './settings.ts';

type Listener = (datagram: Buffer) => void;
type SendCallback = (error: Error | null, bytes: number) => void;

/** What net-snmp uses of a socket. */
interface SocketFace {
  on(event: string, listener: Listener): void;
  ref(): void;
  unref(): void;
  send(buffer: Buffer, offset: number, length: number, port: number, address: string, callback: SendCallback): void;
  close(): void;
}

interface Watcher {
  /** Looks at a datagram before anything else does; false drops it. */
  accepts(datagram: Buffer): boolean;
  /** A datagram that was let through could not be read. */
  onUnreadable(): void;
  /** The socket failed, for instance because nobody listens at the device's port. */
  onFailure(error: Error): void;
}

/**
 * A UDP socket that is connected to one device before it is used: the system drops what comes from any other address or port, tells when
 * nobody listens there, and a datagram is written in the very turn in which it is sent.
 */
export class DeviceSocket {
  readonly #socket: Socket;
  readonly #listeners: Listener[] = [];
  readonly #closeListeners: (() => void)[] = [];
  readonly #watcher: Watcher;
  /** Called before each datagram; throws when it must not leave. */
  #gate: () => void = () => undefined;
  #isClosed = false;

  private constructor(socket: Socket, watcher: Watcher) {
    this.#socket = socket;
    this.#watcher = watcher;
    socket.on('message', (datagram) => this.#receive(datagram));
    socket.on('error', (error) => watcher.onFailure(error));
    socket.on('close', () => {
      for (const listener of this.#closeListeners) listener();
    });
  }

  /** Resolves the name and connects; rejects with the system's own error. */
  static async open(
    { host, port, family }: Pick<SnmpSettings, 'host' | 'port' | 'family'>,
    watcher: Watcher,
    check: AddressCheck,
  ): Promise<DeviceSocket> {
    const found = await checkedAddress(host, family, check);
    const socket = createSocket(found.family === 6 ? 'udp6' : 'udp4');
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.connect(port, found.address, () => {
          socket.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      socket.close();
      throw error;
    }
    return new DeviceSocket(socket, watcher);
  }

  /** In place of `node:dgram` for net-snmp. */
  get module(): { createSocket: () => SocketFace } {
    const face: SocketFace = {
      on: (event, listener) => this.#listen(event, listener),
      ref: () => void this.#socket.ref(),
      unref: () => void this.#socket.unref(),
      send: (buffer, offset, length, _port, _address, callback) => {
        this.#gate();
        this.#socket.send(buffer, offset, length, callback);
      },
      close: () => this.#close(),
    };
    return { createSocket: () => face };
  }

  /** While `work` runs, each datagram passes `gate` first, in the turn of its write. */
  guarded(gate: () => void, work: () => void): void {
    this.#gate = gate;
    try {
      work();
    } finally {
      this.#gate = () => undefined;
    }
  }

  /** Nothing leaves until the returned function is called: what would leave fails with `error`. */
  hold(error: Error): () => void {
    this.#gate = () => {
      throw error;
    };
    return () => {
      this.#gate = () => undefined;
    };
  }

  #listen(event: string, listener: Listener): void {
    if (event === 'message') this.#listeners.push(listener);
    if (event === 'close') this.#closeListeners.push(listener as () => void);
  }

  #receive(datagram: Buffer): void {
    if (!this.#watcher.accepts(datagram)) return;
    for (const listener of this.#listeners) {
      try {
        listener(datagram);
      } catch (error) {
        // What net-snmp cannot read may throw; it must end neither the process nor the wait for the true answer.
        if (!(error instanceof Error)) throw error;
        this.#watcher.onUnreadable();
      }
    }
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.close();
  }
}
