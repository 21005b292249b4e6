import { describe, expect, it } from 'vitest';
import type { ApiEvent, DeviceEvent, TraceEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { beginProblems, cordonedAfterMs, cordonProblems, deedsOf, hostsOf, orderProblems } from './remedy-findings.ts';

const JOB = { intent: 'nodefence.ha.k8s.io/remedy-intent', cordon: 'nodefence.ha.k8s.io/cordoned-by-remedy' };

function write(at: number, resource: string, name: string, object: object, more: Partial<ApiEvent> = {}): ApiEvent {
  return { kind: 'api', at, user: CONTROLLER_USER, verb: 'patch', resource, name, status: 200, object: { metadata: { name }, ...object }, ...more };
}

function node(at: number, isCordoned: boolean, more: Partial<ApiEvent> = {}, run = 'r-1'): ApiEvent {
  const conditions = [{ type: 'KernelDeadlock', status: 'True' }];
  const metadata = { name: 'a', ...(isCordoned && { annotations: { [JOB.cordon]: run } }) };
  return write(at, 'nodes', 'a', { metadata, spec: isCordoned ? { unschedulable: true } : {}, status: { conditions } }, more);
}

function report(at: number, run: string): ApiEvent {
  return write(at, 'nodefencereports.ha.k8s.io', 'a', {
    status: { remedies: { positions: [{ threshold: 't', phase: 'starting', run: { id: run } }] } },
  });
}

function job(at: number, run: string, of = 'a'): ApiEvent {
  const annotations = { [JOB.intent]: JSON.stringify({ node: of, remedy: 'repair', run }) };
  return write(at, 'jobs.batch', `nr-repair-${run}`, { metadata: { name: 'j', annotations } }, { verb: 'create', status: 201 });
}

function set(at: number, want: 'on' | 'off'): DeviceEvent {
  return { kind: 'device', at, device: 'bmc', plug: '', node: 'a', action: 'set', want, answer: '204', session: 's' };
}

const MONITOR = { user: 'system:node:a' };
const POD = write(1, 'pods', 'db-0', { spec: { nodeName: 'a' } }, { user: 'scheduler' });
const EVICTION = write(6_500, 'pods', 'db-0', {}, { subresource: 'eviction', verb: 'create', status: 201 });
const FENCE = write(8_000, 'nodefences.ha.k8s.io', 'node-fence-a', { spec: { requestedBy: { uid: 'r-2' } } }, { verb: 'create', status: 201 });
const STORY: TraceEvent[] = [
  POD,
  node(1_000, false, MONITOR),
  report(5_900, 'r-1'),
  node(6_000, true),
  EVICTION,
  report(7_000, 'r-2'),
  FENCE,
  set(9_000, 'off'),
  set(9_100, 'off'),
  set(9_500, 'on'),
  node(12_000, false),
];
const ORDER = ['cordon', 'evict', 'fence', 'off', 'on', 'uncordon'];

describe('what remedies did to a node', () => {
  it('is read from the audit and from its devices, in order', () => {
    expect(deedsOf(STORY, 'a').map(({ what }) => what)).toEqual(['cordon', 'evict', 'fence', 'off', 'off', 'on', 'uncordon']);
    expect(orderProblems(STORY, 'a', ORDER)).toEqual([]);
    expect(deedsOf(STORY, 'b')).toEqual([]);
  });

  it('is not what others did, nor what was refused', () => {
    const refused = [POD, node(6_000, true, { user: 'admin' }), { ...EVICTION, status: 429 }, { ...FENCE, status: 403 }, job(1, 'r-1', 'b')];
    expect(deedsOf(refused, 'a')).toEqual([]);
  });

  it.each([
    [
      'a pod is deleted and not evicted',
      [...STORY.slice(0, 4), { ...EVICTION, subresource: undefined, verb: 'delete' }, ...STORY.slice(5)],
      'cordon, delete pod, fence',
    ],
    ['it is cordoned twice', [...STORY, node(13_000, true)], 'uncordon, cordon'],
    ['a Job is made too', [job(2_000, 'r-9'), ...STORY], 'repair, cordon'],
    ['nothing is done', [], 'done was nothing'],
  ])('is not as it must be where %s', (_words, trace, told) => {
    expect(orderProblems(trace as TraceEvent[], 'a', ORDER).join()).toContain(told);
  });
});

describe('the begin of a remedy', () => {
  it('follows what was written down, and comes once', () => {
    expect(beginProblems(STORY, 'a')).toEqual([]);
    expect(beginProblems([report(1, 'r-3'), job(2, 'r-3'), report(3, 'r-4'), job(4, 'r-4')], 'a')).toEqual([]);
  });

  it.each([
    ['it was never written down', [job(2, 'r-3')], 'repair began before it was written down'],
    ['it was written down later', [job(2, 'r-3'), report(3, 'r-3')], 'repair began before it was written down'],
    ['the write was refused', [{ ...report(1, 'r-3'), status: 409 }, job(2, 'r-3')], 'repair began before it was written down'],
    ['another run was written down', [report(1, 'r-2'), job(2, 'r-3')], 'repair began before it was written down'],
    ['it begins twice', [report(1, 'r-3'), job(2, 'r-3'), job(3, 'r-3')], 'repair began twice'],
  ])('is not as it must be where %s', (_words, trace, told) => {
    expect(beginProblems(trace, 'a').join()).toContain(told);
  });
});

describe('a cordon', () => {
  it('comes within two seconds after the period of what was posted, and not before', () => {
    expect(cordonedAfterMs(STORY, 'a', 'KernelDeadlock', 3)).toBe(2_000);
    expect([2_000, 0].map(cordonProblems)).toEqual([[], []]);
    expect(cordonProblems(2_001).join()).toContain('2001 ms after');
    expect(cordonProblems(-1).join()).toContain('1 ms before');
    expect(cordonProblems(cordonedAfterMs([], 'a', 'KernelDeadlock', 3))).toEqual(['it was never cordoned']);
  });
});

describe('the pods of a remedy', () => {
  it('are known by the labels of their Job', () => {
    const pod = (nodeName: string): ApiEvent =>
      write(1, 'pods', 'p', { metadata: { name: 'p', labels: { 'job-name': 'nr-repair-1' } }, spec: { nodeName } });
    expect([hostsOf([pod('b'), pod('b'), POD], 'repair'), hostsOf([pod('b')], 'other')]).toEqual([['b'], []]);
  });
});
