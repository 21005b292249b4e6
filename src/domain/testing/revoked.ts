import type { Plan } from '../plan.ts';
import { method, Model, planOf } from './model.ts';

const AT = '2026-01-01T00:00:00.000Z';

const fabric = { kind: 'fabric', device: 'switch', deviceMaxLatencyMs: 1_000 } as const;
export const CLOSE_1 = method('close-1', 'fc-switch', 'off', { ...fabric, plug: '1', storage: 'san' });
const CLOSE_2 = method('close-2', 'fc-switch', 'off', { ...fabric, plug: '2', storage: 'nas' });
export const OPEN = method('open-1', 'fc-switch', 'on', { ...fabric, plug: '1' });
export const REVOKING: Partial<Plan> = {
  isolation: [{ level: 1, methods: [CLOSE_1, CLOSE_2, method('cordon', 'cordon', 'run')] }],
  recovery: [{ level: 1, methods: [OPEN, method('uncordon', 'uncordon', 'run')] }],
};

const REVOKED = {
  evidence: {
    kind: 'storage-revoked' as const,
    grade: 'read-back' as const,
    detail: 'closed',
    observedAt: AT,
    bootID: 'boot-1',
    storages: ['san', 'nas'],
  },
};

/** Isolated by closing two paths; what wrote to them alone is let go. */
export function revoked(more: Partial<Plan> = {}): Model {
  const model = new Model(planOf({ ...REVOKING, ...more }));
  model.fail();
  demand('off:close-1', model.next('succeeded', { edge: 'closed' }));
  const evidenceAtMs = model.nowMs;
  demand('off:close-2', model.next('succeeded', { edge: 'closed', ...REVOKED, evidenceAtMs }));
  model.proofs.set(model.status.journal[1]?.id ?? '', evidenceAtMs);
  demand('run:cordon', model.next());
  return model;
}

export function released(model: Model): void {
  const storageRelease = { at: AT, pods: 1, evidence: 'x', storages: ['san', 'nas'], bootID: 'boot-1' };
  demand('release:release', model.next('succeeded', { storageRelease }));
}

function demand(wanted: string, begun: string): void {
  if (begun !== wanted) throw new Error(`${begun} was begun, not ${wanted}`);
}
