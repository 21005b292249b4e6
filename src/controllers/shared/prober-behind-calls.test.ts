import { beforeEach, describe, expect, it } from 'vitest';
import { openEntries } from '../../domain/journal.ts';
import { method, planOf } from '../../domain/testing/model.ts';
import type { JournalEntry } from '../../domain/node-fence.ts';
import type { Prober, ProbeRequest } from '../../ports/probes.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister, provenStatus } from '../fence/testing/harness.ts';
import { ProberBehindCalls } from './prober-behind-calls.ts';

const DEADLINE_MS = 18_000;
const CALL: JournalEntry = {
  ...{ id: 'off-1', step: 'power-management', level: 1, operation: '1', method: 'off', agent: 'redfish', device: 'bmc-a', plug: '', action: 'off' },
  ...{ attempt: 1, restart: 0, runner: 'in-process', epoch: 2, startedAt: '2026-01-01T00:00:00Z', deadlineMs: DEADLINE_MS },
};

describe('a read of a device', () => {
  const clock = new ManualClock();
  const fences = new FakeLister<NodeFence>();
  let asked: string[] = [];
  let prober: Prober;

  beforeEach(() => {
    asked = [];
    fences.items = [];
    const answered =
      <T>(what: string, answer: T) =>
      ({ method: { device } }: ProbeRequest): Promise<T> => {
        asked.push(`${what} ${device}`);
        return Promise.resolve(answer);
      };
    const inner: Prober = {
      probe: answered('probe', { state: 'on', latencyMs: 1 }),
      warm: answered('warm', undefined),
      trustShown: answered('look', { kind: 'not-asked' }),
    };
    prober = new ProberBehindCalls({ clock, prober: inner, fences, leadership: { epoch: 3 } });
  });

  function left(call: Partial<JournalEntry> = {}, state: 'running' | 'final' = 'running'): void {
    const status = { ...provenStatus(planOf({})), state, journal: [{ ...CALL, ...call }] };
    fences.items = [{ metadata: { name: 'node-fence-a', uid: 'uid' }, spec: { node: 'a' }, status }];
    expect(openEntries(status).length).toBe(call.finishedAt === undefined ? 1 : 0);
  }
  const request = (device = 'bmc-a'): ProbeRequest => ({
    method: method('off', 'redfish', 'off', { device }),
    identity: { node: 'a', systemUUID: undefined, providerID: undefined, addresses: [] },
    deadlineMs: 1_000,
    signal: new AbortController().signal,
    parametersOf: () => Promise.resolve({}),
  });

  it('waits for the deadline of a call that a former leader left open, whatever it is for, and then goes on', async () => {
    left();
    const answers = [await prober.probe(request()), await prober.warm?.(request()), await prober.trustShown?.(request())];
    expect([asked, answers]).toEqual([[], [undefined, undefined, { kind: 'busy' }]]);
    await clock.advance(DEADLINE_MS - 1);
    expect([await prober.probe(request()), asked]).toEqual([undefined, []]);
    await clock.advance(1);
    expect(await prober.probe(request())).toMatchObject({ state: 'on' });
    await prober.warm?.(request());
    await prober.trustShown?.(request());
    expect(asked).toEqual(['probe bmc-a', 'warm bmc-a', 'look bmc-a']);
  });

  it('waits anew for the next call that is left open', async () => {
    left();
    await prober.probe(request());
    await clock.advance(DEADLINE_MS);
    left({ id: 'off-2' });
    expect(await prober.probe(request())).toBeUndefined();
  });

  it.each([
    ['there is no call', (): void => undefined],
    ['the call has ended', (): void => left({ finishedAt: '2026-01-01T00:00:05Z', result: 'succeeded' })],
    ['it is our own', (): void => left({ epoch: 3 })],
    ['it is to another device', (): void => left({ device: 'bmc-b' })],
    ['its fence is over', (): void => left({}, 'final')],
  ])('begins at once where %s', async (_what, prepare) => {
    prepare();
    expect([await prober.probe(request()), asked]).toEqual([{ state: 'on', latencyMs: 1 }, ['probe bmc-a']]);
  });
});
