import type { Clock } from '../../src/ports/clock.ts';
import { guidAnswer } from './answers.ts';
import { Call } from '../shared/call.ts';
import type { CallTarget } from '../shared/call.ts';
import { READ_GUID } from './commands.ts';
import type { IpmiSettings } from './parameters.ts';
import { Shell } from './shell.ts';

/** BMCs end sessions that are silent for 60 s (IPMI 2.0 section 6.12.15); ipmitool notices with the next command only, and needs seconds for it. */
const KEEP_ALIVE_MS = 20_000;
/** A keep-alive must never be what an off waits for. */
const KEEP_ALIVE_DEADLINE_MS = 2_000;
/** Kept between off and on, which the release of the workload separates; then given back, since BMCs have few sessions. */
const KEPT_MS = 180_000;

/** The kept shell of one BMC and credentials: opened when needed, kept warm while a fence is under way, ended when nobody asks any more. */
export class Session {
  readonly settings: IpmiSettings;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onRetired: () => void;
  #shell: Shell | undefined;
  #last: Promise<undefined> = Promise.resolve(undefined);
  #users = 0;
  #isClosed = false;
  #askedAtMs: number;
  #cancelTimer: () => void = () => undefined;

  /** `onRetired` is called when the session ended itself because nobody asked for long. */
  constructor(settings: IpmiSettings, path: string, clock: Clock, onRetired: () => void) {
    this.settings = settings;
    this.#path = path;
    this.#clock = clock;
    this.#onRetired = onRetired;
    this.#askedAtMs = clock.monotonicMs();
  }

  get isIdle(): boolean {
    return this.#users === 0;
  }

  /** One piece of work at a time; waiting for the one before ends with the call. */
  async exclusive<T>(call: Call<CallTarget>, work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    this.#askedAtMs = this.#clock.monotonicMs();
    this.#cancelTimer();
    try {
      return await this.#inTurn(call, work);
    } finally {
      this.#users -= 1;
      if (this.isIdle) this.#rest();
    }
  }

  /** The open shell, or a new one. */
  async shell(call: Call<CallTarget>): Promise<Shell> {
    if (this.#shell?.isUsable !== true) {
      this.drop();
      this.#shell = await Shell.open(this.settings, this.#path, call, this.#clock);
    }
    return this.#shell;
  }

  /** Kills the shell: what it would say next is not trusted. */
  drop(): void {
    this.#shell?.kill();
    this.#shell = undefined;
  }

  /** Ends the shell, kindly where it is idle. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    const shell = this.#shell;
    this.#shell = undefined;
    await shell?.end(this.#clock);
  }

  async #inTurn<T>(call: Call<CallTarget>, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#last = promise;
    try {
      await call.within(before);
    } catch (error) {
      // Whoever comes next still waits for the one before.
      void before.then(() => resolve(undefined));
      throw error;
    }
    try {
      return await work();
    } finally {
      resolve(undefined);
    }
  }

  #rest(): void {
    this.#cancelTimer();
    if (this.#isClosed) {
      void this.close();
      return;
    }
    this.#cancelTimer = this.#clock.after(KEEP_ALIVE_MS, () => {
      this.#keepAlive().catch(() => this.drop());
    });
  }

  async #keepAlive(): Promise<void> {
    if (this.#users > 0) return;
    if (this.#clock.monotonicMs() - this.#askedAtMs >= KEPT_MS || this.#shell === undefined) {
      this.#onRetired();
      await this.close();
      return;
    }
    const target = { device: this.settings.host, plug: '', signal: new AbortController().signal, deadlineMs: KEEP_ALIVE_DEADLINE_MS };
    const call = new Call(this.#clock, target, 'keep-alive');
    try {
      await this.#inTurn(call, async () => {
        const exchange = await this.#shell?.run(READ_GUID, call);
        const answer = exchange?.kind === 'answer' ? guidAnswer(exchange.lines).kind : 'silence';
        if (answer === 'silence' || answer === 'odd') this.drop();
      });
    } finally {
      call.release();
    }
    if (this.#users === 0) this.#rest();
  }
}
