import { describe, expect, it } from 'vitest';
import type { ApiEvent, DeviceEvent } from '../../laws/trace.ts';
import { CONTROLLER_USER } from '../run/cluster-session.ts';
import { holdEventProblems, slotProblems, touches } from './storm-findings.ts';

function api(at: number, resource: string, more: Partial<ApiEvent>): ApiEvent {
  return { kind: 'api', at, user: CONTROLLER_USER, verb: 'update', resource, status: 200, ...more };
}

function held(node: string, policy: string, kind = 'Node'): ApiEvent {
  const object = { reason: 'FencingHeld', message: `Held by ${policy}: too many`, involvedObject: { kind, name: node } };
  return api(1, 'events', { verb: 'create', status: 201, object });
}

function fence(at: number, node: string, more: object): ApiEvent {
  return api(at, 'nodefences.ha.k8s.io', { object: { spec: { node }, status: { journal: [{}], timeline: {}, ...more } } });
}

const OFF: DeviceEvent = { kind: 'device', at: 5, device: 'bmc', plug: '', node: 'a', action: 'set', want: 'off', answer: '204', session: 's' };

describe('nodes that are held', () => {
  it('are touched by a set, by a change of the Node, and by the deletion of a pod there', () => {
    const pod = { spec: { nodeName: 'a' } };
    const trace = [OFF, api(6, 'nodes', { name: 'a', verb: 'patch' }), api(7, 'pods', { name: 'db-0', verb: 'delete', object: pod })];
    expect(touches(trace, ['a'])).toEqual(['a was told to switch off', 'Node a was changed', 'pod db-0 was deleted']);
    expect(touches(trace, ['b'])).toEqual([]);
    expect(touches(trace, ['a'], 5)).toEqual(['a was told to switch off']);
  });

  it('are not touched by reads, by refused writes, or by what others do', () => {
    const trace = [
      api(1, 'nodes', { name: 'a', verb: 'get' }),
      api(2, 'nodes', { name: 'a', status: 409 }),
      api(3, 'nodes', { name: 'a', user: 'system:node:a' }),
      { ...OFF, action: 'read' } as const,
    ];
    expect(touches(trace, ['a'])).toEqual([]);
  });

  it('are told once for each policy that trips', () => {
    expect(holdEventProblems([held('a', 'rate'), held('a', 'cooldown'), held('a', 'rate', 'NodeFence')], ['a'])).toEqual([]);
    expect(holdEventProblems([held('a', 'rate'), held('a', 'rate')], ['a'])).toEqual(['more than one event says that a is held by rate']);
    expect(holdEventProblems([held('b', 'rate')], ['a'])).toEqual(['no event says that a is held']);
  });
});

describe('slots of fences', () => {
  it('are held from the first run to the release, and no more than so many at once', () => {
    const released = { timeline: { releasedAt: 'then' } };
    const inTurn = [fence(100, 'a', {}), fence(150, 'b', {}), fence(300, 'a', released), fence(310, 'c', {})];
    expect(slotProblems(inTurn, 2)).toEqual([]);
    const atOnce = [fence(100, 'a', {}), fence(150, 'b', {}), fence(200, 'c', {}), fence(300, 'a', released)];
    expect(slotProblems(atOnce, 2)).toEqual(['the fence of c began while those of a, b were under way']);
  });

  it('are free again when a fence fails, and taken by none that has not begun', () => {
    const waiting = api(90, 'nodefences.ha.k8s.io', { object: { spec: { node: 'z' }, status: { journal: [], timeline: {} } } });
    expect(slotProblems([waiting, fence(100, 'a', {}), fence(200, 'a', { state: 'error' }), fence(300, 'b', {})], 1)).toEqual([]);
  });
});
