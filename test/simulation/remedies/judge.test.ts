import { describe, expect, it } from 'vitest';
import type { ApiEvent, TraceEvent } from '../../../src/laws/trace.ts';
import { CONTROLLER_USER } from '../api.ts';
import { judgeRemedies } from './judge.ts';
import { answered, quietWorld } from './testing.ts';

const MARK = 'nodefence.ha.k8s.io/cordoned-by-remedy';
const SCENARIO = quietWorld({ thresholds: [answered(['mend'])] });
const STORMY = { ...SCENARIO, configuration: { ...SCENARIO.configuration, policies: 'prompt' as const } };

function api(at: number, resource: string, verb: ApiEvent['verb'], object: object, user = CONTROLLER_USER): ApiEvent {
  const { name } = (object as { metadata: { name: string } }).metadata;
  return { kind: 'api', at, user, verb, resource, name, status: verb === 'create' ? 201 : 200, object };
}

function node(at: number, name: string, spec: object = {}, annotations: object = {}, user = 'admin'): ApiEvent {
  return api(at, 'nodes', 'patch', { metadata: { name, annotations }, spec, status: { conditions: [{ type: 'Ready', status: 'True' }] } }, user);
}

function written(at: number, name: string, position: object = {}): ApiEvent {
  const run = { id: 'e-1-1-1', remedy: 'mend', kind: 'podTemplate', of: '1' };
  const base = { threshold: 'Wedged=True', episode: 'e', phase: 'starting', attempt: 1, run };
  return api(at, 'nodefencereports.ha.k8s.io', 'update', { metadata: { name }, status: { remedies: { positions: [{ ...base, ...position }] } } });
}

function job(at: number, name: string, about = 'b'): ApiEvent {
  const told = { NODE_NAME: about, NODE_CONDITION_TYPE: 'Wedged', REMEDY_NAME: 'mend', ATTEMPT: '1' };
  const env = Object.entries(told).map(([key, value]) => ({ name: key, value }));
  return api(at, 'jobs.batch', 'create', { metadata: { name }, spec: { template: { spec: { containers: [{ env }] } } } });
}

function gone(at: number, name: string, user = 'admin'): ApiEvent {
  return api(at, 'jobs.batch', 'delete', { metadata: { name } }, user);
}

function ran(at: number): ApiEvent {
  return written(at, 'b', { phase: 'running' });
}

function again(at: number): ApiEvent {
  return written(at, 'b', { run: { id: 'e-1-1-2', remedy: 'mend', kind: 'podTemplate', of: '1' } });
}

function stop(at: number): ApiEvent {
  return api(at, 'nodefencestops.ha.k8s.io', 'create', { metadata: { name: 's' }, spec: { all: true } }, 'admin');
}

function fence(at: number, requestedBy?: object): ApiEvent {
  const object = {
    metadata: { name: 'node-fence-b' },
    spec: { node: 'b', ...(requestedBy && { requestedBy }) },
    status: { state: 'running', journal: [] },
  };
  return api(at, 'nodefences.ha.k8s.io', 'create', object);
}

const NODES = ['a', 'b', 'c'].map((name) => node(0, name));

function found(events: readonly TraceEvent[], scenario = SCENARIO): string[] {
  return judgeRemedies([...NODES, ...events], scenario).violations.map((words) => /^remedies, (\S+) at/.exec(words)?.[1] ?? words);
}

