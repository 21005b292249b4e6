/**
 * The drill's real control plane as a process of its own, in the place of `api.ts`: argv[2] names a JSON configuration file (it holds tokens);
 * one line of JSON on stdout says that it serves; commands come as lines of JSON on stdin, whose end is the end of all its programs.
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ControlPlane } from '../control-plane/control-plane.ts';
import type { ControlPlaneOptions } from '../control-plane/control-plane.ts';

type Configuration = Omit<ControlPlaneOptions, 'audit'> & {
  /** File to which ApiEvents are appended as lines of JSON. */
  trace?: string;
};

/** `pause` is an outage of the API server (silent unless `how` is `refuse`), `resume` its end; the store is etcd. */
type Command =
  | { command: 'pause'; how?: 'silent' | 'refuse' }
  | { command: 'resume' }
  | { command: 'restart-store'; awayMs: number }
  | { command: 'forget-history' }
  | { command: 'stop' };

async function main(path: string): Promise<void> {
  const { trace: tracePath, ...options } = JSON.parse(readFileSync(path, 'utf8')) as Configuration;
  const trace = tracePath === undefined ? undefined : createWriteStream(tracePath, { flags: 'a' });
  const starting = ControlPlane.start({ ...options, audit: (event) => void trace?.write(`${JSON.stringify(event)}\n`) });
  const end = async (): Promise<void> => {
    await starting.then((plane) => plane.stop());
    await new Promise<void>((resolve) => (trace === undefined ? resolve() : trace.end(resolve)));
    process.exit(0);
  };
  process.once('SIGTERM', () => void end());
  const plane = await starting;
  process.stdout.write(`${JSON.stringify({ ready: true, url: plane.url, caPem: plane.caPem })}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const command = JSON.parse(line) as Command;
    if (command.command === 'stop') break;
    if (command.command === 'pause') await plane.pause(command.how ?? 'silent');
    else if (command.command === 'restart-store') await plane.restartStore(command.awayMs);
    else if (command.command === 'forget-history') await plane.forgetHistory();
    else await plane.resume();
  }
  await end();
}

try {
  await main(process.argv[2] ?? '');
} catch (error) {
  // Words, and the reason last: whoever started this process shows the end of what it said.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
  process.exit();
}
