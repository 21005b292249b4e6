import type { Expectations } from './expectations.ts';
import type { History } from './history.ts';

export const LAW_NAMES = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P10', 'P11'] as const;
export type LawName = (typeof LAW_NAMES)[number];

export interface LawResult {
  /** How often the law was put to the test. */
  checks: number;
  /** One sentence each, with the time in the trace. */
  violations: string[];
}

export type Law = (history: History, expectations: Expectations) => LawResult;

/** Collects the outcome of one law. */
export class Verdict implements LawResult {
  checks = 0;
  readonly violations: string[] = [];

  /** One check; `complaint` says what is wrong when it failed. */
  check(holds: boolean, at: number, complaint: string): void {
    this.checks += 1;
    if (!holds) this.violations.push(`at ${String(Math.round(at * 1_000) / 1_000)}: ${complaint}`);
  }
}
