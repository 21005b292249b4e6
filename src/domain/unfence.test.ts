import { describe, expect, it } from 'vitest';

import type { Evidence, JournalEntry, NodeFenceStatus } from './node-fence.ts';
import { EMPTY_PLAN } from './plan.ts';
import type { PlanMethod } from './plan.ts';
import type { NodeFacts } from './snapshot.ts';
import { advance } from './advance.ts';
import type { Context } from './transition.ts';
import { mustUnfence, unfenceRefusal, withoutReopened } from './unfence.ts';

const NODE: NodeFacts = { name: 'a', uid: 'u', ready: 'True', readyReason: '', bootID: 'boot-2', lifeAtMs: 0, unfences: { key: '1', devices: 1 } };
const CLOSED: PlanMethod = {
  ...{ name: 'shut', agent: 'scsi', kind: 'fabric', action: 'off', device: 'd', plug: '', deviceMaxLatencyMs: 0 },
  parameters: { key: '0x01', devices: '/dev/a' },
};
const PLAN = { ...EMPTY_PLAN, isolation: [{ level: 1, methods: [CLOSED] }] };

const REVOKED: Evidence = {
  ...{ kind: 'storage-revoked', grade: 'read-back', source: 'x', detail: '', observedAt: '', bootID: 'boot-2', storages: ['san'] },
};

function entry(change: Partial<JournalEntry>): JournalEntry {
  return {
    ...{ id: 'x', step: 'isolation', level: 1, operation: 'off:shut', method: 'shut', agent: 'scsi', device: 'd', plug: '', action: 'off' },
    ...{
      attempt: 1,
      restart: 0,
      runner: 'in-process',
      epoch: 1,
      startedAt: '',
      deadlineMs: 1,
      bootID: 'boot-1',
      finishedAt: '',
      result: 'succeeded',
    },
    ...change,
  };
}

function status(change: Partial<NodeFenceStatus> = {}): NodeFenceStatus {
  return {
    ...{ state: 'done', step: 'recovery', level: 1, incident: 1, epoch: 1, retries: 0, restarts: 0, jobs: [], evidence: [], timeline: {} },
    ...{ conditions: [], history: [], journal: [entry({})] },
    ...change,
  };
}

