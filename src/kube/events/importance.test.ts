import { describe, expect, it } from 'vitest';
import { importanceOf, rankOf } from './importance.ts';

describe('the importance of an Event', () => {
  it.each([
    ['Warning', 'AcknowledgementRefused', 'person'],
    ['Warning', 'MethodFailed', 'person'],
    ['Warning', 'NotReleased', 'person'],
    ['Warning', 'LeftOff', 'person'],
    ['Warning', 'FencingGaveUp', 'person'],
    ['Warning', 'FencingFinished', 'person'],
    ['Warning', 'SomethingNew', 'person'],
    ['Warning', 'FencingStarted', 'outcome'],
    ['Warning', 'FailureObserved', 'outcome'],
    ['Normal', 'FencingFinished', 'outcome'],
    ['Normal', 'NodePoweredOff', 'outcome'],
    ['Normal', 'WorkloadReleased', 'outcome'],
    ['Normal', 'FencingHeld', 'outcome'],
    ['Normal', 'NodeIsolated', 'progress'],
    ['Normal', 'PowerManagementFinished', 'progress'],
    ['Normal', 'NodePoweredOn', 'progress'],
    ['Normal', 'SomethingNew', 'progress'],
  ] as const)('%s %s: %s', (type, reason, importance) => {
    expect(importanceOf(type, reason)).toBe(importance);
  });

  it('puts what is told of a NodeFence behind the same of a Node, and before all that matters less', () => {
    expect([rankOf('person', 'Node'), rankOf('person', 'NodeFence'), rankOf('outcome', 'Node'), rankOf('progress', 'NodeFence')]).toEqual([
      0, 1, 2, 5,
    ]);
  });
});
