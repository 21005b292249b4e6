import type { Cluster } from '../../ports/cluster.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { connectCluster } from '../connect-cluster.ts';
import { runFenceProgram } from './fence-program.ts';

const STDIN_MAX_BYTES = 1_048_576;

/** A call from a command line stands in no cluster of its own; one that a parameter describes may be reached. */
const NO_CLUSTER: Cluster = new Proxy({} as Cluster, {
  get: () => () =>
    Promise.reject(new Error('an agent that is called from the command line reaches no cluster but one that its kubeconfig describes')),
});

/** Runs an agent as this process: stdin, stdout, stderr, signals and the exit code are the call's. */
export async function fenceProcess(name: string | undefined, argv: readonly string[]): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new Error('this process is to end'));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, onSignal);
  const clock = new SystemClock();
  // Set first: whatever goes wrong from here on, no exit code may say off.
  process.exitCode = 1;
  process.exitCode = await runFenceProgram(name, argv, {
    context: { cluster: NO_CLUSTER, clock, connect: (kubeconfig) => connectCluster(kubeconfig, clock) },
    signal: stop.signal,
    stdin: readStdin,
    out: (text) => void process.stdout.write(text),
    complain: (line) => void process.stderr.write(`nodefence: ${line.replaceAll(/[^\P{Cc}\t]/gu, '?')}\n`),
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.off(signal, onSignal);
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > STDIN_MAX_BYTES) throw new Error(`more than ${STDIN_MAX_BYTES} bytes on stdin`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
