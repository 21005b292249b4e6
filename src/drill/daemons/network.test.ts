import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Network } from './network.ts';

const run = promisify(execFile);
const problem = Network.problem();

/** Whether a datagram from one comes back from the other. */
async function reaches(network: Network, from: string, to: string): Promise<boolean> {
  const [program = '', ...words] = network.at(from, [process.execPath, '-e', ASK, network.address(from), network.address(to)]);
  const { stdout } = await run(program, words, { timeout: 10_000 });
  return stdout === 'answered';
}

const ECHO = `
  const socket = require('node:dgram').createSocket('udp4');
  socket.on('message', (message, { port, address }) => socket.send(message, port, address));
  socket.bind(7, process.argv[1], () => console.log('up'));
  process.stdin.on('close', () => process.exit()).resume();`;
const ASK = `
  const socket = require('node:dgram').createSocket('udp4');
  const end = (word) => { process.stdout.write(word); process.exit(); };
  socket.on('message', () => end('answered'));
  socket.bind(0, process.argv[1], () => socket.send('?', 7, process.argv[2]));
  setTimeout(() => end('silence'), 700);`;

describe.skipIf(problem !== undefined)(`a network of namespaces${problem === undefined ? '' : ` (${problem})`}`, () => {
  const echoes: ReturnType<typeof execFile>[] = [];
  let network: Network;

  beforeAll(async () => {
    network = Network.create(['a', 'b', 'c']);
    for (const name of ['b', 'c']) {
      const [program = '', ...words] = network.at(name, [process.execPath, '-e', ECHO, network.address(name)]);
      const child = execFile(program, words);
      echoes.push(child);
      await new Promise((resolve) => child.stdout?.once('data', resolve));
    }
  });

  afterAll(() => {
    for (const child of echoes) child.stdin?.end();
    network.close();
  });

  it('carries datagrams; a path that is cut loses them in silence, the others go on, and it heals', async () => {
    expect(await reaches(network, 'a', 'b')).toBe(true);
    network.cut('a', 'b');
    expect(await reaches(network, 'a', 'b')).toBe(false);
    expect(await reaches(network, 'a', 'c')).toBe(true);
    network.heal('a', 'b');
    expect(await reaches(network, 'a', 'b')).toBe(true);
  });

  it('names who is not in it', () => {
    expect(() => network.address('d')).toThrow('d is not in the network: there are a, b, c');
  });
});
