import { describe, expect, it } from 'vitest';
import type { Evidence, JournalEntry } from '../domain/node-fence.ts';
import { judge } from './judge.ts';
import { api, CONTROLLER, entry, fenceWrite, heartbeat, node, nodePatch, OUR_TAINT, plan, podDelete, RELEASE_AT, status } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

interface Changes {
  kind?: 'watchdog' | 'kdump';
  admits?: Evidence['kind'][];
  run?: Partial<JournalEntry>;
  power?: readonly TraceEvent[];
  release?: TraceEvent;
  extra?: readonly TraceEvent[];
}

const DOWN: TraceEvent = { kind: 'power', at: 9_000, node: 'a', state: 'off', cause: 'set' };
const UP: TraceEvent = { kind: 'power', at: 9_200, node: 'a', state: 'on', cause: 'start' };
const PANIC: TraceEvent = { kind: 'power', at: 9_000, node: 'a', state: 'on', cause: 'panic' };

/** A fence that switched nothing: it waited until the machine must have ended itself, and let its workload go. */
function story({ kind = 'watchdog', admits = [kind], run = {}, power = [DOWN], release, extra = [] }: Changes = {}): TraceEvent[] {
  const frozen = { nodeUID: 'node-a', plan: plan({ minimumEvidence: admits }) };
  const waiting = entry('run', { id: 'wait-1', step: 'power-management', agent: kind });
  const waited: JournalEntry = { ...waiting, finishedAt: '2026-01-01T00:00:13.000Z', result: 'succeeded', ...run };
  const grade = 'inferred' as const;
  const evidence: Evidence[] = [{ kind, grade, source: 'wait-1', detail: 'waited', observedAt: '2026-01-01T00:00:13.000Z' }];
  const object = { metadata: { name: 'node-fence-a', uid: 'fence-a' }, spec: { node: 'a' } };
  return [
    { kind: 'power', at: 0, node: 'a', state: 'on', cause: 'start' },
    api(100, 'system:node:a', 'create', 'nodes', 'a', { object: node({}) }),
    heartbeat(500),
    ...power,
    api(10_000, CONTROLLER, 'create', 'nodefences.ha.k8s.io', 'node-fence-a', { object }),
    fenceWrite(10_100, status([waiting], { frozen })),
    fenceWrite(13_000, status([waited], { frozen, evidence })),
    fenceWrite(13_100, status([waited, entry('release')], { frozen, evidence })),
    api(13_200, CONTROLLER, 'get', 'nodes', 'a'),
    api(13_210, CONTROLLER, 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' }),
    release ?? nodePatch(RELEASE_AT, node({ taints: [OUR_TAINT] })),
    ...extra,
  ];
}

function complaints(changes: Changes = {}): string {
  const { P1, P2 } = judge(story(changes)).laws;
  return [...P1.violations, ...P2.violations].join('; ');
}

describe('a release on a machine that ended itself', () => {
  it('is lawful after its watchdog was waited for, though no device was told anything', () => {
    expect(complaints()).toBe('');
    expect(judge(story()).laws.P1.checks).toBeGreaterThan(3);
  });

  it.each<[string, Changes, string]>([
    ['is not admitted by name', { admits: ['power-off', 'ack'] }, 'does not admit evidence watchdog'],
    ['was not waited for by a run that ended well', { run: { result: 'timeout' } }, 'no run had waited for its evidence'],
    ['was not true: the machine ran all the while', { power: [] }, 'had neither gone down nor panicked'],
    ['was true of an earlier life only', { power: [DOWN, UP], extra: [heartbeat(9_500)] }, 'had neither gone down nor panicked'],
    ['was voided by a sign of life in the wait', { extra: [heartbeat(12_000)] }, 'after the wait for its end began'],
  ])('is none where its evidence %s', (_what, changes, words) => {
    expect(complaints(changes)).toContain(words);
  });

  it('lets nothing but pods go where a kernel only told that it dumps', () => {
    const pod = api(200, 'kubelet', 'create', 'pods', 'web-0', {
      namespace: 'default',
      object: { metadata: { name: 'web-0' }, spec: { nodeName: 'a' } },
    });
    const release = podDelete(RELEASE_AT, CONTROLLER, 0);
    expect(complaints({ kind: 'kdump', power: [PANIC], release, extra: [pod] })).toBe('');
    expect(complaints({ kind: 'kdump', power: [PANIC] })).toContain('a kernel that dumps lets pods go, and nothing else');
  });
});
