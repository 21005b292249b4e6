import type { ClientRequest, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

import { lookup } from '../../src/domain/lookup.ts';

const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Nobody is asked to compress: some firmware does so all the same. */
const UNPACK: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** An answer of more than we take. */
export class Oversize extends Error {
  override readonly name = 'Oversize';
  constructor() {
    super(`an answer of more than ${BODY_BYTES_MAX} bytes`);
  }
}

/**
 * Sends `body` with the request, and resolves with the answer and all bytes of it, 4 MiB at most. Rejects with `Oversize`, with what the request or the
 * connection failed with, or as soon as `signal` is aborted; the connection is closed then.
 */
export async function wholeAnswer(sent: ClientRequest, body: string | undefined, signal: AbortSignal): Promise<[IncomingMessage, Buffer]> {
  const [message, bytes] = await packedAnswer(sent, body, signal);
  const unpack = lookup(UNPACK, message.headers['content-encoding'] ?? '');
  return [message, unpack === undefined || bytes.length === 0 ? bytes : await unpacked(unpack(bytes, { maxOutputLength: BODY_BYTES_MAX }))];
}

function packedAnswer(sent: ClientRequest, body: string | undefined, signal: AbortSignal): Promise<[IncomingMessage, Buffer]> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      // At once: a connection that is still being made would be waited for.
      reject(new Error('given up'));
      sent.destroy();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', onAbort);
      reject(error);
    };
    sent.on('error', fail);
    sent.once('response', (message) => {
      const parts: Buffer[] = [];
      let length = 0;
      message.on('error', fail);
      message.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length > BODY_BYTES_MAX) message.destroy(new Oversize());
      });
      message.once('end', () => {
        signal.removeEventListener('abort', onAbort);
        resolve([message, Buffer.concat(parts)]);
      });
    });
    sent.end(body);
  });
}

async function unpacked(bytes: Promise<Buffer>): Promise<Buffer> {
  try {
    return await bytes;
  } catch (error) {
    if (error instanceof RangeError) throw new Oversize();
    throw error;
  }
}