describe('what is seen of remedies from outside', () => {
  it.each<[string, TraceEvent[], string[]]>([
    ['one Job, written down before', [written(1, 'b'), job(2, 'j')], []],
    ['a Job that nothing says', [job(2, 'j')], ['written']],
    ['a Job of a run that is over', [written(1, 'b', { phase: 'waiting' }), job(2, 'j')], ['written']],
    ['two Jobs of one attempt', [written(1, 'b'), job(2, 'j'), job(3, 'k')], ['once']],
    ['another Job where a person took the first away before it was seen', [written(1, 'b'), job(2, 'j'), gone(3, 'j'), again(4), job(5, 'k')], []],
    ['another Job where the first was seen', [written(1, 'b'), job(2, 'j'), ran(3), gone(4, 'j'), again(5), job(6, 'k')], ['once']],
    ['another Job where we took the first away', [written(1, 'b'), job(2, 'j'), gone(3, 'j', CONTROLLER_USER), again(4), job(5, 'k')], ['once']],
    ['a Job soon after a stop', [written(1, 'b'), stop(10), job(2_000, 'j')], []],
    ['a Job long after a stop', [written(1, 'b'), stop(10), job(2_100, 'j')], ['stop']],
    ['a Job beside a fence', [written(1, 'b'), fence(10), job(2_100, 'j')], ['fence']],
    ['a Job beside a fence of its own', [written(1, 'b'), fence(10, { kind: 'RemedyConfiguration', uid: 'e-1-1-1' }), job(2_100, 'j')], []],
    ['a fence that is asked for under a stop', [written(1, 'b'), stop(10), fence(2_100, { kind: 'RemedyConfiguration', uid: 'e-1-1-1' })], ['stop']],
    ['a cordon under a stop', [stop(10), node(2_100, 'b', { unschedulable: true }, { [MARK]: 'e-1-1-1' }, CONTROLLER_USER)], ['stop']],
    [
      'a cordon that is taken back without its mark',
      [node(5, 'b', { unschedulable: true }, { [MARK]: 'e-1-1-1' }), node(6, 'b', {}, { [MARK]: 'e-1-1-1' }, CONTROLLER_USER)],
      ['cordon'],
    ],
  ])('%s', (_name, events, rules) => {
    expect(found(events)).toEqual(rules);
  });

  const pod = (at: number, uid: string): ApiEvent => ({
    ...api(at, 'pods', 'create', { metadata: { name: 'p', namespace: 'n', uid }, spec: { nodeName: 'b' } }, 'admin'),
    namespace: 'n',
  });
  const eviction = (at: number): ApiEvent => ({ ...api(at, 'pods', 'create', { metadata: { name: 'p' } }), namespace: 'n', subresource: 'eviction' });
  const run = { id: 'e-1-1-1', remedy: 'clean-pods', kind: 'evict', of: '1' };

  it('a pod that is evicted again and again, as often as it comes back', () => {
    const once = [pod(0, 'p-1'), written(1, 'b', { phase: 'running', serial: 1, run }), eviction(2)];
    const again = [...once, pod(2_000, 'p-2'), eviction(4_000)];
    expect([found(once), found(again)]).toEqual([[], ['comes-back']]);
    const cleaning = { phase: 'waiting', run: undefined, serial: 1, cleans: 1 };
    expect(found([pod(0, 'p-1'), written(1, 'b', cleaning), pod(2_000, 'p-2'), eviction(4_000)])).toEqual(['comes-back']);
  });

  it('remedies of more nodes than may be unhealthy', () => {
    const acted = written(1, 'a', { phase: 'waiting', hasActed: true, run: undefined });
    expect(found([acted, written(2, 'b'), job(4_000, 'j')], STORMY)).toEqual(['max-unhealthy']);
    expect(
      found([acted, written(2, 'a', { phase: 'recovered', hasActed: false, run: undefined }), written(2, 'b'), job(4_000, 'j')], STORMY),
    ).toEqual([]);
  });

  it('evictions that are begun where too many nodes are unhealthy, and not those that go on when others follow', () => {
    const acted = (at: number): ApiEvent => written(at, 'a', { phase: 'waiting', hasActed: true, run: undefined });
    const running = written(20_000, 'b', { phase: 'running', serial: 1, run });
    expect([
      found([pod(0, 'p-1'), acted(1_000), running], STORMY),
      found([pod(0, 'p-1'), running, acted(21_000), eviction(40_000)], STORMY),
      found([pod(0, 'p-1'), acted(21_000), eviction(40_000)], STORMY),
    ]).toEqual([['max-unhealthy'], [], ['max-unhealthy']]);
  });

  it('a pod on the very node that it is for', () => {
    const ofJob = api(3, 'pods', 'create', { metadata: { name: 'p', namespace: 'n', labels: { 'job-name': 'j' } }, spec: {} }, 'admin');
    const starts = (where: string): TraceEvent => ({ kind: 'node', at: 4, node: where, what: 'pod-start', pod: 'n/p' });
    const begun = [written(1, 'b'), job(2, 'j'), { ...ofJob, namespace: 'n' }];
    expect([found([...begun, starts('b')]), found([...begun, starts('a')])]).toEqual([['place'], []]);
  });
});
