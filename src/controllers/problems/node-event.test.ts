import { describe, expect, it } from 'vitest';
import { pruneNodeEvent } from './node-event.ts';
import type { NodeEvent } from './node-event.ts';

const prune = pruneNodeEvent((reason) => ['KernelOops', 'OOMKilling', 'DockerHung', 'Rebooted', 'FencingStarted'].includes(reason));

/** As node-problem-detector's exporter writes a temporary problem (its uid of the Node is the name). */
const OOPS = {
  metadata: {
    name: 'worker-1.186a2f0c9d3b1e55',
    namespace: 'default',
    uid: '6f7f9a9e-2a43-4f0f-a1a7-3d3c0e8f5b11',
    resourceVersion: '812345',
    creationTimestamp: '2026-03-01T10:00:00Z',
    managedFields: [{ manager: 'node-problem-detector' }],
  },
  involvedObject: { kind: 'Node', name: 'worker-1', uid: 'worker-1' },
  reason: 'KernelOops',
  message: 'BUG: unable to handle kernel NULL pointer dereference at 0000000000000008',
  source: { component: 'kernel-monitor', host: 'worker-1' },
  firstTimestamp: '2026-03-01T10:00:00Z',
  lastTimestamp: '2026-03-01T10:20:00Z',
  count: 3,
  type: 'Warning',
  eventTime: null,
  reportingComponent: 'kernel-monitor',
  reportingInstance: 'worker-1',
};

/** As the recorder of events.k8s.io writes one that was repeated. */
const SERIES = {
  ...OOPS,
  count: undefined,
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: '2026-03-01T10:00:01.000000Z',
  series: { count: 4, lastObservedTime: '2026-03-01T10:30:00.000000Z' },
};

function pruned(event: object): NodeEvent {
  return prune(event as NodeEvent);
}

describe('an Event about a Node', () => {
  it('of node-problem-detector is counted by its reason, its count and its times; its message takes no memory', () => {
    expect(pruned(OOPS)).toEqual({
      metadata: { name: 'worker-1.186a2f0c9d3b1e55', namespace: 'default', uid: '6f7f9a9e-2a43-4f0f-a1a7-3d3c0e8f5b11', resourceVersion: '812345' },
      problem: {
        ...{ node: 'worker-1', reason: 'KernelOops', uid: '6f7f9a9e-2a43-4f0f-a1a7-3d3c0e8f5b11', count: 3 },
        ...{ firstMs: Date.parse('2026-03-01T10:00:00Z'), lastMs: Date.parse('2026-03-01T10:20:00Z') },
      },
    });
  });

  it('that is a series counts in it', () => {
    const times = { firstMs: Date.parse('2026-03-01T10:00:01Z'), lastMs: Date.parse('2026-03-01T10:30:00Z') };
    expect(pruned(SERIES).problem).toMatchObject({ count: 4, ...times });
    expect(pruned({ ...SERIES, series: undefined }).problem).toMatchObject({ count: 1, firstMs: times.firstMs, lastMs: times.firstMs });
  });

  it.each<[string, object]>([
    [
      'tells of a condition, which is counted as such',
      {
        ...OOPS,
        reason: 'DockerHung',
        message: 'Node condition KernelDeadlock is now: True, reason: DockerHung, message: "task docker:20744 blocked"',
      },
    ],
    [
      'tells of a condition in the words of an older detector',
      { ...OOPS, reason: 'DockerHung', type: 'Normal', message: 'Node condition KernelDeadlock is now: True, reason: DockerHung' },
    ],
    ['is our own', { ...OOPS, reason: 'FencingStarted', source: { component: 'nodefence-controller' }, reportingComponent: '' }],
    ['names no node', { ...OOPS, involvedObject: { kind: 'Node' } }],
  ])('is not counted when it %s', (_what, event) => {
    const { problem, otherWarnings } = pruned(event);
    expect([problem, otherWarnings]).toEqual([undefined, undefined]);
  });

  it('that no alarm names is only counted as another warning, and only if it is one', () => {
    expect(pruned({ ...OOPS, reason: 'TaskHung' })).toMatchObject({ otherWarnings: 3 });
    expect(pruned({ ...OOPS, reason: 'NodeReady', type: 'Normal' })).toEqual({ metadata: pruned(OOPS).metadata });
  });

  it('of a machine whose clock stands at 1970 is as old as its object', () => {
    const wrong = { ...OOPS, firstTimestamp: '1970-01-01T00:00:09Z', lastTimestamp: '1970-01-01T00:00:10Z' };
    const [firstMs, lastMs] = [pruned(wrong).problem?.firstMs ?? 0, pruned(wrong).problem?.lastMs ?? 0];
    expect([new Date(firstMs).toISOString(), new Date(lastMs).toISOString()]).toEqual(['2026-03-01T09:50:00.000Z', '2026-03-01T09:50:00.000Z']);
  });

  it('that is garbled is no problem', () => {
    const { metadata } = OOPS;
    expect(pruned({ metadata, involvedObject: 'worker-1', count: 'many', series: 7, message: null })).toEqual({ metadata: pruned(OOPS).metadata });
    expect(pruned({ ...OOPS, count: 1.5, firstTimestamp: 'yesterday' }).problem).toMatchObject({
      count: 1,
      firstMs: Date.parse('2026-03-01T10:00:00Z'),
    });
  });
});
