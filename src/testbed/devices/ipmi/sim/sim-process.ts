import { spawn, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';

import { COMMANDS } from '../rmcp/commands.ts';
import { buildMessage } from '../rmcp/message.ts';
import { buildPlain } from '../rmcp/packet.ts';

const STARTS_MAX = 5;
const START_DEADLINE_MS = 5_000;
const ASK_AGAIN_MS = 20;

export interface SimProcess {
  port: number;
  close: () => Promise<void>;
}

/**
 * Runs ipmi_sim on a free port of the host and waits until it answers. Its console is our pipe: it ends with its input, also when this
 * process is killed. `onEnd`: it ended by itself.
 */
export async function startSimProcess(host: string, argumentsFor: (port: number) => string[], onEnd: (why: string) => void): Promise<SimProcess> {
  for (let start = 1; ; start += 1) {
    const port = await freePort(host);
    const child = spawn('ipmi_sim', argumentsFor(port), { stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-2_000);
    });
    // Writing to a simulator that has just ended is no error here.
    child.stdin.on('error', () => undefined);
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(`ipmi_sim ended with ${code ?? signal ?? 'nothing'}: ${said.trim()}`));
    });
    const answered = await answers(host, port, ended);
    if (answered === 'yes') {
      let isClosing = false;
      void ended.then((why) => {
        if (!isClosing) onEnd(why);
      });
      return {
        port,
        close: async () => {
          isClosing = true;
          stop(child);
          await ended;
        },
      };
    }
    stop(child);
    if (start === STARTS_MAX) throw new Error(`ipmi_sim did not start on ${host} in ${STARTS_MAX} attempts: ${answered}`);
  }
}

function stop(child: ChildProcess): void {
  child.stdin?.destroy();
  child.kill('SIGKILL');
}

async function freePort(host: string): Promise<number> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, host, resolve);
  });
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

/** `yes` once it answers a question that needs no login; else why not. */
async function answers(host: string, port: number, ended: Promise<string>): Promise<string> {
  const { netFn, command } = COMMANDS['authentication capabilities'];
  const message = { to: 0x20, from: 0x81, netFn, toLun: 0, fromLun: 0, sequence: 0, command, data: Buffer.from([0x8e, 0x04]) };
  const question = buildPlain(buildMessage(message));
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  // Nobody listens there yet: asked again.
  socket.on('error', () => undefined);
  const timer = setInterval(() => socket.send(question, port, host), ASK_AGAIN_MS);
  let deadline: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      new Promise<string>((resolve) => socket.once('message', () => resolve('yes'))),
      ended,
      new Promise<string>((resolve) => {
        deadline = setTimeout(() => resolve(`no answer within ${START_DEADLINE_MS} ms`), START_DEADLINE_MS);
      }),
    ]);
  } finally {
    clearInterval(timer);
    clearTimeout(deadline);
    socket.close();
  }
}
