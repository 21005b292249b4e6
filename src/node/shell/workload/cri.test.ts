import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { Http2Server, Http2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CriRuntime } from './cri.ts';

interface Recorded {
  status: string;
  message: string;
  /** Hexadecimal, with its prefix. */
  answer: string;
}

const { answers } = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/containerd-1.6.20.json'), 'utf8')) as {
  answers: Readonly<Record<string, Recorded>>;
};
const [FIRST, SECOND] = [
  '6a03191a98de706aa6c037b11f664c0f81c11f051a2bc34ea347cd54e84719c9',
  'ea19d55589d0dd1a0f8ca8e753829ddb546c5c85faace1f3c8c5a37a303ecf81',
];

describe('what a real containerd answers', () => {
  const signal = AbortSignal.timeout(10_000);
  const sessions = new Set<Http2Session>();
  let folder: string;
  let server: Http2Server;
  let runtime: CriRuntime;
  let asked: { path: string; message: string }[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cri-'));
    asked = [];
    server = createServer();
    server.on('session', (session) => sessions.add(session));
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const method = headers[':path']?.split('/').at(-1) ?? '';
        const message = Buffer.concat(chunks).subarray(5);
        asked.push({ path: headers[':path'] ?? '', message: message.toString('hex') });
        const said = answers[message.toString().includes('feedfeed') ? `${method} of an unknown one` : method];
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': said?.status ?? '12', 'grpc-message': said?.message ?? '' }));
        stream.end(Buffer.from(said?.answer ?? '', 'hex'));
      });
    });
    const path = join(folder, 'containerd.sock');
    await new Promise<void>((resolve) => server.listen(path, resolve));
    runtime = new CriRuntime(path);
  });
  afterEach(() => {
    runtime.close();
    for (const session of sessions) session.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('is read as its pods, with the uid that their cgroups are called after', async () => {
    expect(await runtime.podSandboxes(signal)).toEqual([
      { id: FIRST, name: 'counter', uid: 'c29cbf5b-c6ef-4dfc-a56e-a96ac20cd9e2', namespace: 'default' },
      { id: SECOND, name: 'counter', uid: '4cdbaaae-2f56-4e81-aefa-cde1a81bb286', namespace: 'default' },
    ]);
  });

  it('is read as its containers, with the time that a kubelet noted and without one that nobody did', async () => {
    const containers = await runtime.containers(signal);
    expect(containers.map(({ sandboxID, graceSeconds }) => [sandboxID, graceSeconds])).toEqual(
      expect.arrayContaining([
        [SECOND, 30],
        [FIRST, undefined],
      ]) as unknown,
    );
    expect(containers.map(({ id }) => id.length)).toEqual([64, 64]);
    // Filter of the running ones: it was accepted by that containerd.
    expect(asked).toEqual([{ path: '/runtime.v1.RuntimeService/ListContainers', message: '0a0412020801' }]);
  });

  it('is a stop that succeeded, or one of something that is not there', async () => {
    await runtime.stopContainer('2a9d', 300, signal);
    await runtime.stopPodSandbox('ea19', signal);
    expect(asked.map(({ message }) => message)).toEqual(['0a043261396410ac02', '0a0465613139']);
    await expect(runtime.stopContainer('feedfeed', 5, signal)).rejects.toThrow(
      'StopContainer: status 5 an error occurred when try to find container "feedfeed": not found',
    );
    await expect(runtime.stopPodSandbox('feedfeed', signal)).rejects.toThrow('StopPodSandbox: status 5 ');
  });
});
