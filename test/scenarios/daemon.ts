import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { until } from './waiting.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const MAIN = programPath('main');
/** Of a process that begins, on a loaded machine. */
const START_DEADLINE_MS = 30_000;

interface LogLine {
  level: string;
  message: string;
  error?: string;
  reason?: string;
  address?: string;
}

/** `nodefence controller` as an operating-system process of its own. */
export class Daemon {
  readonly #process: ChildProcess;
  readonly #exit: Promise<number | string>;
  #stderr = '';
  #stdout = '';
  #ended: number | string | undefined;

  constructor(kubeconfig: string, flags: readonly string[] = []) {
    const { KUBECONFIG: _ambient, ...ambient } = process.env;
    // The devices of tests are on this machine, which a controller calls only when it is told so.
    const environment = { ...ambient, NODEFENCE_DEVICE_ADDRESSES: '127.0.0.0/8' };
    const given = ['controller', '--kubeconfig', kubeconfig, '--http-address', '127.0.0.1:0', '--log-format', 'json', ...flags];
    this.#process = spawn(process.execPath, [MAIN, ...given], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString('utf8');
    });
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString('utf8');
    });
    this.#exit = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => {
        this.#ended = code ?? signal ?? 'nothing';
        resolve(this.#ended);
      });
    });
  }

  /** Exit code or signal; undefined while it runs. */
  get ended(): number | string | undefined {
    return this.#ended;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get log(): LogLine[] {
    const complete = this.#stderr.split('\n').slice(0, -1);
    return complete.map((line) => JSON.parse(line) as LogLine);
  }

  logged(message: string): boolean {
    return this.log.some((line) => line.message === message);
  }

  /** Resolves when it has logged this message. */
  async says(message: string, withinMs = START_DEADLINE_MS): Promise<void> {
    const ask = async (): Promise<true | undefined> => (this.logged(message) ? true : undefined);
    await until(`the controller says "${message}"`, ask, withinMs, async () => this.#stderr.slice(-2_000));
  }

  /** HTTP status and body of its /readyz. */
  async readyz(): Promise<{ status: number; body: string }> {
    const address = this.log.find((line) => line.message === 'starting')?.address ?? '';
    const response = await fetch(`http://${address}/readyz`);
    return { status: response.status, body: await response.text() };
  }

  /** Resolves when /readyz answers with this status. */
  async isReadyz(status: number, withinMs = START_DEADLINE_MS): Promise<string> {
    return until(
      `/readyz is ${status}`,
      async () => {
        const answer = await this.readyz();
        return answer.status === status ? answer.body : undefined;
      },
      withinMs,
    );
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves with its exit code or signal. */
  exit(): Promise<number | string> {
    return this.#exit;
  }

  async kill(): Promise<void> {
    if (this.#ended === undefined) this.#process.kill('SIGKILL');
    await this.#exit;
  }
}
