import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../domain/node-fence.ts';
import { REMEDY_CORDON_MARK } from './remedy-marks.ts';
import { CORDON_MARK, PRESERVE, SCALE_DOWN_DISABLED } from './preservation-marks.ts';
import { judge } from './judge.ts';
import { edited, fenceWrite, FOREIGN_TAINT, goodTrace, node, nodePatch, OUR_TAINT, status, without } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const P8 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P8;

describe('P8, undo only our own', () => {
  it('passes a fence that leaves the Node as it was', () => {
    expect(P8(goodTrace()).violations).toEqual([]);
    expect(P8(goodTrace()).checks).toBe(6);
  });

  it('catches a cordon that is left behind', () => {
    const violations = P8(without((event) => event.kind === 'api' && event.at === 31_000)).violations;
    expect(violations.join()).toContain('cordon, annotation nodefence.ha.k8s.io/cordoned-by of ours is left');
  });

  it('catches our taint that is left behind', () => {
    const trace = edited((event) =>
      event.kind === 'api' && (event.at === 31_000 || event.at === 15_000)
        ? { ...event, object: node({ taints: [FOREIGN_TAINT, OUR_TAINT] }) }
        : event,
    );
    expect(P8(trace).violations.join()).toContain('out-of-service:NoExecute of ours is left');
  });

  it('catches a taint of another that we wipe', () => {
    const trace = edited((event) => (event.kind === 'api' && event.at === 31_000 ? { ...event, object: node() } : event));
    expect(P8(trace).violations.join()).toContain('we took taint team:NoSchedule from Node a');
  });

  it('catches a cordon of an admin that we undo', () => {
    const cordoned = nodePatch(9_000, node({ unschedulable: true, taints: [FOREIGN_TAINT] }), 'admin');
    expect(P8([...goodTrace(), cordoned]).violations.join()).toContain('we took cordon from Node a');
  });

  it('catches a machine that is left off when its node is said to have recovered', () => {
    const trace = without((event) => event.kind === 'power' && event.at > 20_000);
    expect(P8(trace).violations.join()).toContain('ended in final, but the power is off');
  });

  it('does not blame us for a plug that somebody pulls after the recovery', () => {
    const pulled: TraceEvent = { kind: 'power', at: 31_500, node: 'a', state: 'off', cause: 'panic' };
    expect(P8([...goodTrace(), pulled]).violations).toEqual([]);
  });

  it('lets an error leave a cordon that is written down, not one that is not', () => {
    const failed = (restore: NodeFenceStatus['restore']): TraceEvent[] => [
      ...goodTrace(),
      fenceWrite(12_500, status([], { state: 'error', ...(restore === undefined ? {} : { restore }) })),
    ];
    expect(P8(failed({ cordoned: true })).violations).toEqual([]);
    expect(P8(failed(undefined)).violations.join()).toContain('not all of it is in status.restore');
  });

  describe('of preservation', () => {
    const kept = { [PRESERVE]: 'now', [SCALE_DOWN_DISABLED]: 'false' };
    const ours = { [SCALE_DOWN_DISABLED]: 'true', [CORDON_MARK]: 'true' };
    const asked = nodePatch(8_000, node({ taints: [FOREIGN_TAINT], annotations: kept }), 'admin');

    it('leaves it alone: its marks come and go beside a fence', () => {
      const marked = nodePatch(31_500, node({ unschedulable: true, taints: [FOREIGN_TAINT], annotations: ours }));
      const closed = fenceWrite(32_500, status([], { state: 'final', outcome: 'recovered', incident: 2 }));
      expect(P8([...without((event) => event.kind === 'api' && event.resource === 'nodes'), asked, marked, closed]).violations).toEqual([]);
    });

    it('catches a cordon that is undone under its mark, and was an admin’s', () => {
      const before = nodePatch(8_000, node({ unschedulable: true, annotations: {} }), 'admin');
      const after = nodePatch(8_500, node({ annotations: ours }));
      const trace = without((event) => event.kind === 'api' && event.resource === 'nodes');
      expect(P8([...trace, before, after]).violations.join()).toContain('we took cordon from Node a');
    });
  });

  describe('of remedies', () => {
    const ended = fenceWrite(32_500, status([], { state: 'final', outcome: 'recovered', incident: 2 }));
    const marks = { [REMEDY_CORDON_MARK]: 'r-1', 'nodefence.ha.k8s.io/remediation-podname': 'p' };
    const cordoned = (annotations: Record<string, string>): TraceEvent =>
      nodePatch(31_500, node({ unschedulable: true, taints: [FOREIGN_TAINT], annotations }));

    it('leaves a cordon under their mark beside a fence, and none without it', () => {
      expect(P8([...goodTrace(), cordoned(marks), ended]).violations).toEqual([]);
      expect(P8([...goodTrace(), cordoned({}), ended]).violations.join()).toContain('cordon of ours is left');
    });

    it('catches a cordon that they undo, and that was an admin’s', () => {
      const before = nodePatch(31_500, node({ unschedulable: true, taints: [FOREIGN_TAINT], annotations: marks }), 'admin');
      const after = nodePatch(31_600, node({ taints: [FOREIGN_TAINT] }));
      expect(P8([...goodTrace(), before, after]).violations.join()).toContain('we took cordon from Node a');
    });
  });

  it('lets a fence that ends in off leave the cordon that is written down, not one that is not', () => {
    const ended = (restore: NodeFenceStatus['restore']): TraceEvent[] => [
      ...goodTrace(),
      fenceWrite(12_500, status([], { state: 'final', outcome: 'fenced-off', ...(restore === undefined ? {} : { restore }) })),
    ];
    const deleted = fenceWrite(12_500, status([], { state: 'final', outcome: 'replaced', ending: 'deleted', restore: { cordoned: true } }));
    const replaced = fenceWrite(12_500, status([], { state: 'final', outcome: 'replaced', restore: { cordoned: true } }));
    expect(P8([...goodTrace(), deleted]).violations).toEqual([]);
    expect(P8([...goodTrace(), replaced]).violations.join()).toContain('of ours is left');
    expect(P8(ended({ cordoned: true })).violations).toEqual([]);
    expect(P8(ended(undefined)).violations.join()).toContain('not all of it is in status.restore');
  });

  it('lets others take what they put there', () => {
    const taken = nodePatch(31_500, node(), 'admin');
    expect(P8([...goodTrace(), taken]).violations).toEqual([]);
  });
});
