import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Exposure } from './exposure.ts';

const SECRET = 'planted-4711';

describe('What a controller shows of itself', () => {
  it('is its own command line and environment, and those of a program that it starts', async () => {
    const script = `const { spawn } = require('node:child_process');
      spawn('sleep', ['60'], { env: { PATH: process.env.PATH, LOGIN: process.argv[1] } }).once('spawn', () => console.log('started'));`;
    const child = spawn(process.execPath, ['-e', script, SECRET], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const exposure = new Exposure(() => [{ name: 'controller-1', child: { pid: child.pid ?? 0 } }]);
    try {
      exposure.look();
    } finally {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }
    expect(exposure.texts['command line of controller-1']).toContain(SECRET);
    const ofChild = Object.entries(exposure.texts).filter(([what]) => /^environment of process \d+ of controller-1$/.test(what));
    expect(ofChild.map(([, text]) => text.includes(`LOGIN=${SECRET}`))).toEqual([true]);
    expect(exposure.processes).toBe(2);
    expect([...exposure.dumps]).toContain('controller-1');
    expect(new Exposure(() => [{ name: 'gone', child: { pid: child.pid ?? 0 } }]).texts).toEqual({});
  });

  it('is what its pages say', async () => {
    const server = createServer((request, response) => response.end(`${request.url ?? ''} ${SECRET}`));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const bound = server.address();
    const exposure = new Exposure(() => []);
    await exposure.readPages('controller-1', `127.0.0.1:${typeof bound === 'object' ? (bound?.port ?? 0) : 0}`);
    server.close();
    expect(exposure.texts['metrics of controller-1']).toBe(`/metrics ${SECRET}`);
    expect(Object.keys(exposure.texts)).toHaveLength(3);
  });
});
