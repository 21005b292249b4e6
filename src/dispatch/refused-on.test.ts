import { describe, expect, it } from 'vitest';
import type { AgentError } from '../ports/agents.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { failure, Harness, methodOf } from './testing/harness.ts';

const BMC = methodOf('bmc', 'power');

/** An on of a machine that is off, which its device answers so, and which is on so much later; how long the run took. */
async function on(answer: AgentError, onAfterMs = Number.POSITIVE_INFINITY): Promise<{ result: string; message: string; tookMs: number }> {
  const harness = new Harness(new ManualClock());
  const plug = harness.plug('bmc');
  plug.state = 'off';
  plug.onSet = () => {
    if (onAfterMs === 0) plug.state = 'on';
    else if (onAfterMs < Number.POSITIVE_INFINITY) harness.clock.after(onAfterMs, () => (plug.state = 'on'));
    return Promise.reject(answer);
  };
  const beganAtMs = harness.clock.monotonicMs();
  const { result, message } = await harness.run(harness.job(BMC, 'on'));
  return { result, message, tookMs: harness.clock.monotonicMs() - beganAtMs };
}

describe('an on', () => {
  it('that is refused fails at once, in the words of the device', async () => {
    const { result, message, tookMs } = await on(failure('Refused', 'the chassis has no power budget'));
    expect({ result, isTold: message.includes('no power budget') }).toEqual({ result: 'refused', isTold: true });
    expect(tookMs).toBeLessThan(1_000);
  });

  it('that is refused because the machine is on by then is done', async () => {
    expect(await on(failure('Refused', 'it is on already'), 0)).toMatchObject({ result: 'succeeded' });
  });

  it('that could not be sent, or is configured wrongly, says so at once: no read tells what was not asked for', async () => {
    for (const [kind, result] of [
      ['NotSent', 'not-sent'],
      ['Misconfigured', 'misconfigured'],
    ] as const) {
      const run = await on(failure(kind, 'a stop stands'));
      expect(run).toMatchObject({ result });
      expect(run.tookMs).toBeLessThan(1_000);
    }
  });

  it('whose answer is lost is read until it shows', async () => {
    expect(await on(failure('Timeout', 'no complete answer within 5000 ms'), 3_000)).toMatchObject({ result: 'succeeded' });
  });
});
