import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { edited, goodTrace, without } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const P10 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P10;

describe('P10, never saw off its own branch', () => {
  it('passes an off of the right machine after its identity was read', () => {
    expect(P10(goodTrace())).toEqual({ checks: 4, violations: [] });
  });

  it('catches an off without an identity', () => {
    expect(P10(without((event) => event.kind === 'device' && event.action === 'identity')).violations.join()).toContain(
      "had not shown the machine's identity",
    );
  });

  it('catches an identity that was read over another session', () => {
    const trace = edited((event) => (event.kind === 'device' && event.action === 'identity' ? { ...event, session: 's0' } : event));
    expect(P10(trace).violations).toHaveLength(1);
  });

  it('catches a device that switches another machine', () => {
    const trace = edited((event) => (event.kind === 'device' ? { ...event, node: 'b' } : event));
    expect(P10(trace).violations.join()).toContain('was set off for a but switches b');
  });

  it("catches an off of the controller's own node", () => {
    expect(judge(goodTrace(), { controllerNodes: ['a'] }).laws.P10.violations.join()).toContain('the node of a controller');
  });

  it('asks for no identity where devices have none', () => {
    const trace = without((event) => event.kind === 'device' && event.action === 'identity');
    expect(judge(trace, { requireIdentity: false }).laws.P10.violations).toEqual([]);
  });
});
