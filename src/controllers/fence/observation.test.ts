import { describe, expect, it } from 'vitest';
import type { Evidence, NodeFenceStatus } from '../../domain/node-fence.ts';
import type { EvidenceKind } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { NodeObservation } from './observation.ts';
import { provenStatus } from './testing/harness.ts';

const OFF: Evidence = { kind: 'power-off', grade: 'read-back', source: 'off-1', detail: '', observedAt: '' };
const DUMP: Evidence = { ...OFF, kind: 'kdump', grade: 'inferred', source: 'dump-1' };
const CLOSED: Evidence = { ...OFF, kind: 'storage-revoked', source: 'close-1', storages: ['san'] };

/** Of what was proven one second after the other, from 1 s on. */
function since(evidence: readonly Evidence[], more: Partial<NodeFenceStatus> = {}, minimumEvidence?: EvidenceKind[]): (number | undefined)[] {
  const observation = new NodeObservation(0);
  evidence.forEach(({ source }, index) => observation.proven(source, (index + 1) * 1_000));
  const plan = planOf(minimumEvidence === undefined ? {} : { minimumEvidence });
  const times = observation.since({ ...provenStatus(plan), evidence: [...evidence], ...more });
  return [times.evidence, times.firstEvidence];
}

describe('the time of a proof', () => {
  it('is that of the latest read, and its silence counts from the first', () => {
    expect(since([OFF, { ...OFF, source: 'off-2' }, { ...OFF, source: 'off-3' }])).toEqual([3_000, 1_000]);
    expect(
      since([
        { ...OFF, voidedAt: 'then' },
        { ...OFF, source: 'off-2' },
      ]),
    ).toEqual([2_000, 2_000]);
  });

  it('is not that of what the plan does not admit, which came after it', () => {
    expect(since([OFF, DUMP])).toEqual([1_000, 1_000]);
  });

  it.each([[['power-off']], [['power-off', 'kdump']]] as EvidenceKind[][][])(
    'has no silence from before the off: a kernel that dumps is silent anyway (%j)',
    (minimumEvidence) => {
      expect(since([DUMP, OFF], {}, minimumEvidence)).toEqual([2_000, 2_000]);
    },
  );

  it('is of the storages in isolation, and of the machine after it', () => {
    expect(since([CLOSED, OFF])).toEqual([2_000, 2_000]);
    expect(since([CLOSED, OFF], { step: 'isolation' })).toEqual([1_000, 1_000]);
  });
});

describe('what stands in a status', () => {
  it('is seen anew in a NodeFence that was made anew, however alike', () => {
    const observation = new NodeObservation(0);
    const hold = { reason: 'rate', policy: 'rate', message: '', since: '' };
    const status = { ...provenStatus(planOf()), fenceUID: 'old', hold };
    observation.seeStatus(status, 1_000);
    observation.seeStatus(status, 2_000);
    expect(observation.since(status)).toMatchObject({ position: 1_000, held: 1_000 });
    const other = { ...status, hold: { ...hold, policy: 'max-concurrent', reason: 'max-concurrent' } };
    observation.seeStatus(other, 2_500);
    expect(observation.since(other), 'it waits since the first of two holds').toMatchObject({ held: 2_500, waiting: 1_000 });
    observation.seeStatus({ ...status, hold: { ...hold, policy: 'stop', reason: 'stopped' } }, 2_700);
    expect(observation.since(status), 'a person knows of a stop').not.toHaveProperty('waiting');
    observation.seeStatus({ ...status, fenceUID: 'new' }, 3_000);
    expect(observation.since(status)).toMatchObject({ position: 3_000, held: 3_000 });
  });
});
