import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import type { KubeObject } from '../ports/objects.ts';
import { REMEDY_CORDON_MARK } from './remedy-marks.ts';
import { api, fenceWrite, goodTrace, node, nodePatch, status } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const P6 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P6;
const stop = (at: number, verb: 'create' | 'delete', spec: object): TraceEvent =>
  api(at, 'admin', verb, 'nodefencestops.ha.k8s.io', 'halt', { object: { metadata: { name: 'halt', uid: 'stop-1' }, spec } });

describe('P6, holds win', () => {
  it('passes a fence that nobody stopped', () => {
    expect(P6(goodTrace())).toEqual({ checks: 6, violations: [] });
  });

  it('catches an off after a stop of that node', () => {
    expect(P6([...goodTrace(), stop(5_000, 'create', { node: 'a' })]).violations.join()).toContain('was set off although NodeFenceStop halt');
  });

  it('catches a cordon after a stop of that node', () => {
    expect(P6([...goodTrace(), stop(5_000, 'create', { node: 'a' })]).violations.join()).toContain('a was cordoned although NodeFenceStop halt');
  });

  it('catches a release after a stop of all nodes', () => {
    expect(P6([...goodTrace(), stop(12_000, 'create', { all: true })]).violations).toHaveLength(1);
  });

  it('lets what was under way end within two seconds', () => {
    expect(P6([...goodTrace(), stop(12_600, 'create', { all: true })]).violations).toEqual([]);
  });

  it('catches an off, and a release, while the fence itself says that a policy holds it', () => {
    const hold = { reason: 'too-many-failed', policy: 'max-unhealthy', message: '3 of 5 nodes have failed', since: '' };
    const held = (at: number): TraceEvent => fenceWrite(at, status([], { hold }));
    expect(P6([...goodTrace(), held(14_410)]).violations).toEqual([]);
    const early = P6([...goodTrace().filter(({ at, kind }) => !(kind === 'api' && (at === 14_300 || at === 14_400))), held(11_000)]);
    expect(early.violations.join()).toContain(
      'the out-of-service taint was set on a although its fence says since 11000 that it is held by max-unhealthy',
    );
    const late = goodTrace().map((event) =>
      event.kind === 'device' && event.action === 'set' && event.want === 'off' ? { ...event, at: 13_900 } : event,
    );
    expect(P6([...late, held(11_000)]).violations.join()).toContain('was set off although its fence says');
  });

  it('lets a remedy cordon under the hold of a fence that goes no further than isolation, by the mark of remedies alone', () => {
    const cordoned = (policy: string, mark: string, before?: string): string => {
      const held = fenceWrite(33_000, status([], { hold: { reason: policy, policy, message: 'it is kept', since: '' } }));
      const cordon = nodePatch(50_000, node({ unschedulable: true, annotations: { [mark]: 'run-1' } }));
      const uncordoned = nodePatch(34_000, node(before === undefined ? {} : { annotations: { [mark]: before } }));
      return P6([...goodTrace(), held, uncordoned, cordon]).violations.join();
    };
    expect(cordoned('isolation-only', REMEDY_CORDON_MARK)).toBe('');
    expect(cordoned('isolation-only', REMEDY_CORDON_MARK, 'run-0'), 'the mark of an earlier run stayed').toBe('');
    expect(cordoned('isolation-only', REMEDY_CORDON_MARK, 'run-1'), 'the mark is none of this write').toContain('a was cordoned');
    expect(cordoned('isolation-only', 'somebody')).toContain('a was cordoned although its fence says');
    expect(cordoned('max-unhealthy', REMEDY_CORDON_MARK)).toContain('a was cordoned although its fence says');
  });

  it('asks nothing of a hold whose fence is gone with its last finalizer', () => {
    const hold = { reason: 'preserved', policy: 'preservation', message: 'it is kept', since: '' };
    const held = fenceWrite(33_000, status([], { hold }));
    const cordon = nodePatch(50_000, node({ unschedulable: true }));
    const uncordoned = nodePatch(34_000, node({}));
    const last = { ...(held.object as KubeObject), metadata: { name: 'node-fence-a', uid: 'fence-a', deletionTimestamp: '', finalizers: [] } };
    const gone = api(40_000, 'nodefence', 'patch', 'nodefences.ha.k8s.io', 'node-fence-a', { object: last });
    expect(P6([...goodTrace(), held, uncordoned, cordon]).violations.join()).toContain('a was cordoned although its fence says');
    expect(P6([...goodTrace(), held, uncordoned, gone, cordon]).violations).toEqual([]);
  });

  it('asks nothing of a cordon that keeps new pods from a machine that is preserved', () => {
    const halt = stop(40_000, 'create', { node: 'a' });
    const cordon = (annotations: Record<string, string>): TraceEvent[] => [
      ...goodTrace(),
      nodePatch(39_000, node({})),
      halt,
      nodePatch(50_000, node({ unschedulable: true, annotations })),
    ];
    expect(P6(cordon({})).violations.join()).toContain('a was cordoned although NodeFenceStop halt');
    expect(P6(cordon({ 'ha.k8s.io/preserve-cordoned': 'true' })).violations).toEqual([]);
  });

  it('lets a fence go on when the stop is gone, or is for another node', () => {
    expect(P6([...goodTrace(), stop(5_000, 'create', { node: 'a' }), stop(9_000, 'delete', { node: 'a' })]).violations).toEqual([]);
    expect(P6([...goodTrace(), stop(5_000, 'create', { node: 'b' })]).violations).toEqual([]);
  });
});
