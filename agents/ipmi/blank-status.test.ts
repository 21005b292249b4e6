import { describe, expect, it } from 'vitest';
import type { Target } from '../../src/ports/agents.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { Call } from '../shared/call.ts';
import { chassisStatus } from './chassis-status.ts';
import type { Line, RawAnswer } from './line.ts';
import { parseSettings } from './parameters.ts';
import { readPower } from './power.ts';
import { Session } from './session.ts';

const UP = [0x20, 0x01, 0x01, 0x00, 0x02, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00];
const STARTING = UP.map((byte, place) => (place === 2 ? 0x81 : byte));
const raw = (data: readonly number[], completion = 0): RawAnswer => ({ kind: 'raw', completion, data: Buffer.from(data) });

/** What is read of a BMC that answers so to Get Chassis Status and Get Device ID; and how often it was asked for the second. */
async function readOf(
  status: RawAnswer,
  deviceId: RawAnswer,
  { times = 1, identityKeepsMs = 0 } = {},
): Promise<{ state: string; detail: string; asked: number }> {
  const clock = new ManualClock();
  let asked = 0;
  const line: Line = {
    isUsable: true,
    identityKeepsMs,
    status: () => Promise.resolve(chassisStatus(status)),
    guid: () => Promise.resolve({ kind: 'none', detail: 'none' }),
    control: () => Promise.reject(new Error('nothing is set here')),
    raw: (netFn, command) => {
      expect([netFn, command]).toEqual([6, 1]);
      asked += 1;
      return Promise.resolve(deviceId);
    },
    kill: () => undefined,
    end: () => Promise.resolve(true),
  };
  const settings = parseSettings({ ip: '192.0.2.1', username: 'a', password: 'b' });
  if ('problems' in settings) throw new Error(settings.problems.join());
  const session = new Session(
    settings,
    () => Promise.resolve(line),
    clock,
    () => undefined,
    () => '1',
  );
  const target: Target = {
    plug: '',
    device: '192.0.2.1',
    parameters: {},
    identity: { node: 'a' },
    signal: new AbortController().signal,
    deadlineMs: 5_000,
    beforeSend: () => undefined,
  };
  const call = new Call(clock, target, 'read');
  for (let count = 1; count < times; count += 1) await readPower(session, call, target);
  const { state, detail } = await readPower(session, call, target);
  call.release();
  return { state, detail, asked };
}

describe('a chassis status without a single bit', () => {
  it.each([
    ['still starts', raw(STARTING), 'the BMC still starts'],
    ['does not know itself', raw([], 0xc1), 'Get Device ID failed'],
    ['says half of it', raw(UP.slice(0, 4)), 'answered with 4 bytes of 11'],
  ])('is unknown of a BMC that %s', async (_what, deviceId, words) => {
    const { state, detail } = await readOf(raw([0, 0, 0]), deviceId);
    expect(state).toBe('unknown');
    expect(detail).toContain(words);
    expect((await readOf(raw([0, 0, 0, 0]), deviceId)).state).toBe('unknown');
  });

  it('is off of a BMC that says it is up', async () => {
    expect(await readOf(raw([0, 0, 0]), raw(UP))).toMatchObject({ state: 'off', asked: 1 });
  });

  it('is asked about once over a session that a restart would end, and each time over one of ipmitool', async () => {
    expect(await readOf(raw([0, 0, 0]), raw(UP), { times: 3, identityKeepsMs: 30_000 })).toMatchObject({ state: 'off', asked: 1 });
    expect(await readOf(raw([0, 0, 0]), raw(UP), { times: 3 })).toMatchObject({ state: 'off', asked: 3 });
    expect(await readOf(raw([0, 0, 0]), raw(STARTING), { times: 3, identityKeepsMs: 30_000 })).toMatchObject({ state: 'unknown', asked: 3 });
  });

  it('is not asked about where any bit is set: the restore policy of most machines', async () => {
    expect(await readOf(raw([0x20, 0, 0]), raw(STARTING))).toMatchObject({ state: 'off', asked: 0 });
    expect(await readOf(raw([0x01, 0, 0]), raw(STARTING))).toMatchObject({ state: 'on', asked: 0 });
  });
});
