import type { IncomingMessage } from 'node:http';
import { TransportError } from '../../ports/api-transport.ts';
import { decodeObject } from '../protobuf/decode.ts';
import type { Texts } from '../protobuf/texts.ts';
import { Malformed } from '../protobuf/wire.ts';
import { isProtobuf } from './media-type.ts';

/** The whole body. Rejects when the connection breaks before its end, or when it is longer than `bytesMax`. */
export function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        response.destroy(new TransportError('garbled', `the answer is longer than ${String(bytesMax)} bytes`));
        return;
      }
      chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () => {
      resolve(Buffer.concat(chunks));
    });
    response.on('close', () => {
      // An error that nobody gets costs as much as the rest of the answer.
      if (!response.readableEnded) reject(new TransportError('unreachable', 'the connection broke in the middle of the answer'));
    });
  });
}

/** What a body says, by the type that the server calls it: plain JSON, or the text as it stands. Throws where it is not of that type, unless the request failed anyway. */
export function bodyOf(what: string, { headers, statusCode = 0 }: IncomingMessage, bytes: Buffer, texts: Texts): unknown {
  const type = headers['content-type'];
  try {
    if (isProtobuf(type)) return decodeObject(bytes, texts);
    return type?.includes('json') === true ? JSON.parse(bytes.toString('utf8')) : bytes.toString('utf8');
  } catch (error) {
    if (statusCode >= 400) return bytes.toString('utf8');
    // The parser's message of JSON quotes the text, which may be a Secret.
    const why = error instanceof Malformed ? error.message : error instanceof Error ? error.name : '';
    throw new TransportError('garbled', `${what}: the answer says that it is ${isProtobuf(type) ? 'protobuf' : 'JSON'} and is not (${why})`);
  }
}
