import { describe, expect, it } from 'vitest';
import { proofOf, validEvidence, validRevocation, voidEvidence } from './evidence.ts';
import type { Evidence } from './node-fence.ts';
import type { EvidenceKind } from './plan.ts';
import { planOf } from './testing/model.ts';

/** Written down from docs/laws.md, not read from the code: which release each kind can carry. */
const CARRIES: readonly [EvidenceKind, 'the whole node' | 'one storage' | 'no release'][] = [
  ['power-off', 'the whole node'],
  ['instance-stopped', 'the whole node'],
  ['host-off', 'the whole node'],
  ['ack', 'the whole node'],
  ['watchdog', 'the whole node'],
  ['kdump', 'the whole node'],
  ['storage-revoked', 'one storage'],
  ['booted-anew', 'no release'],
];
const OTHER: Readonly<Record<string, EvidenceKind>> = { 'power-off': 'host-off' };

function seen(kind: EvidenceKind, more: Partial<Evidence> = {}): Evidence {
  return { kind, grade: 'read-back', source: 'j1', detail: '', observedAt: '2026-01-01T00:00:00Z', ...more };
}

describe.each(CARRIES)('evidence %s carries %s', (kind, carries) => {
  const plan = planOf({ minimumEvidence: [kind] });
  const evidence = [seen(kind)];

  it('where the plan admits it', () => {
    expect(validEvidence(evidence, plan)).toBe(carries === 'the whole node' ? evidence[0] : undefined);
    expect(validRevocation(evidence, plan)).toBe(carries === 'one storage' ? evidence[0] : undefined);
  });

  it('never where the plan does not admit it', () => {
    const strict = planOf({ minimumEvidence: [OTHER[kind] ?? 'power-off'] });
    expect(validEvidence(evidence, strict)).toBeUndefined();
    expect(validRevocation(evidence, strict)).toBeUndefined();
  });

  it('never once it has lost its force', () => {
    const lost = voidEvidence(evidence, '2026-01-01T00:00:05Z', 'the node was heard again');
    expect(lost).toMatchObject([{ voidedAt: '2026-01-01T00:00:05Z', voidedBecause: 'the node was heard again' }]);
    expect(validEvidence(lost, plan)).toBeUndefined();
    expect(validRevocation(lost, plan)).toBeUndefined();
  });
});

describe('what a release rests on', () => {
  const plan = planOf({ minimumEvidence: ['power-off', 'host-off', 'storage-revoked'] });
  const [off, revoked, later] = [seen('power-off'), seen('storage-revoked'), seen('host-off', { source: 'j9' })];

  it('is the revocation while the node is isolated, and the off afterwards', () => {
    expect(proofOf([off, revoked], plan, 'isolation')).toBe(revoked);
    expect(proofOf([off, revoked], plan, 'power-management')).toBe(off);
    expect(proofOf([off], plan, 'isolation')).toBeUndefined();
    expect(proofOf([revoked], plan, 'power-management')).toBeUndefined();
  });

  it('is the newest that stands', () => {
    expect(proofOf([off, later], plan, 'power-management')).toBe(later);
    expect(proofOf([off, ...voidEvidence([later], 'now', 'it rose')], plan, 'power-management')).toBe(off);
  });

  it('keeps why the first one lost its force', () => {
    const twice = voidEvidence(voidEvidence([off], 't1', 'first'), 't2', 'second');
    expect(twice).toMatchObject([{ voidedAt: 't1', voidedBecause: 'first' }]);
  });
});
