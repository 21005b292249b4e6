import type { IncomingMessage } from 'node:http';
import { TransportError } from '../../ports/api-transport.ts';

/** The whole body as text. Rejects when the connection breaks before its end, or when it is longer than `bytesMax`. */
export function readBody(response: IncomingMessage, bytesMax: number): Promise<string> {
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
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
    response.on('close', () => {
      // An error that nobody gets costs as much as the rest of the answer.
      if (!response.readableEnded) reject(new TransportError('unreachable', 'the connection broke in the middle of the answer'));
    });
  });
}
