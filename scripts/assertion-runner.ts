import { expect, TestRunner } from 'vitest';
import { cpuMsSoFar } from './times-reporter.ts';

type Try = Parameters<TestRunner['onBeforeTryTask']>;
type Test = Parameters<TestRunner['onAfterTryTask']>[0];
type Suite = Parameters<TestRunner['onAfterRunSuite']>[0];

/** What earlier files took, where one process runs several. */
let countedMs = 0;

/**
 * Vitest keeps one count of assertions for all tests of a file that run at once, and sets it back when one begins: one that is about to end seems to have
 * asserted nothing. For those the count only grows here, and has to grow while they run.
 */
export default class AssertionRunner extends TestRunner {
  readonly #countsBefore = new WeakMap<Try[0], number>();

  override onBeforeTryTask(...[test, options]: Try): void {
    const { assertionCalls } = expect.getState();
    super.onBeforeTryTask(test, options);
    if (test.concurrent !== true) return;
    expect.setState({ assertionCalls });
    this.#countsBefore.set(test, assertionCalls);
  }

  override onAfterTryTask(test: Test): void {
    super.onAfterTryTask(test);
    if (this.#countsBefore.get(test) === expect.getState().assertionCalls) throw new Error('no assertion was made while this test ran');
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (!('filepath' in suite)) return;
    const nowMs = cpuMsSoFar();
    suite.meta.cpuMs = nowMs - countedMs;
    countedMs = nowMs;
  }
}
