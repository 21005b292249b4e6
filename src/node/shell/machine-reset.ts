import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineReset } from '../../ports/node-daemon.ts';
import type { Logger } from '../../ports/recorder.ts';
import { messageOf } from '../core/message-of.ts';

export interface ResetOptions {
  /** `/`, and another folder in tests: there is no way back from the real one. */
  root: string;
  logger: Logger;
  /** Default: `reboot -ff`, which asks no init system either; none where the root is another one, for that program resets the real machine. */
  reboot?: readonly [program: string, ...parameters: string[]];
}

const REBOOT = ['reboot', '-ff'] as const;

/** Resets the machine by the kernel's own reset: no disk is synced, no program is stopped, nothing is waited for. */
export class SysrqReset implements MachineReset {
  readonly #options: ResetOptions;

  constructor(options: ResetOptions) {
    if (options.root === '/' && process.env['VITEST'] !== undefined)
      throw new Error('a test must not be able to reset its machine: give another root');
    this.#options = options;
  }

  reset(cause: string): void {
    const { root, logger, reboot = root === '/' ? REBOOT : undefined } = this.#options;
    // The kernel's log goes to a serial console and to pstore, where it is found after the reset.
    const said = this.#write('dev/kmsg', `<2>nodefence: this node takes itself down: ${cause.replaceAll('\n', ' ')}\n`);
    const enabled = this.#write('proc/sys/kernel/sysrq', '1');
    const triggered = this.#write('proc/sysrq-trigger', 'b');
    // The real kernel never comes here.
    const problems = [said, enabled, triggered].filter((problem) => problem !== undefined);
    if (reboot === undefined) return;
    logger.error('sysrq did not reset the machine; trying reboot -ff', { reason: cause, error: problems.join('; ') });
    const [program, ...parameters] = reboot;
    const child = spawn(program, parameters, { stdio: 'ignore', detached: true });
    child.once('error', (error) => logger.error('reboot -ff could not be started either', { error: error.message }));
  }

  /** What went wrong; undefined: nothing. Never waits: a device that would block is given up. */
  #write(path: string, text: string): string | undefined {
    try {
      const file = openSync(join(this.#options.root, path), constants.O_WRONLY | constants.O_NONBLOCK);
      try {
        writeSync(file, text);
      } finally {
        closeSync(file);
      }
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}
