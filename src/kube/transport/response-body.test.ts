import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBody } from './response-body.ts';

describe('the body of an answer', () => {
  it('is read whole up to its bound', async () => {
    const stream = new PassThrough();
    const body = readBody(stream as unknown as IncomingMessage, 4);
    stream.write('ab');
    stream.end('cd');
    expect((await body).toString()).toBe('abcd');
  });

  it('is given up where it goes beyond its bound, whatever else is still to come', async () => {
    const stream = new PassThrough();
    const body = readBody(stream as unknown as IncomingMessage, 4);
    stream.write('abc');
    stream.end('de');
    await expect(body).rejects.toMatchObject({ kind: 'garbled', message: 'the answer is longer than 4 bytes' });
    expect(stream.destroyed).toBe(true);
  });

  it('is none when the connection ends before it does', async () => {
    const stream = new PassThrough();
    const body = readBody(stream as unknown as IncomingMessage, 4);
    stream.write('ab');
    stream.destroy();
    await expect(body).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
