import { describe, expect, it } from 'vitest';
import { POWER_CYCLES } from '../../../testbed/operators/checkers/power-cycle.ts';
import type { ApiEvent, DeviceEvent, OperatorEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { escalatedProblems, foreignProblems, heldProblems, requestedProblems, timedOutMs } from './request-findings.ts';

const REQUESTS = 'nodefenceremediations.ha.k8s.io';

function write(at: number, verb: ApiEvent['verb'], more: Partial<ApiEvent> = {}): ApiEvent {
  return { kind: 'api', at, user: 'checker', verb, resource: REQUESTS, status: 200, object: { metadata: { name: 'm' } }, ...more };
}

function set(at: number, want: 'on' | 'off', node = 'a'): DeviceEvent {
  return { kind: 'device', at, device: 'bmc', plug: '', node, action: 'set', want, answer: '204', session: 's' };
}

const STORY = [write(1, 'create'), set(2, 'off'), set(3, 'on'), write(4, 'delete')];

describe('a node that was fenced because a health check asked', () => {
  it('was switched off and on once, while the request stood', () => {
    expect(requestedProblems(STORY, 'a', 'm')).toEqual([]);
  });

  it.each([
    ['nobody asked', STORY.slice(1), 'no request m was made'],
    ['it was refused', [{ ...write(1, 'create'), status: 403 }, ...STORY.slice(1)], 'no request m was made'],
    ['it was switched before', [set(0, 'off'), ...STORY], 'before anybody had asked'],
    ['it was never switched', [write(1, 'create'), write(4, 'delete')], 'told nothing'],
    ['it was switched off twice', [...STORY, set(5, 'off')], 'told off, on, off'],
    ['the request was left', STORY.slice(0, 3), 'never deleted'],
    ['the request went too early', [write(1, 'create'), set(2, 'off'), write(2.5, 'delete'), set(3, 'on')], 'before a was switched on'],
  ])('is not as it must be where %s', (_words, trace, told) => {
    expect(requestedProblems(trace, 'a', 'm').join('; ')).toContain(told);
  });
});

describe('too many unhealthy machines', () => {
  it('are left alone until there are fewer', () => {
    expect(heldProblems(STORY, ['a'], 1)).toEqual([]);
    expect(heldProblems(STORY, ['a'], 1.5)).toEqual(['a request was made although too many were unhealthy']);
    expect(heldProblems(STORY, ['a', 'b'], 3)).toContain('a was told to switch off although too many were unhealthy');
    expect(heldProblems(STORY, ['b'], 3)).toHaveLength(1);
  });
});

describe('a request that was given up', () => {
  const given = write(10, 'patch', {
    object: { metadata: { name: 'm', annotations: { 'remediation.medik8s.io/nhc-timed-out': '2027-01-01T00:00:00Z' } } },
  });

  it('is one that the check says so of', () => {
    expect(timedOutMs(given.object as Parameters<typeof timedOutMs>[0])).toBe(Date.UTC(2027, 0, 1));
    expect(timedOutMs({ metadata: { name: 'm' } })).toBeUndefined();
    expect(escalatedProblems(STORY, 'a', 'm')).toEqual(['the request m was never given up']);
  });

  it('has nothing switched off afterwards; what was on its way may still arrive, and on is no harm', () => {
    expect(escalatedProblems([set(5, 'off'), given, set(500, 'off'), set(9_000, 'on')], 'a', 'm')).toEqual([]);
    expect(escalatedProblems([given, set(5_010, 'off')], 'a', 'm')).toEqual(['a was told off 5000 ms after the request had been given up']);
  });
});

describe("somebody else's remediator", () => {
  const resource = 'powercycles.remediation.example.io';
  const asked = [write(1, 'create', { user: CONTROLLER_USER, resource }), write(9, 'delete', { user: CONTROLLER_USER, resource })];
  const operator: OperatorEvent = { kind: 'operator', at: 5, tookMs: 2, node: 'a', device: 'bmc', want: 'off', answer: 'accepted' };

  it('is asked by us, and switches in our place', () => {
    expect(foreignProblems([...asked, set(4, 'off'), operator], 'a', POWER_CYCLES, 'm')).toEqual([]);
  });

  it.each([
    ['it was never asked', [], 'did not create'],
    ['somebody else asked it', asked.map((event) => ({ ...event, user: 'x' })), 'did not create'],
    ['the request was left', asked.slice(0, 1), 'did not delete'],
    ['we switched too', [...asked, set(4, 'off')], 'by us, though somebody else'],
  ])('is not as it must be where %s', (_words, trace, told) => {
    expect(foreignProblems(trace, 'a', POWER_CYCLES, 'm').join('; ')).toContain(told);
  });
});
