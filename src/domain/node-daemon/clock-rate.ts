import { DRIFT } from '../timing-demand.ts';

/** Seen from our clock. Slow: what the node counts takes longer than we reckon with. */
export type WrongRate = 'slow' | 'fast';

export interface MeasuredRate {
  wrong: WrongRate | undefined;
  /** How far the node's clock fell behind ours; negative: it gained. */
  behindMs: number;
  /** Within how long, on our clock. */
  withinMs: number;
  /** So many measurements in a row found it wrong in the same way. */
  times: number;
}

/** The heartbeat that was delayed least of those that came in one span of time. */
interface Span {
  index: number;
  heard: number;
  /** Received less sent: by two clocks, so that only its changes mean anything. */
  leastMs: number;
  /** When that one was received. */
  atMs: number;
}

const SPAN_MS = 20_000;
/** The first and the last of so many are compared: their heartbeats are 60 to 100 s apart, as long as a watchdog is waited for. */
const SPANS = 5;
/** Of twenty; fewer may all have been delayed. */
const HEARD_MIN = 5;
/** No clock is slewed by more (adjtimex: a tenth and 500 ppm): what changed by more, and by more than a delay, has jumped. */
const SLEW_MAX = 0.105;
/** Heartbeats may take longer by so much from some time on: that is not taken for the clock. */
const DELAY_MS = 500;
/** How far two clocks fall apart that both run as wrong as is reckoned with, and as chrony slews them with `maxslewrate 10000`. */
const SLOW = 1 - (1 - DRIFT) / (1 + DRIFT);
const FAST = (1 + DRIFT) / (1 - DRIFT) - 1;

/** How fast the monotonic clock of one node runs by ours: from the counters of its heartbeats, which are microseconds on it, and from when they came. */
export class ClockRate {
  #bootID: string | undefined;
  #span: Span | undefined;
  /** Those before it, without a hole. */
  #spans: Span[] = [];
  #measured: MeasuredRate | undefined;

  /** `atMs`: on our monotonic clock. */
  hear(bootID: string, counter: number, atMs: number): void {
    if (bootID !== this.#bootID) {
      this.#bootID = bootID;
      this.#measured = undefined;
      this.restart();
    }
    const index = Math.floor(atMs / SPAN_MS);
    const lateMs = atMs - counter / 1_000;
    const span = this.#span;
    if (span?.index === index) {
      span.heard += 1;
      // Delays only add: the least of them shows the clocks.
      if (lateMs < span.leastMs) Object.assign(span, { leastMs: lateMs, atMs });
      return;
    }
    if (span !== undefined) this.#close(span);
    if (span !== undefined && index !== span.index + 1) this.#spans = [];
    this.#span = { index, heard: 1, leastMs: lateMs, atMs };
  }

  /**
   * What came before says nothing about what comes: we stood still. What was measured last stands until it is measured anew: a doubt does not end because nobody could
   * look.
   */
  restart(): void {
    this.#span = undefined;
    this.#spans = [];
  }

  /** The last that was measured in this boot; undefined: too little was heard yet. */
  measured(bootID: string): MeasuredRate | undefined {
    return bootID === this.#bootID ? this.#measured : undefined;
  }

  #close(span: Span): void {
    const before = this.#spans.at(-1);
    if (span.heard < HEARD_MIN) {
      this.#spans = [];
      return;
    }
    // It was suspended, or counts from another beginning.
    if (before !== undefined && hasJumped(before, span)) this.#spans = [];
    this.#spans.push(span);
    const [first] = this.#spans;
    if (first === undefined || this.#spans.length < SPANS) return;
    this.#spans.shift();
    this.#measure(span.leastMs - first.leastMs, span.atMs - first.atMs);
  }

  #measure(behindMs: number, withinMs: number): void {
    const wrong = wrongOf(behindMs, withinMs);
    const times = wrong !== undefined && wrong === this.#measured?.wrong ? this.#measured.times + 1 : 1;
    this.#measured = { wrong, behindMs, withinMs, times };
  }
}

/** A single jump, such as a machine that was paused for a second, is seen by one measurement less: this is a clock that runs wrong. */
export function isLasting({ wrong, times }: MeasuredRate): boolean {
  return wrong !== undefined && times >= SPANS;
}

/** `its clock fell 4 s behind ours within 80 s`. */
export function rateWords({ behindMs, withinMs }: MeasuredRate): string {
  const seconds = `${(Math.abs(behindMs) / 1_000).toFixed(1)} s`;
  return `its clock ${behindMs > 0 ? `fell ${seconds} behind ours` : `gained ${seconds} on ours`} within ${Math.round(withinMs / 1_000)} s`;
}

/** Surely: more than any delay explains. */
function wrongOf(behindMs: number, withinMs: number): WrongRate | undefined {
  if (behindMs - DELAY_MS > SLOW * withinMs) return 'slow';
  return -behindMs - DELAY_MS > FAST * withinMs ? 'fast' : undefined;
}

function hasJumped(before: Span, after: Span): boolean {
  return Math.abs(after.leastMs - before.leastMs) > SLEW_MAX * (after.atMs - before.atMs) + DELAY_MS;
}
