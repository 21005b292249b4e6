import type { Cluster } from '../../ports/cluster.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { hostEnvironment } from '../../runtime/host-environment.ts';
import { connectCluster } from '../connect-cluster.ts';
import { runFenceProgram } from './fence-program.ts';
import { answerPeople } from './people.ts';

const STDIN_MAX_BYTES = 1_048_576;
/** A fencer writes at once and closes. */
const ASKED_WITHIN_MS = 2_000;

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
    context: { cluster: NO_CLUSTER, clock, connect: (kubeconfig) => connectCluster(kubeconfig, clock), host: hostEnvironment(process.env) },
    signal: stop.signal,
    stdin: readStdin,
    out: (text) => void process.stdout.write(text),
    complain,
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.off(signal, onSignal);
}

/** `nodefence agent` without the name of an agent. True: it was answered. */
export async function agentForPeople(name: string | undefined, parameters: readonly string[]): Promise<boolean> {
  const clock = new SystemClock();
  const isTyped = process.stdin.isTTY;
  const answer = await answerPeople(name, parameters, () =>
    isTyped ? Promise.resolve('') : Promise.race([readStdin(), clock.sleep(ASKED_WITHIN_MS).then(() => undefined)]),
  );
  if (answer === undefined) return false;
  if (answer.complaint !== undefined) complain(answer.complaint);
  process.exitCode = answer.exitCode;
  // Whoever holds stdin open holds nothing up.
  process.stdin.destroy();
  if (answer.out !== undefined) process.stdout.write(answer.out);
  return true;
}

function complain(line: string): void {
  process.stderr.write(`nodefence: ${line.replaceAll(/[^\P{Cc}\t]/gu, '?')}\n`);
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
