import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { ACCEPTED, Harness, failure, methodOf, timingOf } from './testing/harness.ts';
import { entryOf } from './testing/job.ts';

const BMC = methodOf('bmc', 'power');

function harnessWith(): Harness {
  return new Harness(new ManualClock());
}

describe('off, and the reads that prove it', () => {
  it('reads, sends off once, and proves it by at least three agreeing reads over off_stable', async () => {
    const harness = harnessWith();
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'succeeded', edge: 'off', evidence: { kind: 'power-off', grade: 'read-back', identity: 'verified' } });
    expect(report.edgeUnseen, 'it showed on before').toBeUndefined();
    const setAt = harness.calls(/^set/)[0]?.atMs ?? Number.NaN;
    const after = harness.calls(/^read/).filter((line) => line.atMs > setAt);
    expect(harness.calls(/^set/).map((line) => line.call)).toEqual(['set off bmc']);
    expect(harness.log[0]?.call).toBe('read bmc');
    expect(after.length).toBeGreaterThanOrEqual(3);
    expect((after.at(-1)?.atMs ?? 0) - (after[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(3_000);
    expect(report.evidenceAtMs, 'the proof is as old as the beginning of its last read').toBeLessThanOrEqual(after.at(-1)?.atMs ?? 0);
  });

  it('demands the whole of off_stable however fast the device answers', async () => {
    const harness = harnessWith();
    harness.plug('bmc').callMs = 0;
    const beganAtMs = harness.clock.monotonicMs();
    await harness.run(harness.job(BMC, 'off', { timing: timingOf({ offStableMs: 9_000 }) }));
    expect(harness.clock.monotonicMs() - beganAtMs).toBeGreaterThanOrEqual(9_000);
  });

  it.each([
    ['flickers to on', 'on'],
    ['flickers to pending', 'pending'],
    ['flickers to unknown', 'unknown'],
  ] as const)('begins the count anew when the device %s', async (_words, flicker) => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    let offReads = 0;
    plug.onRead = () => {
      if (plug.state === 'on') return Promise.resolve(plug.reading());
      offReads += 1;
      return Promise.resolve({ ...plug.reading(), state: offReads === 3 ? flicker : 'off' });
    };
    const report = await harness.run(harness.job(BMC, 'off'));
    const reads = harness.calls(/^read/);
    const after = reads.slice(4);
    expect(report.result).toBe('succeeded');
    expect((after.at(-1)?.atMs ?? 0) - (after[0]?.atMs ?? 0), 'off_stable is counted from the first read after the flicker').toBeGreaterThanOrEqual(
      3_000,
    );
  });

  it('demands three agreeing reads without a break even where off_stable is nothing', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    let offReads = 0;
    plug.onRead = () => {
      if (plug.state === 'on') return Promise.resolve(plug.reading());
      offReads += 1;
      return Promise.resolve({ ...plug.reading(), state: offReads === 3 ? 'pending' : 'off' });
    };
    const report = await harness.run(harness.job(BMC, 'off', { timing: timingOf({ offStableMs: 0 }) }));
    expect(report.result).toBe('succeeded');
    expect(offReads, 'off, off: not three yet; pending; then three').toBe(6);
  });

  it('begins the count anew when one read fails in between', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    let reads = 0;
    let failedAtMs = 0;
    plug.onRead = () => {
      reads += 1;
      if (reads !== 4) return Promise.resolve(plug.reading());
      failedAtMs = harness.clock.monotonicMs();
      return Promise.reject(failure('Unreachable', 'connection reset'));
    };
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.result).toBe('succeeded');
    expect((report.evidenceAtMs ?? 0) - failedAtMs).toBeGreaterThanOrEqual(3_000);
  });

  it('gives no evidence while the second witness still shows on', async () => {
    const harness = harnessWith();
    harness.plug('bmc').witness = 'on';
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.result).toBe('timeout');
    expect(report.evidence).toBeUndefined();
    expect(report.message).toContain('Chassis PowerState=on');
  });

  it('names how an admin may do without the witness that alone disagrees to the end, and not while the device itself shows on', async () => {
    for (const [showsOff, isTold] of [
      [true, true],
      [false, false],
    ] as const) {
      const harness = harnessWith();
      const plug = harness.plug('bmc');
      const witness = { source: 'Chassis', state: showsOff ? 'on' : 'off', detail: 'Chassis', waiver: 'witness=no does without it' } as const;
      plug.onRead = () => Promise.resolve({ ...plug.reading(), state: showsOff ? 'off' : 'on', witness });
      const report = await harness.run(harness.job(BMC, 'off'));
      expect(report.result).toBe('timeout');
      expect(report.message.includes('witness=no does without it')).toBe(isTold);
    }
  });

  it('names the witness in the evidence when it agrees', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.onSet = (wanted) => {
      plug.state = wanted;
      plug.witness = wanted;
      return Promise.resolve(ACCEPTED);
    };
    plug.witness = 'on';
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.evidence?.detail).toContain('PowerState=off, Chassis PowerState=off');
  });

  it.each([
    ['between two of its reads', 300],
    ['in the midst of a read', -100],
  ])('begins the count anew when the node is heard %s, for the device may show another machine', async (_words, afterMs) => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.callMs = 200;
    let heardAtMs = 0;
    let offReads = 0;
    plug.onRead = () => {
      if (plug.state === 'off') offReads += 1;
      if (offReads === 3) heardAtMs = harness.clock.monotonicMs() + afterMs;
      return Promise.resolve(plug.reading());
    };
    const isHeard = (): boolean => heardAtMs <= harness.clock.monotonicMs();
    const report = await harness.run(harness.job(BMC, 'off', { lastSignMs: () => (isHeard() ? heardAtMs : 0) }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
    const after = harness.calls(/^read/).filter(({ atMs }) => atMs - plug.callMs >= heardAtMs);
    expect((after.at(-1)?.atMs ?? 0) - plug.callMs - (after[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(3_000);
    expect(report.message).toContain(`read back ${after.length} times`);
  });

  it('gives no evidence of a machine whose node is heard again and again, and says why', async () => {
    const harness = harnessWith();
    const { clock } = harness;
    const report = await harness.run(harness.job(BMC, 'off', { lastSignMs: () => Math.floor(clock.monotonicMs() / 2_000) * 2_000 }));
    expect(report).toMatchObject({
      result: 'timeout',
      edge: 'off',
      message: expect.stringContaining('its node was heard between the reads') as string,
    });
    expect(report.evidence).toBeUndefined();
  });

  it('does not mind that a node is heard which is switched on', async () => {
    const harness = harnessWith();
    harness.plug('bmc').state = 'off';
    const { clock } = harness;
    const report = await harness.run(harness.job(BMC, 'on', { lastSignMs: () => clock.monotonicMs() }));
    expect(report.result).toBe('succeeded');
  });

  it('sends nothing when the state before the set is unknown', async () => {
    const harness = harnessWith();
    harness.plug('bmc').state = 'unknown';
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report.result).toBe('unreachable');
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it('sends its own off though off is read already', async () => {
    const harness = harnessWith();
    harness.plug('bmc').state = 'off';
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(harness.calls(/^set off/)).toHaveLength(1);
    expect(report.evidence?.kind).toBe('power-off');
  });

  it('does not send on to a device that reads on', async () => {
    const harness = harnessWith();
    const report = await harness.run(harness.job(BMC, 'on'));
    expect(report).toMatchObject({ result: 'succeeded', edge: 'on' });
    expect(report.evidence).toBeUndefined();
    expect(harness.calls(/^set/)).toEqual([]);
  });

  it("fails at once, in the device's words, when it refuses and the state is not as wanted", async () => {
    const harness = harnessWith();
    harness.plug('bmc').onSet = () => Promise.reject(failure('Refused', '403 InsufficientPrivilege'));
    const beganAtMs = harness.clock.monotonicMs();
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'refused' });
    expect(report.message).toContain('403 InsufficientPrivilege');
    expect(report.evidence).toBeUndefined();
    expect(harness.clock.monotonicMs() - beganAtMs).toBeLessThan(1_000);
  });

  it('goes on to the stable reads when it refuses and is off all the same', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.state = 'off';
    plug.onSet = () => Promise.reject(failure('Refused', '409 already off'));
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
  });

  it.each(['Timeout', 'Unreachable', 'Refused'] as const)(
    "is not proven by off reads when nothing was sent, for the login ended as %s: the machine may be in the middle of somebody else's power cycle",
    async (kind) => {
      const harness = harnessWith();
      const plug = harness.plug('bmc');
      plug.state = 'off';
      plug.onConnect = () => Promise.reject(failure(kind, 'no session'));
      const report = await harness.run(harness.job(BMC, 'off'));
      expect(report.result).toBe(kind.toLowerCase());
      expect(report.evidence).toBeUndefined();
      expect(report.edge).toBeUndefined();
      expect(harness.calls(/^set/)).toEqual([]);
    },
  );

  it('believes no 2xx: a device that says yes and stays on ends as Timeout after power_timeout, in seconds and not in polls', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.onSet = () => Promise.resolve(ACCEPTED);
    plug.callMs = 5_000;
    const beganAtMs = harness.clock.monotonicMs();
    const report = await harness.run(harness.job(BMC, 'off'));
    const tookMs = harness.clock.monotonicMs() - beganAtMs;
    expect(report.result).toBe('timeout');
    expect(report.evidence).toBeUndefined();
    expect(report.edge, 'the last read shows plainly on: nothing is left off').toBeUndefined();
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
    expect(tookMs, 'slow reads do not stretch it beyond the calls under way').toBeLessThanOrEqual(60_000 + 4 * 5_000);
  });

  it("names the device's words to the set when the reads never came to it", async () => {
    const harness = harnessWith();
    harness.plug('bmc').onSet = () => Promise.resolve({ result: 'unclear', detail: 'completion code C0, node busy' });
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({
      result: 'timeout',
      message: expect.stringContaining('to the request it answered completion code C0, node busy') as string,
    });
  });

  it('counts an off that was sent and never read back as ours to take back', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.onSet = () => {
      plug.onRead = () => Promise.reject(failure('Unreachable', 'no route'));
      return Promise.resolve(ACCEPTED);
    };
    const report = await harness.run(harness.job(BMC, 'off'));
    expect(report).toMatchObject({ result: 'timeout', edge: 'off' });
    expect(report.evidence).toBeUndefined();
  });

  it('lets the reads decide when the set itself got no answer', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.onSet = (wanted) => {
      plug.state = wanted;
      return Promise.reject(failure('Unreachable', 'connection reset after the request'));
    };
    expect(await harness.run(harness.job(BMC, 'off'))).toMatchObject({ result: 'succeeded', evidence: { kind: 'power-off' } });
    expect(harness.calls(/^set/), 'an off is sent once, not again because its answer was lost').toHaveLength(1);
  });

  it('proves nothing by a fabric port that reads closed: power and storage are different evidence', async () => {
    const harness = harnessWith();
    const port = methodOf('switch', 'fabric');
    const report = await harness.run(harness.job(port, 'off', { identityRequired: false }));
    expect(report).toMatchObject({ result: 'succeeded', edge: 'closed' });
    expect(report.evidence).toBeUndefined();
    expect(harness.calls(/^set closed/)).toHaveLength(1);
  });

  it('marks evidence as unverified when one of its reads did not show the identity', async () => {
    const harness = harnessWith();
    harness.plug('bmc').identity = 'unverified';
    const report = await harness.run(harness.job(BMC, 'off', { identityRequired: false }));
    expect(report.evidence?.identity).toBe('unverified');
  });

  it('carries the boot ID of the intent and the device clock into the evidence', async () => {
    const harness = harnessWith();
    const plug = harness.plug('bmc');
    plug.onRead = () => Promise.resolve({ ...plug.reading(), deviceTime: '2020-01-01T00:00:00Z' });
    const report = await harness.run(harness.job(BMC, 'off', { entry: entryOf(BMC, 'off', { bootID: 'boot-1' }) }));
    expect(report.evidence).toMatchObject({ bootID: 'boot-1', deviceTime: '2020-01-01T00:00:00Z' });
  });
});
