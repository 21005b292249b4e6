import { connect, constants } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { createConnection } from 'node:net';
import { fieldsOf, numberField, textField } from './protobuf.ts';
import type { Field } from './protobuf.ts';

/** A pod as its runtime keeps it. */
export interface PodSandbox {
  id: string;
  name: string;
  namespace: string;
  uid: string;
}

/** A container that runs. */
export interface Container {
  id: string;
  sandboxID: string;
  /** How long its pod has to end, as the kubelet has noted there; undefined: somebody else started it. */
  graceSeconds?: number;
}

/** ContainerFilter: 2 state; ContainerStateValue: 1, which is CONTAINER_RUNNING. */
const ONLY_RUNNING = Buffer.from([0x0a, 0x04, 0x12, 0x02, 0x08, 0x01]);
/** Annotation of a container. */
const GRACE = 'io.kubernetes.pod.terminationGracePeriod';
/** Of all pods of a node; the kubelet takes 16 MiB too. */
const ANSWER_MAX_BYTES = 16_777_216;
const SERVICE = '/runtime.v1.RuntimeService';
const PREFIX_BYTES = 5;

/** The container runtime, by gRPC over its socket (k8s.io/cri-api, runtime.v1). Every call ends with the signal: a runtime that hangs holds nothing up. */
export class CriRuntime {
  readonly #session: ClientHttp2Session;
  #failure: Error | undefined;

  constructor(socketPath: string) {
    this.#session = connect('http://localhost', { createConnection: () => createConnection(socketPath) });
    this.#session.on('error', (error: Error) => {
      this.#failure = error;
    });
  }

  async podSandboxes(signal: AbortSignal): Promise<PodSandbox[]> {
    const answer = await this.#call('ListPodSandbox', Buffer.alloc(0), signal);
    return fieldsOf(answer)
      .filter(({ number }) => number === 1)
      .map(({ bytes }) => sandboxOf(bytes));
  }

  async containers(signal: AbortSignal): Promise<Container[]> {
    const answer = await this.#call('ListContainers', ONLY_RUNNING, signal);
    return fieldsOf(answer)
      .filter(({ number }) => number === 1)
      .map(({ bytes }) => containerOf(bytes));
  }

  /** Asks it to end, and kills it after so long. */
  async stopContainer(id: string, graceSeconds: number, signal: AbortSignal): Promise<void> {
    await this.#call('StopContainer', Buffer.concat([textField(1, id), numberField(2, graceSeconds)]), signal);
  }

  /** Kills its containers, without asking them, and takes its network down. Stopping one that is stopped succeeds. */
  async stopPodSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#call('StopPodSandbox', textField(1, id), signal);
  }

  close(): void {
    this.#session.destroy();
  }

  #call(method: string, message: Buffer, signal: AbortSignal): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    if (signal.aborted || this.#session.destroyed) return Promise.reject(this.#failure ?? new Error(`${method}: given up`));
    const request = this.#session.request({
      ':method': 'POST',
      ':path': `${SERVICE}/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const give = (): void => request.close(constants.NGHTTP2_CANCEL);
    signal.addEventListener('abort', give, { once: true });
    const chunks: Buffer[] = [];
    let size = 0;
    let status: { code: string; words: string } | undefined;
    const hear = (headers: Readonly<Record<string, unknown>>): void => {
      const { 'grpc-status': code, 'grpc-message': words } = headers;
      // Its percent signs stay: what is badly encoded must not throw here.
      if (typeof code === 'string') status = { code, words: typeof words === 'string' ? words.replaceAll('%20', ' ') : '' };
    };
    request.on('response', hear);
    request.on('trailers', hear);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > ANSWER_MAX_BYTES) request.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
    request.on('error', (error: Error) => reject(new Error(`${method}: ${error.message}`, { cause: error })));
    request.on('close', () => {
      signal.removeEventListener('abort', give);
      if (status?.code === '0') resolve(unwrapped(Buffer.concat(chunks)));
      else
        reject(new Error(`${method}: ${status === undefined ? (this.#failure?.message ?? 'no answer') : `status ${status.code} ${status.words}`}`));
    });
    request.end(wrapped(message));
    return promise;
  }
}

/** Length-prefixed message, not compressed. */
function wrapped(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function unwrapped(bytes: Buffer): Buffer {
  if (bytes.length < PREFIX_BYTES) return Buffer.alloc(0);
  return bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + bytes.readUInt32BE(1));
}

/** PodSandbox: 1 id, 2 metadata; PodSandboxMetadata: 1 name, 2 uid, 3 namespace. */
function sandboxOf(bytes: Buffer): PodSandbox {
  const fields = fieldsOf(bytes);
  const metadata = fieldsOf(fields.find(({ number }) => number === 2)?.bytes ?? Buffer.alloc(0));
  return { id: text(fields, 1), name: text(metadata, 1), uid: text(metadata, 2), namespace: text(metadata, 3) };
}

/** Container: 1 id, 2 pod_sandbox_id, 9 annotations; of each 1 key, 2 value. */
function containerOf(bytes: Buffer): Container {
  const fields = fieldsOf(bytes);
  const annotations = fields.filter(({ number }) => number === 9).map((entry) => fieldsOf(entry.bytes));
  const noted = annotations.find((entry) => text(entry, 1) === GRACE);
  const graceSeconds = noted === undefined ? Number.NaN : Number(text(noted, 2));
  return { id: text(fields, 1), sandboxID: text(fields, 2), ...(Number.isInteger(graceSeconds) && graceSeconds >= 0 ? { graceSeconds } : {}) };
}

function text(fields: readonly Field[], wanted: number): string {
  return fields.find(({ number }) => number === wanted)?.bytes.toString() ?? '';
}
