import { execFile } from 'node:child_process';
import type { DaemonLog } from '../../ports/node-daemon.ts';
import { codeOf } from './file-errors.ts';

export interface NotifyOptions {
  /** Of the process: `NOTIFY_SOCKET`. Absent: systemd does not supervise it, and nothing is said. */
  environment: Readonly<Record<string, string | undefined>>;
  log: DaemonLog;
  /** Default: `systemd-notify`: Node has no unix datagrams. */
  program?: string;
}

const WITHIN_MS = 5_000;

/** sd_notify(3), by a child for each message; the unit says NotifyAccess=all. Never throws: systemd itself notices what it does not hear. */
export class SystemdNotify {
  readonly #options: NotifyOptions;
  readonly #isSupervised: boolean;
  #isPinging = false;
  #problem = '';

  constructor(options: NotifyOptions) {
    this.#options = options;
    this.#isSupervised = (options.environment['NOTIFY_SOCKET'] ?? '') !== '';
  }

  /** How often systemd wants to hear of progress, half of what it waits for; undefined: it does not. */
  get pingIntervalMs(): number | undefined {
    const waitsUs = Number(this.#options.environment['WATCHDOG_USEC'] ?? '');
    return this.#isSupervised && Number.isFinite(waitsUs) && waitsUs > 0 ? waitsUs / 2_000 : undefined;
  }

  ready(status: string): Promise<void> {
    return this.#say('--ready', `--status=${status}`);
  }

  status(status: string): Promise<void> {
    return this.#say(`--status=${status}`);
  }

  stopping(): Promise<void> {
    return this.#say('STOPPING=1');
  }

  /** Only where the daemon's checks get on. One at a time: what is late is late. */
  async progress(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    await this.#say('WATCHDOG=1').finally(() => {
      this.#isPinging = false;
    });
  }

  #say(...parameters: string[]): Promise<void> {
    if (!this.#isSupervised) return Promise.resolve();
    const { environment, log, program = 'systemd-notify' } = this.#options;
    return new Promise((resolve) => {
      execFile(program, parameters, { env: environment, timeout: WITHIN_MS, killSignal: 'SIGKILL' }, (error) => {
        const problem = error === null ? '' : codeOf(error) === 'ENOENT' ? `there is no ${program}` : error.message.trim();
        if (problem !== '' && problem !== this.#problem) log.warn('systemd does not hear of this daemon', { error: problem });
        this.#problem = problem;
        resolve();
      });
    });
  }
}
