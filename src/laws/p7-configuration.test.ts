import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { PlanProblem } from '../domain/plan.ts';
import { judge } from './judge.ts';
import { device, edited, entry, fenceWrite, goodTrace, plan, status } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const P7 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P7;

function withProblem(problem: PlanProblem): TraceEvent[] {
  const frozen = { nodeUID: 'node-a', plan: plan({ problems: [problem] }) };
  return edited((event) => {
    const object = event.kind === 'api' ? (event.object as { status?: NodeFenceStatus } | undefined) : undefined;
    if (event.kind !== 'api' || event.resource !== 'nodefences.ha.k8s.io' || object?.status?.journal === undefined) return event;
    return { ...event, object: { ...object, status: { ...object.status, frozen } } };
  });
}

const SPOILED = {
  nodeUID: 'node-a',
  plan: plan({ problems: [{ severity: 'error', step: 'power-management', where: 'ConfigMap x', message: 'settle is no duration' }] }),
};
const FINISHED = entry('off', { finishedAt: '2026-01-01T00:00:01.000Z', result: 'succeeded' });

const DONE: Pick<NodeFenceStatus, 'conditions'> = {
  conditions: [{ type: 'PoweredOff', status: 'True', reason: 'x', message: '', lastTransitionTime: '' }],
};

describe('P7, wrong configuration fails', () => {
  it('passes a plan without problems', () => {
    expect(P7(goodTrace())).toEqual({ checks: 2, violations: [] });
  });

  it('passes a plan with an error of another step, or with a warning only', () => {
    expect(P7(withProblem({ severity: 'error', step: 'isolation', where: 'ConfigMap x', message: 'no agent snmp' })).violations).toEqual([]);
    expect(P7(withProblem({ severity: 'warning', where: 'ConfigMap x', message: 'odd' })).violations).toEqual([]);
  });

  it('catches a set by a step whose configuration is wrong', () => {
    const trace = withProblem({ severity: 'error', step: 'power-management', where: 'ConfigMap x', message: 'parameter ip is missing' });
    expect(P7(trace).violations.join()).toContain('method bmc of node-fence-a was run although');
  });

  it('catches a set although an error spoils every step', () => {
    expect(P7(withProblem({ severity: 'error', where: 'ConfigMap x', message: 'has no key' })).violations).toHaveLength(2);
  });

  it('catches a step that is said to be done although its configuration is wrong', () => {
    const problems: PlanProblem[] = [{ severity: 'error', step: 'power-management', where: 'ConfigMap x', message: 'no Secret y' }];
    const said = status([], { ...DONE, frozen: { nodeUID: 'node-a', plan: plan({ problems }) } });
    expect(P7([fenceWrite(1, said)]).violations.join()).toContain('says that power-management is done');
  });

  it('passes a set of the plan that was right, although a later incident of the same NodeFence froze a wrong one and switched nothing', () => {
    const ran = [fenceWrite(1, status([entry('off')])), fenceWrite(2, status([FINISHED]))];
    const later = fenceWrite(3, status([], { state: 'new', incident: 2, frozen: SPOILED }));
    expect(P7([...ran, later, device(4, 'set', { want: 'off' })]).violations).toEqual([]);
  });

  it('catches a set of a wrong plan, although a right one was frozen before it arrived', () => {
    const ran = [fenceWrite(1, status([entry('off')], { frozen: SPOILED })), fenceWrite(2, status([FINISHED]))];
    expect(P7([...ran, device(3, 'set', { want: 'off' })]).violations.join()).toContain('method bmc of node-fence-a was run although');
  });
});
