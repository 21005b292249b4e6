import { createServer } from 'node:http2';
import type { Http2Server, Http2Session, ServerHttp2Stream } from 'node:http2';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Sandbox {
  id: string;
  name: string;
  namespace: string;
  uid: string;
}

export interface RunningContainer {
  id: string;
  sandboxID: string;
  /** As the kubelet notes it. */
  graceSeconds?: number;
}

/** A container runtime as far as its pods go: runtime.v1 over gRPC on a unix socket. Encodes for itself. */
export class CriServer {
  readonly stopped: string[] = [];
  /** In their order: `container-1 5` asked to end within 5 s, `sandbox-1` taken down. */
  readonly calls: string[] = [];
  /** Answers nothing any more. */
  isHung = false;
  readonly #server: Http2Server;
  readonly #sessions = new Set<Http2Session>();
  readonly #onStop: (id: string) => string | undefined;
  sandboxes: Sandbox[] = [];
  containers: RunningContainer[] = [];

  /** `onStop` gives words where the pod cannot be stopped. */
  constructor(onStop: (id: string) => string | undefined = () => undefined) {
    this.#onStop = onStop;
    this.#server = createServer();
    this.#server.on('session', (session) => this.#sessions.add(session));
    this.#server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => stream.destroy());
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (!this.isHung) this.#answer(stream, headers[':path'] ?? '', Buffer.concat(chunks).subarray(5));
      });
    });
  }

  listen(path: string): Promise<void> {
    mkdirSync(dirname(path), { recursive: true });
    return new Promise((resolve) => this.#server.listen(path, resolve));
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
    this.#server.close();
  }

  #answer(stream: ServerHttp2Stream, path: string, message: Buffer): void {
    if (path === '/runtime.v1.RuntimeService/ListPodSandbox') {
      const items = this.sandboxes.map(({ id, name, namespace, uid }) => {
        const metadata = Buffer.concat([text(1, name), text(2, uid), text(3, namespace), Buffer.from([0x20, 0x01])]);
        // State, created_at and a label stand between what is needed.
        const item = Buffer.concat([
          text(1, id),
          part(2, metadata),
          Buffer.from([0x18, 0x00, 0x20, 0x80, 0x80, 0x80, 0x80, 0x10]),
          part(5, Buffer.from('x')),
        ]);
        return part(1, item);
      });
      reply(stream, Buffer.concat(items));
      return;
    }
    if (path === '/runtime.v1.RuntimeService/ListContainers') {
      reply(stream, Buffer.concat(this.containers.map((container) => part(1, encoded(container)))));
      return;
    }
    const id = message.subarray(2, 2 + (message[1] ?? 0)).toString();
    if (path.endsWith('/StopContainer')) {
      this.calls.push(`${id} ${String(message.at(-1))}`);
      reply(stream, Buffer.alloc(0));
      return;
    }
    this.calls.push(id);
    const problem = path.endsWith('/StopPodSandbox') ? this.#onStop(id) : 'unknown method';
    if (problem === undefined) this.stopped.push(id);
    reply(stream, Buffer.alloc(0), problem);
  }
}

/** With what else stands in an annotation, and a state between. */
function encoded({ id, sandboxID, graceSeconds }: RunningContainer): Buffer {
  const noted = graceSeconds === undefined ? [] : [['io.kubernetes.pod.terminationGracePeriod', String(graceSeconds)]];
  const annotations = [['io.kubernetes.container.restartCount', '7'], ...noted];
  const entries = annotations.map(([key = '', value = '']) => part(9, Buffer.concat([text(1, key), text(2, value)])));
  return Buffer.concat([text(1, id), text(2, sandboxID), Buffer.from([0x30, 0x01]), ...entries]);
}

function reply(stream: ServerHttp2Stream, message: Buffer, problem?: string): void {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const trailers = problem === undefined ? { 'grpc-status': '0' } : { 'grpc-status': '2', 'grpc-message': encodeURIComponent(problem) };
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(Buffer.concat([prefix, message]));
}

function part(number: number, bytes: Buffer): Buffer {
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length % 128) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}

function text(number: number, value: string): Buffer {
  return part(number, Buffer.from(value));
}