describe('whether a boot may put its storage registrations back', () => {
  it.each<[string, Partial<NodeFenceStatus>, Partial<NodeFacts>, RegExp]>([
    ['another boot than the one that was shut out', {}, {}, /^it may$/],
    ['the boot that was shut out', {}, { bootID: 'boot-1' }, /shut out/],
    ['the same, by an off of which nobody knows', { journal: [entry({ result: 'timeout' })] }, { bootID: 'boot-1' }, /shut out/],
    ['the same, by an off that never began', { journal: [entry({ result: 'not-sent' })] }, { bootID: 'boot-1' }, /^it may$/],
    [
      'the boot that pods were released from',
      { journal: [], storageRelease: { at: '', pods: 1, evidence: 'x', storages: [], bootID: 'boot-2' } },
      {},
      /shut out/,
    ],
    ['the boot whose storage was proven closed, by an off that the journal has no more', { journal: [], evidence: [REVOKED] }, {}, /shut out/],
    ['another boot than the one whose storage was proven closed', { journal: [], evidence: [{ ...REVOKED, bootID: 'boot-1' }] }, {}, /^it may$/],
    ['a boot of which something else was proven', { journal: [], evidence: [{ ...REVOKED, kind: 'power-off' }] }, {}, /^it may$/],
    ['a boot in which only a switch closed its port', { journal: [entry({ bootID: 'boot-2', agent: 'fc-switch' })] }, {}, /^it may$/],
    ['a boot in which its keys were only read', { journal: [entry({ bootID: 'boot-2', action: 'confirm' })] }, {}, /^it may$/],
    ['in a recovery that is not reached yet', { state: 'error' }, {}, /in step recovery only/],
    ['once it is back, before its recovery', { step: 'power-management' }, {}, /in step recovery only/],
    ['before recovery', { state: 'running', step: 'power-management' }, {}, /in step recovery only/],
    ['while our taint stands', { restore: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } }, {}, /taint/],
    ['a boot that nobody knows', {}, { bootID: undefined }, /no boot ID/],
  ])('%s', (_what, change, node, refusal) => {
    const words = unfenceRefusal({ node: { ...NODE, ...node } }, status(change));
    expect(words ?? 'it may').toMatch(refusal);
  });

  it('is asked for where its daemon attests it, or did when this recovery began', () => {
    const without = { ...NODE, unfences: undefined };
    expect([mustUnfence({ node: NODE }, status()), mustUnfence({ node: without }, status())]).toEqual([true, false]);
    const journal = [entry({ agent: 'unfence' })];
    expect([0, 1].map((restarts) => mustUnfence({ node: without }, status({ journal, restarts })))).toEqual([true, false]);
  });

  it('takes back what was closed to the same key on as many devices, and nothing else', () => {
    const edge = { method: 'shut', agent: 'scsi', device: 'd', plug: '', state: 'closed' } as const;
    const done = status({ journal: [entry({ agent: 'unfence', step: 'recovery', action: 'run' })], restore: { edges: [edge], cordoned: true } });
    expect(withoutReopened(done, { node: NODE, plan: PLAN }).restore).toEqual({ cordoned: true });
    const other = { ...NODE, unfences: { key: '2', devices: 1 } };
    expect(withoutReopened(done, { node: other, plan: PLAN }).restore?.edges).toEqual([edge]);
    expect(withoutReopened({ ...done, journal: [] }, { node: NODE, plan: PLAN }).restore?.edges).toEqual([edge]);
  });

  const OPEN = { agent: 'unfence', step: 'recovery', action: 'run' } as const;
  const SHUT = { method: 'shut', agent: 'scsi', device: 'd', plug: '', state: 'closed' } as const;
  it.each([
    ['it was found registered after a crash', { result: 'found-done' }, SHUT, NODE.unfences, false],
    ['an earlier restart had it registered', { restart: 1 }, SHUT, NODE.unfences, true],
    ['its daemon was too late', { result: 'timeout' }, SHUT, NODE.unfences, true],
    ['something else was done', { agent: 'uncordon' }, SHUT, NODE.unfences, true],
    ['it registered on more devices', {}, SHUT, { key: '1', devices: 2 }, true],
    ['it registers nothing any more', {}, SHUT, undefined, true],
    ['another method closed it', {}, { ...SHUT, method: 'other' }, NODE.unfences, true],
    ['a port of a switch is closed', {}, { ...SHUT, agent: 'fc-switch' }, NODE.unfences, true],
    ['it is off', {}, { ...SHUT, state: 'off' as const }, NODE.unfences, true],
  ] as const)('tells what it closed as open or not where %s', (_what, run, edge, unfences, stays) => {
    const done = status({ journal: [entry({ ...OPEN, ...run })], restore: { edges: [edge] } });
    expect(withoutReopened(done, { node: { ...NODE, unfences }, plan: PLAN }).restore).toEqual(stays ? { edges: [edge] } : undefined);
  });

  it('voids the evidence in the write that announces it', () => {
    const evidence: Evidence[] = [
      { kind: 'storage-revoked', grade: 'read-back', source: 'x', detail: '', observedAt: '', bootID: 'boot-1', storages: ['san'] },
    ];
    const snapshot = {
      nowMs: 1_000,
      wall: '2026-01-01T00:00:00Z',
      uuid: 'u',
      epoch: 1,
      since: {},
      holds: [],
      workload: { pods: 0, volumeAttachments: 0 },
    };
    const context = { snapshot, node: NODE, status: status({ evidence }), plan: PLAN } as unknown as Context;
    const ends = { finished: () => ({}), failed: () => ({}) };
    const { status: written, dispatch, events } = advance(context, 'recovery', ends);
    expect(dispatch?.entry).toMatchObject({ agent: 'unfence', bootID: 'boot-2', step: 'recovery' });
    expect(written?.journal.at(-1)?.agent).toBe('unfence');
    expect(written?.evidence.map(({ voidedAt }) => voidedAt)).toEqual([snapshot.wall]);
    expect([written?.message, events?.[0]?.message]).toEqual([expect.stringContaining('boot boot-2 may put its storage'), written?.message]);
  });

  it.each([
    ['as long as its method says', 30_000, 'at most 30 s'],
    ['two minutes where nothing is said', undefined, 'at most 120 s'],
  ])('is waited for %s, in words', (_what, runMaxMs, words) => {
    const own: PlanMethod = {
      ...{ name: 'again', agent: 'unfence', kind: 'action', action: 'run', device: '', plug: '', parameters: {}, deviceMaxLatencyMs: 0 },
      ...(runMaxMs !== undefined && { runMaxMs }),
    };
    const snapshot = { nowMs: 1_000, wall: '', uuid: 'u', epoch: 1, since: {}, holds: [], workload: { pods: 0, volumeAttachments: 0 } };
    const plan = { ...PLAN, recovery: [{ level: 1, methods: [own] }] };
    const context = { snapshot, node: NODE, status: status(), plan } as unknown as Context;
    expect(advance(context, 'recovery', { finished: () => ({}), failed: () => ({}) }).status?.message).toContain(words);
  });

  it('is not begun for the boot that was shut out', () => {
    const snapshot = { nowMs: 1_000, wall: '', uuid: 'u', epoch: 1, since: {}, holds: [], workload: { pods: 0, volumeAttachments: 0 } };
    const context = { snapshot, node: { ...NODE, bootID: 'boot-1' }, status: status(), plan: PLAN } as unknown as Context;
    const why: string[] = [];
    const ends = { finished: () => ({}), failed: (_status: NodeFenceStatus, words: string) => (why.push(words), {}) };
    expect(advance(context, 'recovery', ends)).toEqual({});
    expect(why).toEqual([expect.stringContaining('reboot the node')]);
  });
});
