import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Harness, methodOf } from './testing/harness.ts';

const FIRST = methodOf('close-1', 'fabric', { device: 'switch', plug: '1', storage: 'san' });
const LAST = methodOf('close-2', 'fabric', { device: 'switch', plug: '2', storage: 'san' });
const REVOKING = { together: [FIRST], revokes: ['san'], lastOff: false, identityRequired: false };

function harnessWith(): Harness {
  const harness = new Harness(new ManualClock());
  harness.plug('switch', '1').state = 'off';
  return harness;
}

describe('paths to a storage', () => {
  it('are evidence of a revoked storage when all of them read closed in every pass', async () => {
    const harness = harnessWith();
    const report = await harness.run(harness.job(LAST, 'off', REVOKING));
    expect(report).toMatchObject({
      result: 'succeeded',
      edge: 'closed',
      evidence: { kind: 'storage-revoked', grade: 'read-back', storages: ['san'] },
    });
    const passes = harness.log.slice(harness.log.findIndex((line) => line.call.startsWith('set')) + 1).map((line) => line.call);
    expect(passes.length).toBeGreaterThanOrEqual(6);
    expect(new Set(passes)).toEqual(new Set(['read switch/1', 'read switch/2']));
    expect(report.evidenceAtMs, 'when the last pass began').toBeLessThanOrEqual(harness.log.at(-2)?.atMs ?? 0);
  });

  describe('whose device does not show whose they are', () => {
    const closed = async (change: Partial<typeof LAST>, identityRequired = true, action: 'on' | 'off' = 'off') => {
      const harness = harnessWith();
      harness.plug('switch', '2').state = action === 'off' ? 'on' : 'off';
      harness.plug('switch', '2').identity = 'unverified';
      const report = await harness.run(harness.job({ ...LAST, ...change }, action, { lastOff: false, identityRequired }));
      return { result: report.result, message: report.message, sent: harness.calls(/^set/).length };
    };

    it('are not closed, for that may be another’s, and would prove nothing', async () => {
      const { message, ...rest } = await closed({});
      expect(rest).toEqual({ result: 'misconfigured', sent: 0 });
      expect(message).toContain('write identity=unverified into the method to accept that');
    });

    it.each([
      ['it is written for them that they do not', { identity: 'unverified' as const }, true, 'off' as const],
      ['it is written for all that they do not', {}, false, 'off' as const],
      ['they are opened', { action: 'on' as const }, true, 'on' as const],
    ])('are switched where %s', async (_where, change, identityRequired, action) => {
      expect(await closed(change, identityRequired, action)).toMatchObject({ result: 'succeeded', sent: 1 });
    });

    it('are closed where no storage is named, which proves nothing', async () => {
      const { storage: _storage, ...plain } = LAST;
      const harness = harnessWith();
      harness.plug('switch', '2').identity = 'unverified';
      const report = await harness.run(harness.job(plain, 'off', { lastOff: false, identityRequired: true }));
      expect(report).toMatchObject({ result: 'succeeded' });
      expect(report.evidence).toBeUndefined();
    });
  });

  it('leave nothing to be taken back where others open what was closed', async () => {
    const harness = harnessWith();
    harness.undoneByOthers = true;
    const report = await harness.run(harness.job(LAST, 'off', REVOKING));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'storage-revoked' } });
    expect(report.edge).toBeUndefined();
  });

  it('are no evidence while one of them is open, or where the method declares no storage', async () => {
    const harness = harnessWith();
    expect((await harness.run(harness.job(LAST, 'off', { ...REVOKING, revokes: [] }))).evidence).toBeUndefined();
    harness.plug('switch', '1').state = 'on';
    const report = await harness.run(harness.job(LAST, 'off', REVOKING));
    expect([report.result, report.evidence]).toEqual(['timeout', undefined]);
  });

  it('are never evidence when they are opened, nor of a power that is off', async () => {
    const harness = harnessWith();
    expect((await harness.run(harness.job(LAST, 'on', REVOKING))).evidence).toBeUndefined();
    const power = methodOf('off', 'power', { device: 'bmc' });
    expect((await harness.run(harness.job(power, 'off', { revokes: ['san'] }))).evidence?.kind).toBe('power-off');
  });

  describe('that may read closed though they never were there', () => {
    const mistyped = async (wasSeenOpen: readonly string[], isOpen: boolean, action: 'off' | 'confirm' = 'off') => {
      const harness = harnessWith();
      harness.mustBeSeenOpen = true;
      harness.plug('switch', '2').state = isOpen ? 'on' : 'off';
      const entry = { ...harness.job(LAST, action).entry, operation: 'off:close-2' };
      return harness.run(harness.job(LAST, action, { ...REVOKING, entry, offWasSent: ({ name }) => wasSeenOpen.includes(name) }));
    };

    it('are evidence only where this fence saw each of them open before it closed it', async () => {
      expect(await mistyped(['close-1'], true)).toMatchObject({ offSent: true, evidence: { kind: 'storage-revoked' } });
      expect(await mistyped(['close-1', 'close-2'], false)).toMatchObject({ evidence: { kind: 'storage-revoked' } });
      expect(await mistyped(['close-1', 'close-2'], false, 'confirm')).toMatchObject({ evidence: { kind: 'storage-revoked' } });
    });

    it('are none where one was seen open in a part of it only: of the other part nobody saw it', async () => {
      const harness = harnessWith();
      harness.mustBeSeenOpen = true;
      harness.plug('switch', '2').state = 'on';
      harness.openInPart.add('2');
      const report = await harness.run(harness.job(LAST, 'off', { ...REVOKING, offWasSent: ({ name }) => name === 'close-1' }));
      expect(report).toMatchObject({ result: 'succeeded', message: expect.stringContaining('has not seen close-2 open') as string });
      expect([report.evidence, report.offSent]).toEqual([undefined, undefined]);
    });

    it.each([
      ['the one that is closed now', ['close-1'], false, 'off', 'close-2'],
      ['one that was closed before it', [], true, 'off', 'close-1'],
      ['one that is read anew', ['close-1'], false, 'confirm', 'close-2'],
    ] as const)('are none where nobody saw %s open: a mistyped key is never there', async (_what, seen, isOpen, action, name) => {
      const report = await mistyped(seen, isOpen, action);
      expect(report).toMatchObject({ result: 'succeeded', message: expect.stringContaining(`has not seen ${name} open`) as string });
      expect(report.evidence).toBeUndefined();
    });
  });

  it.each([
    ['the one that is switched', '2', [], 'close-2'],
    ['one beside it', '1', [], 'close-1'],
    ['one beside it, that it saw open and closed', '1', ['close-1'], undefined],
  ] as const)('that do not show whose they are count only where this fence saw them open: %s', async (_what, plug, seen, unproven) => {
    const harness = harnessWith();
    harness.plug('switch', plug).identity = 'unverified';
    harness.plug('switch', '2').state = 'off';
    const entry = { ...harness.job(LAST, 'off').entry, operation: 'off:close-2' };
    const report = await harness.run(harness.job(LAST, 'off', { ...REVOKING, entry, offWasSent: ({ name }) => seen.some((one) => one === name) }));
    const told = unproven === undefined ? 'read back' : `has not seen ${unproven} open`;
    expect(report).toMatchObject({ result: 'succeeded', message: expect.stringContaining(told) as string });
    expect(report.evidence?.kind).toBe(unproven === undefined ? 'storage-revoked' : undefined);
  });

  it('are read anew for a release that comes later', async () => {
    const harness = harnessWith();
    harness.plug('switch', '2').state = 'off';
    const entry = { ...harness.job(LAST, 'confirm').entry, operation: 'off:close-2' };
    const report = await harness.run(harness.job(LAST, 'confirm', { ...REVOKING, entry }));
    expect(report.evidence?.storages).toEqual(['san']);
    expect(harness.log.some((line) => line.call.startsWith('set'))).toBe(false);
  });
});
