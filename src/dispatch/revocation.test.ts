import { describe, expect, it } from 'vitest';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Bench, methodOf } from './testing/bench.ts';

const FIRST = methodOf('close-1', 'fabric', { device: 'switch', plug: '1', storage: 'san' });
const LAST = methodOf('close-2', 'fabric', { device: 'switch', plug: '2', storage: 'san' });
const REVOKING = { together: [FIRST], revokes: ['san'], lastOff: false, identityRequired: false };

function benchWith(): Bench {
  const bench = new Bench(new ManualClock());
  bench.plug('switch', '1').state = 'off';
  return bench;
}

describe('paths to a storage', () => {
  it('are evidence of a revoked storage when all of them read closed in every pass', async () => {
    const bench = benchWith();
    const report = await bench.run(bench.job(LAST, 'off', REVOKING));
    expect(report).toMatchObject({
      result: 'succeeded',
      edge: 'closed',
      evidence: { kind: 'storage-revoked', grade: 'read-back', storages: ['san'] },
    });
    const passes = bench.log.slice(bench.log.findIndex((line) => line.call.startsWith('set')) + 1).map((line) => line.call);
    expect(passes.length).toBeGreaterThanOrEqual(6);
    expect(new Set(passes)).toEqual(new Set(['read switch/1', 'read switch/2']));
    expect(report.evidenceAtMs, 'when the last pass began').toBeLessThanOrEqual(bench.log.at(-2)?.atMs ?? 0);
  });

  it('are no evidence while one of them is open, or where the method declares no storage', async () => {
    const bench = benchWith();
    expect((await bench.run(bench.job(LAST, 'off', { ...REVOKING, revokes: [] }))).evidence).toBeUndefined();
    bench.plug('switch', '1').state = 'on';
    const report = await bench.run(bench.job(LAST, 'off', REVOKING));
    expect([report.result, report.evidence]).toEqual(['timeout', undefined]);
  });

  it('are never evidence when they are opened, nor of a power that is off', async () => {
    const bench = benchWith();
    expect((await bench.run(bench.job(LAST, 'on', REVOKING))).evidence).toBeUndefined();
    const power = methodOf('off', 'power', { device: 'bmc' });
    expect((await bench.run(bench.job(power, 'off', { revokes: ['san'] }))).evidence?.kind).toBe('power-off');
  });

  it('are read anew for a release that comes later', async () => {
    const bench = benchWith();
    bench.plug('switch', '2').state = 'off';
    const entry = { ...bench.job(LAST, 'confirm').entry, operation: 'off:close-2' };
    const report = await bench.run(bench.job(LAST, 'confirm', { ...REVOKING, entry }));
    expect(report.evidence?.storages).toEqual(['san']);
    expect(bench.log.some((line) => line.call.startsWith('set'))).toBe(false);
  });
});
