import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { PlanProblem } from '../domain/plan.ts';
import { judge } from './judge.ts';
import { api, CONTROLLER, DEVICE, device, edited, entry, fenceWrite, goodTrace, plan, status } from './sample-trace.ts';
import type { ApiEvent, TraceEvent } from './trace.ts';

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

const LEFT_OFF = { method: 'bmc', agent: 'redfish', device: DEVICE, plug: '', state: 'off' as const };

/** A fence of a wrong plan finds its machine left off by an earlier incident, and begins to set it at 3; its deletion is asked for at `deletedAt`. */
function takenBack(edge: typeof LEFT_OFF, deletedAt: number | undefined, want: 'on' | 'off' = 'on'): TraceEvent[] {
  const said = status([], { frozen: SPOILED, restore: { edges: [edge] } });
  const metadata = { name: 'node-fence-a', uid: 'fence-a', finalizers: ['ha.k8s.io/fence'] };
  const written = (at: number, value: NodeFenceStatus): ApiEvent => {
    const deletion = deletedAt !== undefined && at > deletedAt ? { deletionTimestamp: 'now' } : {};
    return fenceWrite(at, value, { object: { metadata: { ...metadata, ...deletion }, spec: { node: 'a' }, status: value } });
  };
  const begun = [written(1, said), written(3, { ...said, journal: [entry(want)] }), device(5, 'set', { want })];
  if (deletedAt === undefined) return begun;
  return [...begun, api(deletedAt, CONTROLLER, 'delete', 'nodefences.ha.k8s.io', 'node-fence-a')].toSorted((a, b) => a.at - b.at);
}

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

  it('passes what takes back, of a NodeFence that is being deleted, what was left off: that is no step of the wrong plan', () => {
    expect(P7(takenBack(LEFT_OFF, 2)).violations).toEqual([]);
  });

  it.each([
    ['that nobody deletes', LEFT_OFF, undefined],
    ['that is deleted only after it was begun', LEFT_OFF, 4],
    ['that left another plug off', { ...LEFT_OFF, plug: '7' }, 2],
    ['that left another device off', { ...LEFT_OFF, device: '10.0.0.2:443' }, 2],
    ['that left it off by another method', { ...LEFT_OFF, method: 'outlet' }, 2],
  ])('catches the on of a wrong plan, of a NodeFence %s', (_name, edge, deletedAt) => {
    expect(P7(takenBack(edge, deletedAt)).violations.join()).toContain('method bmc of node-fence-a was run although');
  });

  it('catches the off of a wrong plan, of a NodeFence that is being deleted', () => {
    expect(P7(takenBack(LEFT_OFF, 2, 'off')).violations.join()).toContain('method bmc of node-fence-a was run although');
  });
});
