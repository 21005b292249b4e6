import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

import type { Clock } from '../../../ports/clock.ts';
import { encodeAnswer, parseRequest, STATUS, type AnswerBinding, type SnmpRequest } from './message.ts';
import type { Tree } from './tree.ts';

/** How a device misbehaves on the wire. What is left out is as it should be. */
export interface SnmpFaults {
  /** Each answer comes so much later. */
  latencyMs?: number;
  /** SETs are answered, and done, so much later. */
  setLatencyMs?: number;
  /** Nothing is answered. */
  isMute?: boolean;
  /** What is sent in place of an answer. */
  garbage?: Buffer;
  /** Of each answer only so much is sent. */
  keepsBytes?: number;
  /** A SET is answered with this error-status and not done. */
  setStatus?: number;
  /** Every so manieth request is dropped, as a full queue does. */
  dropsEvery?: number;
  /** Nothing is answered after so many requests. */
  mutesAfter?: number;
}

export interface SnmpDeviceOptions {
  tree: Tree;
  clock: Clock;
  /** Reads only. */
  readCommunity?: string;
  writeCommunity: string;
  faults?: SnmpFaults;
}

/** An SNMP 1 and 2c agent on loopback over a tree of objects, written apart from the client: GET, GETNEXT, GETBULK and SET. */
export class SnmpDevice {
  readonly #options: SnmpDeviceOptions;
  readonly #socket: Socket;
  readonly #timers = new Set<() => void>();
  faults: SnmpFaults;
  requests = 0;
  /** Every SET that came, also those that were refused. */
  readonly sets: { oid: string; integer: number | undefined }[] = [];

  private constructor(options: SnmpDeviceOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.faults = options.faults ?? {};
    socket.on('message', (datagram, from) => this.#receive(datagram, from));
  }

  static async start(options: SnmpDeviceOptions): Promise<SnmpDevice> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(0, '127.0.0.1', resolve);
    });
    return new SnmpDevice(options, socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #receive(datagram: Buffer, from: RemoteInfo): void {
    this.requests += 1;
    const { isMute, garbage, keepsBytes, dropsEvery, mutesAfter = Infinity, latencyMs = 0, setLatencyMs = latencyMs } = this.faults;
    if (isMute === true || this.requests > mutesAfter || (dropsEvery !== undefined && this.requests % dropsEvery === 0)) return;
    const request = parseRequest(datagram);
    if (request?.kind === 'set') this.sets.push(...request.bindings);
    const { readCommunity, writeCommunity } = this.#options;
    // As the protocol says: a wrong community is met with silence.
    if (request === undefined || (request.community !== writeCommunity && request.community !== readCommunity)) return;
    const respond = (): void => {
      const answer = garbage ?? this.#answer(request);
      this.#socket.send(keepsBytes === undefined ? answer : answer.subarray(0, keepsBytes), from.port, from.address);
    };
    const delayMs = request.kind === 'set' ? setLatencyMs : latencyMs;
    if (delayMs === 0) respond();
    else this.#later(delayMs, respond);
  }

  #later(delayMs: number, work: () => void): void {
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      work();
    });
    this.#timers.add(cancel);
  }

  #answer(request: SnmpRequest): Buffer {
    if (request.kind === 'set') return this.#set(request);
    const bindings = request.kind === 'bulk' ? this.#bulk(request) : request.bindings.map(({ oid }) => this.#one(request.kind, oid));
    const missing = bindings.findIndex(({ value }) => value === 'noSuchInstance' || value === 'endOfMibView');
    if (request.version > 0 || missing === -1) return encodeAnswer(request, STATUS.noError, 0, bindings);
    return this.#failed(request, STATUS.noSuchName, missing + 1);
  }

  #one(kind: 'get' | 'next' | 'bulk' | 'set', oid: string): AnswerBinding {
    const name = kind === 'get' ? oid : this.#options.tree.after(oid);
    if (name === undefined) return { oid, value: 'endOfMibView' };
    const cell = this.#options.tree.at(name);
    return { oid: name, value: cell === undefined ? 'noSuchInstance' : (cell.read() ?? null) };
  }

  #bulk({ bindings, nonRepeaters, repetitions }: SnmpRequest): AnswerBinding[] {
    const answers = bindings.slice(0, nonRepeaters).map(({ oid }) => this.#one('next', oid));
    let row = bindings.slice(nonRepeaters).map(({ oid }) => oid);
    for (let count = 0; count < repetitions && row.length > 0; count++) {
      const found = row.map((oid) => this.#one('next', oid));
      answers.push(...found);
      row = found.map(({ oid }) => oid);
      if (found.every(({ value }) => value === 'endOfMibView')) break;
    }
    return answers;
  }

  #set(request: SnmpRequest): Buffer {
    const { tree, readCommunity, writeCommunity } = this.#options;
    const mayWrite = request.community === writeCommunity && request.community !== readCommunity;
    for (const [place, { oid, integer }] of request.bindings.entries()) {
      const cell = tree.at(oid);
      const set = cell?.set?.bind(cell);
      const status = !mayWrite
        ? STATUS.noAccess
        : (this.faults.setStatus ?? (set === undefined ? STATUS.notWritable : integer === undefined ? STATUS.wrongValue : set(integer)));
      if (status !== STATUS.noError) return this.#failed(request, request.version === 0 ? STATUS.noSuchName : status, place + 1);
    }
    return encodeAnswer(
      request,
      STATUS.noError,
      0,
      request.bindings.map(({ oid, integer }) => ({ oid, value: integer === undefined ? null : { integer } })),
    );
  }

  #failed(request: SnmpRequest, status: number, errorIndex: number): Buffer {
    return encodeAnswer(
      request,
      status,
      errorIndex,
      request.bindings.map(({ oid }) => ({ oid, value: null })),
    );
  }
}
