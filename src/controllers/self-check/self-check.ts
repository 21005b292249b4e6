import { backOffMs } from '../../domain/back-off.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SelfCheckMetrics } from '../../ports/metrics.ts';
import type { Logger } from '../../ports/recorder.ts';
import { sentenceOf } from './questions.ts';
import type { Fault, Question } from './questions.ts';

export interface SelfCheckOptions {
  clock: Clock;
  log: Logger;
  metrics: SelfCheckMetrics;
  questions: readonly Question[];
  /** In mode observe nobody waits for it. */
  isDemanded: boolean;
  /** Whether it passes has changed. */
  onResult: (message: string | undefined) => void;
}

/** `unanswered`: not everything was answered yet, and nothing that was is wrong. */
export type SelfCheckResult = { kind: 'unanswered'; waitsFor: string } | { kind: 'passed' } | { kind: 'refused'; faults: readonly Fault[] };

/** What was mended is noticed so soon. */
const REFUSED_MS = 10_000;
/** What was not answered is asked again so soon at first, and so late at most. */
const UNANSWERED_MS = 1_000;
const UNANSWERED_MOST_MS = 15_000;
/** What holds may be spoiled later. */
const PASSED_MS = 600_000;

/**
 * Proves, before this process leads, that the server takes what it must write. A question without an answer neither passes nor refuses: it alone is
 * asked again. What was proven stands while the API server is away.
 */
export class SelfCheck {
  readonly #options: SelfCheckOptions;
  #result: SelfCheckResult = { kind: 'unanswered', waitsFor: 'it has not begun' };
  readonly #faults = new Map<Question, readonly Fault[]>();
  #waiting: readonly Question[];
  #vain = 0;
  #told = '';
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(options: SelfCheckOptions) {
    this.#options = options;
    this.#waiting = options.questions;
  }

  get result(): SelfCheckResult {
    return this.#result;
  }

  mayLead(): boolean {
    return !this.#options.isDemanded || this.#result.kind === 'passed';
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What it came to, in words. */
  message(): string {
    const { isDemanded } = this.#options;
    switch (this.#result.kind) {
      case 'passed':
        return 'the API server accepts what the controller must write';
      case 'refused':
        return `${isDemanded ? 'this process does not begin to lead' : 'mode enforce would not begin to lead'}: ${sentenceOf(this.#result.faults)}`;
      case 'unanswered':
        return `not answered yet: ${this.#result.waitsFor}; it is asked again`;
    }
  }

  start(): void {
    void this.#round();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Asks what is open; once all is answered there is a result, and everything is asked again later. */
  async #round(): Promise<void> {
    const failures = await Promise.all(this.#waiting.map((question) => this.#ask(question)));
    if (this.#isClosed) return;
    this.#waiting = failures.flatMap((failure) => (failure === undefined ? [] : [failure.question]));
    const [first] = failures.filter((failure) => failure !== undefined);
    if (first !== undefined) {
      this.#vain += 1;
      if (this.#result.kind === 'unanswered') this.#decide({ kind: 'unanswered', waitsFor: `${first.question.name} (${first.message})` });
      this.#later(backOffMs(this.#vain, UNANSWERED_MS, UNANSWERED_MOST_MS));
      return;
    }
    this.#vain = 0;
    const faults = [...this.#faults.values()].flat();
    this.#decide(faults.length === 0 ? { kind: 'passed' } : { kind: 'refused', faults });
    this.#waiting = this.#options.questions;
    this.#later(faults.length === 0 ? PASSED_MS : REFUSED_MS);
  }

  async #ask(question: Question): Promise<{ question: Question; message: string } | undefined> {
    try {
      this.#faults.set(question, await question.ask());
      return undefined;
    } catch (error) {
      return { question, message: error instanceof Error ? error.message : String(error) };
    }
  }

  #later(delayMs: number): void {
    this.#cancel = this.#options.clock.after(delayMs, () => void this.#round());
  }

  #decide(result: SelfCheckResult): void {
    const { log, metrics, onResult } = this.#options;
    this.#result = result;
    metrics.selfChecked(result.kind);
    const message = this.message();
    if (message === this.#told) return;
    this.#told = message;
    if (result.kind === 'passed') log.info('self-check passed', { reason: message });
    else if (result.kind === 'refused') log.error('self-check refused', { problem: message });
    else log.warn('self-check unanswered', { problem: message });
    onResult(result.kind === 'refused' ? message : undefined);
  }
}
