import { describe, expect, it } from 'vitest';
import type { Evidence } from '../domain/node-fence.ts';
import { judge } from './judge.ts';
import { api, CONTROLLER, device, entry, fenceWrite, heartbeat, node, nodePatch, OUR_TAINT, RELEASE_AT, status } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const RESOURCE = 'nodefenceacknowledgements.ha.k8s.io';
const SPEC = { node: 'a', nodeFenceUID: 'fence-a', incident: 1, reason: 'its plug is in my hand' };
const PROOF: Evidence = { kind: 'ack', grade: 'person', source: 'ack-1', detail: 'looked', observedAt: '2026-01-01T00:00:01.000Z' };

/** A fence whose device never answered, released on a person's word. */
function story(changes: { spec?: object; by?: string; extra?: readonly TraceEvent[]; without?: (event: TraceEvent) => boolean } = {}): TraceEvent[] {
  const metadata = { name: 'ack-a', uid: 'word-1' };
  const spec = { ...SPEC, ...changes.spec };
  const accepted = { object: { metadata, spec, status: { state: 'accepted', usedBy: 'ack-1' } }, subresource: 'status' };
  const weighed = entry('acknowledge', { id: 'ack-1', finishedAt: '2026-01-01T00:00:01.000Z', result: 'succeeded' });
  const trace: TraceEvent[] = [
    { kind: 'power', at: 0, node: 'a', state: 'on', cause: 'start' },
    api(100, 'system:node:a', 'create', 'nodes', 'a', { object: node({}) }),
    heartbeat(500),
    api(10_000, CONTROLLER, 'create', 'nodefences.ha.k8s.io', 'node-fence-a', {
      object: { metadata: { name: 'node-fence-a', uid: 'fence-a' }, spec: { node: 'a' } },
    }),
    api(11_000, changes.by ?? 'jane', 'create', RESOURCE, 'ack-a', { object: { metadata, spec } }),
    fenceWrite(12_000, status([entry('acknowledge', { id: 'ack-1' })])),
    api(12_100, CONTROLLER, 'update', RESOURCE, 'ack-a', accepted),
    fenceWrite(12_200, status([weighed], { evidence: [PROOF] })),
    fenceWrite(12_300, status([weighed, entry('release')], { evidence: [PROOF] })),
    api(12_400, CONTROLLER, 'get', 'nodes', 'a'),
    api(12_410, CONTROLLER, 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' }),
    nodePatch(RELEASE_AT, node({ taints: [OUR_TAINT] })),
  ];
  return [...trace.filter((event) => changes.without?.(event) !== true), ...(changes.extra ?? [])];
}

function complaints(trace: readonly TraceEvent[]): string {
  const { P1, P2 } = judge(trace).laws;
  return [...P1.violations, ...P2.violations].join('; ');
}

describe("a release on a person's word", () => {
  it('is lawful without any device', () => {
    expect(complaints(story())).toBe('');
    expect(judge(story()).laws.P1.checks).toBeGreaterThan(3);
  });

  it('is lawful when a device that read on before was off when the word was used', () => {
    expect(complaints(story({ extra: [device(11_500, 'read', { shown: 'on' }), device(11_900, 'read', { shown: 'off' })] }))).toBe('');
  });

  it.each([
    ['the controller wrote itself', story({ by: CONTROLLER }), 'was not made by a person'],
    ['speaks of another incident', story({ spec: { incident: 2 } }), 'another failure'],
    ['speaks of another NodeFence', story({ spec: { nodeFenceUID: 'old' } }), 'another failure'],
    ['speaks of another boot', story({ spec: { bootID: 'boot-0' } }), 'another boot'],
    [
      'was never accepted',
      story({ without: (event) => event.kind === 'api' && event.resource === RESOURCE && event.verb === 'update' }),
      'no acknowledgement had been accepted',
    ],
    ['a device contradicts', story({ extra: [device(11_500, 'read', { shown: 'on' })] }), 'read on last, after'],
    ['the kubelet contradicts', story({ extra: [heartbeat(13_000)] }), "after the person's word"],
  ])('is a violation when it %s', (_what, trace, complaint) => {
    expect(complaints(trace)).toContain(complaint);
  });
});
