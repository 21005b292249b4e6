import { execFile } from 'node:child_process';
import { closeSync, constants, open as openFile, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../../ports/clock.ts';
import type { DaemonLog, WatchdogDevice, WatchdogFacts } from '../../ports/node-daemon.ts';
import { messageOf } from '../core/message-of.ts';
import { codeOf } from './file-errors.ts';
import { isActive, isCrashKernelLoaded, watchdogFacts } from './watchdog-facts.ts';

export interface WatchdogOptions {
  /** `/`, and a tree of files in tests. */
  root: string;
  /** `/dev/watchdog0`. */
  device: string;
  /** Armed although a crash kernel is loaded: the dump must be written within the watchdog's time. */
  isArmedBesideCrashKernel?: boolean;
  clock: Clock;
  log: DaemonLog;
  /** Default: `wdctl` of util-linux. */
  wdctl?: string;
}

const SET_TIMEOUT_WITHIN_MS = 5_000;
/** Drivers change their state in the call itself; a slow machine may show it later. */
const SETTLED_WITHIN_MS = 1_000;
/** How long sysfs may show a driver as active that stands still at every close. */
const TRIED_FOR_MS = 250;
const LOOK_AGAIN_MS = 20;
/** Any byte but V feeds. */
const FEED = Buffer.from('1');
const MAGIC_CLOSE = Buffer.from('V');
const run = promisify(execFile);
const opened = promisify(openFile);

/** A watchdog of the kernel (Documentation/watchdog/watchdog-api.rst), by plain writes. */
export class KernelWatchdog implements WatchdogDevice {
  readonly #options: WatchdogOptions;
  readonly #path: string;
  #file: number | undefined;
  /** As it was tried, where sysfs does not say. */
  #outlivesClose: boolean | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#path = join(options.root, options.device);
  }

  async facts(): Promise<WatchdogFacts | { problem: string }> {
    const { root, device, isArmedBesideCrashKernel = false } = this.#options;
    const found = await watchdogFacts(root, device);
    const facts = 'problem' in found || this.#outlivesClose === undefined ? found : { outlivesClose: this.#outlivesClose, ...found };
    if ('problem' in facts || isArmedBesideCrashKernel || !(await isCrashKernelLoaded(root))) return facts;
    // One that runs already is fed or resets the machine: not to take it over would end a healthy node, and save no dump.
    if (await isActive(root, device)) return facts;
    return {
      problem: `a crash kernel is loaded, and ${device} would reset the machine while it writes the dump: unload it, or allow both with --watchdog-beside-kdump`,
    };
  }

  async open(timeoutMs: number): Promise<void> {
    if (this.#file !== undefined) throw new Error(`${this.#options.device} is open already`);
    const facts = await this.facts();
    if ('problem' in facts) throw new Error(facts.problem);
    const wasActive = await isActive(this.#options.root, facts.device);
    if (wasActive === true) await this.#warnOfCrashKernel();
    // wdctl disarms it for a moment: never where an earlier process of ours left it armed, which others rest on.
    if (facts.timeoutMs !== timeoutMs && wasActive === false) await this.#setTimeout(timeoutMs);
    this.#file = await this.#open();
    if (!(await this.#settles(true))) {
      this.#close();
      throw new Error(`${this.#options.device} was opened, and sysfs does not show it as active`);
    }
    // One that is active although nobody held it has outlived a close already.
    if (facts.outlivesClose === undefined && !facts.isNowayout) this.#outlivesClose = wasActive === true || (await this.#tryClose());
  }

  feed(): void {
    if (this.#file === undefined) throw new Error(`${this.#options.device} is not open`);
    if (writeSync(this.#file, FEED) !== FEED.length) throw new Error(`${this.#options.device} did not take what feeds it`);
  }

  async disarm(): Promise<void> {
    const { device } = this.#options;
    if (this.#file === undefined) return;
    const facts = await watchdogFacts(this.#options.root, device);
    if (!('problem' in facts) && facts.isNowayout) throw new Error(`${device} cannot be disarmed (nowayout): it stays armed, and open`);
    this.#close();
    if (await this.#settles(false)) return;
    // Nobody would feed it any more.
    this.#file = await this.#open();
    throw new Error(`${device} went on after its magic close: it stays armed, and open`);
  }

  async #warnOfCrashKernel(): Promise<void> {
    const { root, device, isArmedBesideCrashKernel = false, log } = this.#options;
    if (isArmedBesideCrashKernel || !(await isCrashKernelLoaded(root))) return;
    log.warn('a crash kernel was loaded since the watchdog was armed, which resets the machine while a dump is written', { device });
  }

  /** Closed as the kernel closes what a dead process held, and opened again: whether it went on meanwhile. */
  async #tryClose(): Promise<boolean> {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    const goesOn = !(await this.#settles(false, TRIED_FOR_MS));
    this.#file = await this.#open();
    if (!(await this.#settles(true))) throw new Error(`${this.#options.device} was opened again, and sysfs does not show it as active`);
    return goesOn;
  }

  #close(): void {
    if (this.#file === undefined) return;
    writeSync(this.#file, MAGIC_CLOSE);
    closeSync(this.#file);
    this.#file = undefined;
  }

  /** There is no ioctl in Node. What the driver made of it stands in sysfs afterwards: that is what counts. */
  async #setTimeout(timeoutMs: number): Promise<void> {
    const { device, log, wdctl = 'wdctl' } = this.#options;
    try {
      await run(wdctl, ['--settimeout', String(Math.ceil(timeoutMs / 1000)), this.#path], { timeout: SET_TIMEOUT_WITHIN_MS, killSignal: 'SIGKILL' });
    } catch (error) {
      log.warn('the timeout of the watchdog cannot be set, so its own counts', { device, error: messageOf(error) });
    }
  }

  async #open(): Promise<number> {
    const { device } = this.#options;
    try {
      return await opened(this.#path, constants.O_WRONLY);
    } catch (error) {
      if (codeOf(error) === 'EBUSY')
        throw new Error(`${device} is held by another program: systemd (RuntimeWatchdogSec= in /etc/systemd/system.conf), watchdogd or sbd`, {
          cause: error,
        });
      throw new Error(`${device}: ${messageOf(error)}`, { cause: error });
    }
  }

  async #settles(wanted: boolean, withinMs = SETTLED_WITHIN_MS): Promise<boolean> {
    const { root, device, clock } = this.#options;
    const endsAtMs = clock.monotonicMs() + withinMs;
    for (;;) {
      if ((await isActive(root, device)) === wanted) return true;
      if (clock.monotonicMs() >= endsAtMs) return false;
      await clock.sleep(LOOK_AGAIN_MS);
    }
  }
}
