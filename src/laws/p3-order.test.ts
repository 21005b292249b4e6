import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { device, entry, fenceWrite, goodTrace, ON_AT, RELEASE_AT, status, without } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const P3 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P3;
const isVolumeDelete = (event: TraceEvent): boolean => event.kind === 'api' && event.verb === 'delete' && event.resource.startsWith('volume');

describe('P3, order', () => {
  it('passes off, release, on', () => {
    expect(P3(goodTrace()).violations).toEqual([]);
    expect(P3(goodTrace()).checks).toBeGreaterThan(3);
  });

  it('catches an on before the off was read back', () => {
    const isRead = (event: TraceEvent): boolean => event.kind === 'device' && event.action === 'read' && event.shown === 'off';
    expect(P3(without(isRead)).violations.join()).toContain('before the off of 10.0.0.1:443 was read back');
  });

  it('lets a machine be switched on again whose off has failed and whose device reads on, when nothing was let go', () => {
    const bmc = { device: 'bmc' };
    const ended = fenceWrite(40_200, status([entry('off', { ...bmc, finishedAt: 'then', result: 'timeout' })]));
    const told = device(10_120, 'set', { ...bmc, want: 'off', answer: '204' });
    const on = device(50_000, 'set', { want: 'on', answer: '204' });
    const began = fenceWrite(10_100, status([entry('off', bmc)]));
    const said = (shown: 'on' | 'off' | 'pending', at: number): TraceEvent => device(at, 'read', { ...bmc, shown });
    const law = (...events: TraceEvent[]): string =>
      P3([...goodTrace().filter(({ at }) => at < 10_000), began, told, ended, on, ...events]).violations.join();
    const complaint = 'before the off of bmc was read back';
    expect(law(said('on', 40_300))).toBe('');
    expect(law(said('on', 30_000)), 'read while it could still come').toContain(complaint);
    expect(law(said('on', 40_300), said('pending', 40_400)), 'on its way').toContain(complaint);
    expect(law(said('on', 40_300), ...goodTrace().filter(({ at }) => at === RELEASE_AT)), 'released').toContain(complaint);
  });

  it('leaves a device out that failed, when the next level was told off after it and was read back', () => {
    const failed = device(10_120, 'set', { device: 'bmc', want: 'off', answer: '204' });
    expect(P3([...goodTrace(), failed]).violations).toEqual([]);
    const later = device(10_900, 'set', { device: 'bmc', want: 'off', answer: '204' });
    expect(P3([...goodTrace(), later]).violations.join()).toContain('before the off of bmc was read back');
  });

  it('catches an on of a node that is still tainted', () => {
    const isUntaint = (event: TraceEvent): boolean => event.kind === 'api' && event.at === 15_000;
    expect(P3(without(isUntaint)).violations.join()).toContain('while it had the out-of-service taint');
  });

  it('catches a taint on a machine that is on', () => {
    expect(P3(without((event) => event.kind === 'power' && event.state === 'off')).violations.join()).toContain('while its power was on');
  });

  it('catches an on while a volume is still attached', () => {
    expect(P3(without(isVolumeDelete)).violations.join()).toContain('before csi-a was gone');
  });

  it('catches an on while a pod is still terminating', () => {
    const isGone = (event: TraceEvent): boolean => event.kind === 'api' && event.at === 14_800;
    expect(P3(without(isGone)).violations.join()).toContain('before db-0 was gone');
  });

  it('lets the release timeout end the wait', () => {
    const timedOut = fenceWrite(22_000, status([], { released: { by: 'out-of-service', at: '', pods: 1, evidence: 'off-1', timedOut: true } }));
    const trace = without((event) => isVolumeDelete(event) || (event.kind === 'api' && event.at === 23_000));
    const late = fenceWrite(
      23_000,
      status([entry('on')], { released: { by: 'out-of-service', at: '', pods: 1, evidence: 'off-1', timedOut: true } }),
    );
    expect(P3([...trace, timedOut, late]).violations).toEqual([]);
    expect(judge(without(isVolumeDelete), { releaseTimeoutMs: ON_AT - RELEASE_AT }).laws.P3.violations).toEqual([]);
  });

  it('catches two sets that are open at once', () => {
    const both = fenceWrite(23_050, status([entry('off'), entry('on')]));
    expect(P3([...goodTrace(), both]).violations.join()).toContain('2 sets open at once');
  });

  it('knows the node as it stood at that time', () => {
    const trace = goodTrace();
    const untainted = { ...trace.find((event) => event.kind === 'api' && event.at === 15_000), at: 23_120 } as TraceEvent;
    const late = [...without((event) => event.kind === 'api' && event.at === 15_000), untainted];
    expect(P3(late).violations).toHaveLength(1);
  });
});
