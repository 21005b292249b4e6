import type { DeviceBoot } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { Call } from '../shared/call.ts';
import type { CallTarget } from '../shared/call.ts';
import { TransportUnfit, type GuidAnswer, type Line } from './line.ts';
import type { IpmiSettings } from './parameters.ts';

/** BMCs end sessions that are silent for 60 s (IPMI 2.0 section 6.12.15); that is noticed with the next command only, which then waits for seconds. */
const KEEP_ALIVE_MS = 20_000;
/** A keep-alive must never be what an off waits for. */
const KEEP_ALIVE_DEADLINE_MS = 2_000;
/** Kept between off and on, which the release of the workload separates; then given back, since BMCs have few sessions. */
const KEPT_MS = 180_000;
/** It may have been a fault of the network; and firmware is updated. */
const UNFIT_MS = 60_000;

/** Opens a line; rejects with `AgentError` or `TransportUnfit`, and leaves nothing behind then. */
export type OpenLine = (call: Call<CallTarget>) => Promise<Line>;

/** The kept line to one BMC and credentials: opened when needed, kept warm while a fence is under way, ended when nobody asks any more. */
export class Session {
  readonly settings: IpmiSettings;
  readonly #open: OpenLine;
  readonly #clock: Clock;
  readonly #onRetired: () => void;
  readonly #nextBoot: () => string;
  #boot: { id: string; cause: string };
  /** Whether the BMC itself ended the last line that was dropped. */
  #dropped: Promise<boolean> | undefined;
  #line: Line | undefined;
  /** Where there is another transport, the BMC is not asked again and again what it does not take. */
  #unfit: { error: TransportUnfit; untilMs: number } | undefined;
  /** What the BMC showed as its GUID over this line, and when; a line cannot move to another BMC. */
  #guid: { answer: GuidAnswer; atMs: number } | undefined;
  /** When the BMC said over this line that it has started; one that starts anew has forgotten the session. */
  #upAtMs: number | undefined;
  /** Lines that were dropped and may still have a word to say to their BMC. */
  readonly #farewells = new Set<Promise<void>>();
  /** The end of the work before; undefined where nobody is at work. */
  #last: Promise<undefined> | undefined;
  #users = 0;
  #isClosed = false;
  #askedAtMs: number;
  #cancelTimer: () => void = () => undefined;

  /** `onRetired` is called when the session ended itself because nobody asked for long; `nextBoot` names the boots of the BMC, each by another name. */
  constructor(settings: IpmiSettings, open: OpenLine, clock: Clock, onRetired: () => void, nextBoot: () => string) {
    this.settings = settings;
    this.#open = open;
    this.#clock = clock;
    this.#onRetired = onRetired;
    this.#nextBoot = nextBoot;
    this.#boot = { id: nextBoot(), cause: '' };
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

  /** The open line, or a new one. */
  async line(call: Call<CallTarget>): Promise<Line> {
    if (this.#line?.isUsable !== true) {
      this.drop();
      if (this.#unfit !== undefined && this.#clock.monotonicMs() < this.#unfit.untilMs) throw this.#unfit.error;
      try {
        this.#line = await this.#open(call);
      } catch (error) {
        if (error instanceof TransportUnfit && this.settings.transports.length > 1)
          this.#unfit = { error, untilMs: this.#clock.monotonicMs() + UNFIT_MS };
        throw error;
      }
    }
    return this.#line;
  }

  /** A session that stands rules out that the BMC restarted, and so does one that it ended itself when we dropped it: one that starts anew knows none. */
  async boot(call: Call<CallTarget>): Promise<DeviceBoot> {
    const dropped = this.#dropped;
    this.#dropped = undefined;
    if (dropped !== undefined && !(await call.within(dropped))) this.#boot = { id: this.#nextBoot(), cause: 'the session was lost' };
    return { ...this.#boot, startMaxMs: this.settings.bootMaxMs };
  }

  /** What this line showed before, if that is not too old for a set. */
  shownGuid(line: Line, when: 'once' | 'anew'): GuidAnswer | undefined {
    const keepsMs = when === 'anew' ? line.identityKeepsMs : Number.POSITIVE_INFINITY;
    return line === this.#line && this.#guid !== undefined && this.#clock.monotonicMs() - this.#guid.atMs < keepsMs ? this.#guid.answer : undefined;
  }

  noteGuid(line: Line, answer: GuidAnswer): void {
    if (line === this.#line) this.#guid = { answer, atMs: this.#clock.monotonicMs() };
  }

  /** It has said over this very line, not too long ago, that it is up. */
  isKnownUp(line: Line): boolean {
    return line === this.#line && this.#upAtMs !== undefined && this.#clock.monotonicMs() - this.#upAtMs < line.identityKeepsMs;
  }

  noteUp(line: Line): void {
    if (line === this.#line) this.#upAtMs = this.#clock.monotonicMs();
  }

  /** Ends the line: what it would say next is not trusted. */
  drop(): void {
    const line = this.#line;
    this.#line = undefined;
    this.#guid = undefined;
    this.#upAtMs = undefined;
    if (line === undefined) return;
    line.kill();
    const before = this.#dropped;
    const ended = line.end(this.#clock);
    // One of several that nobody ended is enough for a doubt.
    this.#dropped = Promise.all([before ?? true, ended]).then((all) => all.every((isKnown) => isKnown));
    const farewell = ended.then(() => undefined).finally(() => this.#farewells.delete(farewell));
    this.#farewells.add(farewell);
  }

  /** Ends the line, kindly where it is idle. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    const line = this.#line;
    this.#line = undefined;
    await line?.end(this.#clock);
    await Promise.all(this.#farewells);
  }

  async #inTurn<T>(call: Call<CallTarget>, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#last = promise;
    const end = (): void => {
      if (this.#last === promise) this.#last = undefined;
      resolve(undefined);
    };
    if (before !== undefined) {
      try {
        await call.within(before);
      } catch (error) {
        // Whoever comes next still waits for the one before.
        void before.then(end);
        throw error;
      }
    }
    try {
      if (call.ended !== undefined) throw call.endedError();
      return await work();
    } finally {
      end();
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
    if (this.#clock.monotonicMs() - this.#askedAtMs >= KEPT_MS || this.#line === undefined) {
      this.#onRetired();
      await this.close();
      return;
    }
    const target = { device: this.settings.host, plug: '', signal: new AbortController().signal, deadlineMs: KEEP_ALIVE_DEADLINE_MS };
    const call = new Call(this.#clock, target, 'keep-alive');
    try {
      await this.#inTurn(call, async () => {
        const line = this.#line;
        const answer = await line?.guid(call, this.settings.pinnedGuid !== undefined);
        if (line === undefined || answer === undefined || answer.kind === 'lost' || answer.kind === 'ended') this.drop();
        else this.noteGuid(line, answer);
      });
    } finally {
      call.release();
    }
    if (this.#users === 0) this.#rest();
  }
}
