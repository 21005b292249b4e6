import { describe, expect, it } from 'vitest';
import { deletesIn, deletionRefusal, isDeleted, waitsToDelete } from './deletion.ts';
import type { Evidence, JobResult, JournalEntry, NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import type { NodeFacts } from './snapshot.ts';
import { method, planOf } from './testing/model.ts';

const END = method('end', 'aws', 'delete', { device: 'cloud', plug: 'i-1' });
const OFF = method('off', 'aws', 'off', { device: 'cloud', plug: 'i-1' });
const PLAN = planOf({
  powerManagement: [
    { level: 1, methods: [OFF] },
    { level: 2, methods: [END] },
  ],
});
const PROOF: Evidence = { kind: 'power-off', grade: 'read-back', source: 'off-1', detail: '', observedAt: '', bootID: 'boot-1' };
const NODE = { name: 'a', uid: 'u', ready: 'Unknown', readyReason: '', bootID: 'boot-1', lifeAtMs: 0 } as NodeFacts;

function run(action: JournalEntry['action'], result: JobResult | undefined, more: Partial<JournalEntry> = {}): JournalEntry {
  const what = { id: `${action}-1`, operation: `${action}:end`, method: 'end', agent: 'aws', device: 'cloud', plug: 'i-1', action };
  const when = { step: 'power-management', level: 2, attempt: 1, restart: 0, runner: 'in-process', epoch: 1, startedAt: '', deadlineMs: 1 } as const;
  return { ...what, ...when, finishedAt: '', ...(result !== undefined && { result }), ...more };
}

/** Proven off by the level that ends in a deletion, its workload let go. */
function status(more: Partial<NodeFenceStatus> = {}): NodeFenceStatus {
  const place = { state: 'running', step: 'power-management', level: 2, incident: 1, epoch: 1, retries: 0, restarts: 0 } as const;
  return { ...place, jobs: [], timeline: {}, conditions: [], history: [], evidence: [PROOF], journal: [run('off', 'succeeded')], ...more };
}

describe('a deletion that a hold keeps waiting', () => {
  const OURS = [{ key: 'k', value: 'v', effect: 'NoExecute' }];
  const offOf = (more: Partial<JournalEntry>): JournalEntry => run('off', 'succeeded', more);
  it.each<[string, Partial<NodeFenceStatus>, boolean]>([
    ['that is next', {}, true],
    ['of a machine that ends in off anyway', { ending: 'off' }, false],
    ['of another step', { step: 'isolation' }, false],
    ['while our taint has to be taken back', { restore: { taints: OURS } }, false],
    ['before anything was switched off', { journal: [run('off', 'not-sent')] }, false],
    ['of a machine that an earlier restart switched off', { restarts: 1 }, false],
    ['that nothing proves off', { evidence: [] }, false],
    ['whose proof is void', { evidence: [{ ...PROOF, voidedAt: 'then' }] }, false],
    ['of another level', { level: 1, journal: [offOf({ level: 1 })] }, false],
    ['that is done', { journal: [offOf({}), run('delete', 'succeeded')] }, false],
    ['that was refused for good', { journal: [offOf({}), run('delete', 'refused')] }, false],
    ['that is under way', { journal: [offOf({}), run('delete', undefined)] }, false],
    ['that did not come about', { journal: [offOf({}), run('delete', 'timeout')] }, true],
    ['that only an earlier restart refused', { restarts: 1, journal: [offOf({ restart: 1 }), run('delete', 'refused')] }, true],
    ['that only another level refused', { journal: [offOf({}), run('delete', 'refused', { level: 3 })] }, true],
  ])('is one %s', (_what, more, waits) => {
    expect(waitsToDelete({ plan: PLAN, status: status(more) })).toBe(waits);
  });
});

describe('why a machine is not deleted', () => {
  const refused = (plan: Partial<Plan>, more: Partial<NodeFenceStatus> = {}, node: NodeFacts | undefined = NODE, kind?: 'drop' | 'unknown') =>
    deletionRefusal({ plan: { ...PLAN, ...plan }, node, snapshot: (kind === undefined ? {} : { preservation: { kind } }) as never }, status(more));

  it.each<[string, ReturnType<typeof refused>, string | undefined, boolean | undefined]>([
    ['nothing', refused({}), undefined, undefined],
    ['its Node that is gone, which says nothing of another boot', refused({}, {}, undefined), undefined, undefined],
    ['its Node that shows no boot', refused({}, {}, { ...NODE, bootID: undefined }), undefined, undefined],
    ['another boot', refused({}, {}, { ...NODE, bootID: 'boot-2' }), 'nothing proves any more', false],
    ['a proof that is void', refused({}, { evidence: [{ ...PROOF, voidedAt: 'then' }] }), 'nothing proves any more', false],
    ['a workload that is not to be let go', refused({ release: 'none' }), 'release none', true],
    ['a preservation that is not known yet', refused({}, {}, NODE, 'unknown'), 'perhaps preserved', true],
    ['a preservation that is not to be heeded', refused({ preserved: 'ignore' }, {}, NODE, 'unknown'), undefined, undefined],
    ['that it is to be dropped', refused({}, {}, NODE, 'drop'), undefined, undefined],
  ])('is %s', (_what, refusal, why, mayGoOn) => {
    const said = { why: refusal?.why ?? 'it may go', mayGoOn: refusal?.mayGoOn };
    expect(said).toEqual({ why: expect.stringContaining(why ?? 'it may go') as string, mayGoOn });
  });
});

describe('a machine', () => {
  it('is deleted by the proof that says so, for as long as that stands', () => {
    const one = (more: Partial<Evidence>): boolean => isDeleted({ evidence: [{ ...PROOF, ...more }] });
    expect([one({ terminated: true }), one({}), one({ terminated: true, voidedAt: 'then' })]).toEqual([true, false, false]);
  });

  it('is deleted by the level that names it, and by no other', () => {
    expect([1, 2, 3].map((level) => deletesIn(PLAN, level))).toEqual([false, true, false]);
  });
});
