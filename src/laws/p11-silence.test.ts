import { describe, expect, it } from 'vitest';
import type { Evidence, JournalEntry } from '../domain/node-fence.ts';
import type { Node } from '../ports/objects.ts';
import { judge } from './judge.ts';
import type { LawResult } from './law.ts';
import { api, CONTROLLER, entry, fenceWrite, heartbeat, node, nodePatch, OUR_TAINT, plan, RELEASE_AT, status } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const EVIDENCE_AT = 13_000;
const BOOT = 'boot-1';

function booted(bootID: string): Node {
  return { ...node(), status: { nodeInfo: { bootID } } };
}

function told(at: number, what: 'pod-start' | 'pod-stop' | 'panic', bootID = BOOT, pod = 'default/db-0'): TraceEvent {
  return { kind: 'node', at, node: 'a', what, bootID, ...(what === 'panic' ? {} : { pod }) };
}

function write(at: number, counter: number): TraceEvent {
  return { kind: 'disk', at, volume: 'disk-0', node: 'a', podUID: 'pod-1', counter };
}

const RESET: TraceEvent = { kind: 'power', at: 9_000, node: 'a', state: 'on', cause: 'reset' };

/** A node that runs one pod falls silent, is waited for, and its workload is let go. */
function story(events: readonly TraceEvent[]): TraceEvent[] {
  const frozen = { nodeUID: 'node-a', plan: plan({ minimumEvidence: ['watchdog'] }) };
  const waiting = entry('run', { id: 'wait-1', step: 'power-management', agent: 'watchdog' });
  const waited: JournalEntry = { ...waiting, finishedAt: '2026-01-01T00:00:13.000Z', result: 'succeeded' };
  const evidence: Evidence[] = [{ kind: 'watchdog', grade: 'inferred', source: 'wait-1', detail: '', observedAt: '2026-01-01T00:00:13.000Z' }];
  const object = { metadata: { name: 'node-fence-a', uid: 'fence-a' }, spec: { node: 'a' } };
  return [
    { kind: 'power', at: 0, node: 'a', state: 'on', cause: 'start' },
    api(100, 'system:node:a', 'create', 'nodes', 'a', { object: booted(BOOT) }),
    told(200, 'pod-start'),
    write(201, 1),
    heartbeat(500),
    ...events,
    api(10_000, CONTROLLER, 'create', 'nodefences.ha.k8s.io', 'node-fence-a', { object }),
    fenceWrite(10_100, status([waiting], { frozen })),
    fenceWrite(EVIDENCE_AT, status([waited], { frozen, evidence })),
    fenceWrite(13_100, status([waited, entry('release')], { frozen, evidence })),
    api(13_200, CONTROLLER, 'get', 'nodes', 'a'),
    api(13_210, CONTROLLER, 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' }),
    nodePatch(RELEASE_AT, { ...booted(BOOT), spec: { taints: [OUR_TAINT] } }),
  ];
}

function judged(...events: readonly TraceEvent[]): LawResult {
  return judge(story(events)).laws.P11;
}

describe('P11, silence is the end', () => {
  it.each<[string, TraceEvent[]]>([
    ['was reset', [RESET]],
    ['lost its power', [{ ...RESET, state: 'off', cause: 'restore' }]],
    ['panicked', [told(9_000, 'panic')]],
    ['stopped its pods', [told(9_000, 'pod-stop')]],
    ['was reset, and runs the pod anew in another boot', [RESET, told(9_500, 'pod-start', 'boot-2'), write(9_600, 7)]],
  ])('passes the evidence of a node that %s', (_what, events) => {
    const { checks, violations } = judged(...events);
    expect(violations).toEqual([]);
    expect(checks).toBe(3);
  });

  it('passes a release on the word of a watchdog though the power of the machine, which was reset, is on', () => {
    const { P1, P2, P3 } = judge(story([RESET])).laws;
    expect([P1.violations, P2.violations, P3.violations]).toEqual([[], [], []]);
  });

  it.each<[string, TraceEvent[], string]>([
    ['still runs, and writes nothing', [], `at ${EVIDENCE_AT}: the watchdog of a was taken for its end while default/db-0 still ran`],
    ['still runs at the release', [], `at ${RELEASE_AT}: the out-of-service taint was set on a on the word of its watchdog while default/db-0`],
    ['writes afterwards', [write(20_000, 2)], 'at 20000: the watchdog of a was taken for its end at 13000, but pod pod-1 wrote disk-0 afterwards'],
    [
      'is one of two, of which one was stopped',
      [told(600, 'pod-start', BOOT, 'default/db-1'), told(9_000, 'pod-stop')],
      'while default/db-1 still ran',
    ],
    ['was started again in the same boot', [told(9_000, 'pod-stop'), told(9_100, 'pod-start')], 'while default/db-0 still ran'],
    ['is stopped too late', [told(13_050, 'pod-stop')], `at ${EVIDENCE_AT}: the watchdog of a was taken for its end while default/db-0 still ran`],
    ['runs on a machine of which another one was reset', [{ ...RESET, node: 'b' }], 'while default/db-0 still ran'],
  ])('catches evidence while a pod %s', (_what, events, words) => {
    expect(judged(...events).violations.join('; ')).toContain(words);
  });

  it('has nothing to say where no watchdog was waited for', () => {
    const events = story([]).filter((event) => event.kind !== 'api' || event.resource !== 'nodefences.ha.k8s.io');
    expect(judge(events).laws.P11).toEqual({ checks: 0, violations: [] });
  });
});
