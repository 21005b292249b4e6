import { describe, expect, it } from 'vitest';
import { TransportError, type ApiResponse } from '../ports/api-transport.ts';
import type { Logger } from '../ports/recorder.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { firstAnswer } from './first-answer.ts';

const quiet = (): void => undefined;
const AWAY = new TransportError('unreachable', 'GET /version: connect ECONNREFUSED');

function asked(
  answers: readonly (Error | Partial<ApiResponse>)[],
  isPatient: boolean,
): { clock: ManualClock; warnings: string[]; count: () => number; done: Promise<unknown> } {
  const clock = new ManualClock();
  const warnings: string[] = [];
  let count = 0;
  const logger: Logger = { debug: quiet, info: quiet, warn: (message) => void warnings.push(message), error: quiet };
  const request = async (): Promise<ApiResponse> => {
    const answer = answers[Math.min(count++, answers.length - 1)];
    if (answer instanceof Error) throw answer;
    return { status: 200, headers: {}, body: { major: '1', minor: '30' }, ...answer };
  };
  const done = firstAnswer({ request }, { clock, logger, isPatient }).catch((error: unknown) => error);
  return { clock, warnings, count: () => count, done };
}

describe('the first answer of the API server', () => {
  it('tells whether it has the out-of-service taint', async () => {
    expect(await asked([{}], true).done).toBe(true);
    expect(await asked([{ body: { major: '1', minor: '25' } }], true).done).toBe(false);
  });

  it('is waited for in a pod, which would be started ever later, and said to be', async () => {
    const { clock, warnings, count, done } = asked([...Array.from({ length: 12 }, () => AWAY), { status: 403, body: {} }, {}], true);
    await clock.advance(100_000);
    expect(count()).toBeLessThan(13);
    expect(warnings).toEqual(['the API server does not answer yet: this process waits for it']);
    await clock.advance(100_000);
    expect(await done).toBe(true);
  });

  it('is not waited for where a kubeconfig may be wrong', async () => {
    expect(await asked([AWAY], false).done).toBe(AWAY);
  });
});
