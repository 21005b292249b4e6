import { describe, expect, it } from 'vitest';
import type { Plan } from './plan.ts';
import { preservationHoldOnRequest } from './preservation.ts';
import type { PreservationGuard } from './snapshot.ts';
import { method, planOf } from './testing/model.ts';

const PRESERVED: PreservationGuard = { kind: 'isolate-and-hold', cause: 'user', until: '2026-11-25T00:00:00.000Z' };
const NEVER: PreservationGuard = { kind: 'never-fence', cause: 'user' };
const PORT = { kind: 'fabric', device: 'switch', storage: 'san' } as const;
const CLOSING: Partial<Plan> = { isolation: [{ level: 1, methods: [method('close', 'fc-switch', 'off', PORT)] }] };

describe('a machine that is to be switched off without a fence', () => {
  const hold = (guard: PreservationGuard, plan?: Partial<Plan>): string | undefined =>
    preservationHoldOnRequest(guard, plan === undefined ? undefined : planOf(plan))?.message;

  it('is not, in words, with the cause and the end', () => {
    expect(hold(PRESERVED)).toBe(
      'preserved on request: it is not switched off; ends at 2026-11-25T00:00:00.000Z, or when the preservation is stopped',
    );
    expect(hold(NEVER, {})).toBe('healthy and preserved on request: it is not switched off; ends when the preservation is stopped');
    expect(hold({ kind: 'unknown' }, {})).toContain('it is not known yet');
  });

  it('is where nothing of it is kept, or nothing isolates it and its pods must move', () => {
    expect([hold({ kind: 'drop' }), hold(PRESERVED, { preserved: 'ignore' }), hold(PRESERVED, { preserved: 'power-off' })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(hold(PRESERVED, { preserved: 'power-off', ...CLOSING })).toContain('it is not switched off');
    expect(hold(NEVER, { preserved: 'power-off' })).toContain('it is not switched off');
  });
});
