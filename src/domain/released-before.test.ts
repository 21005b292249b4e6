import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus, Released } from './node-fence.ts';
import { releasedBefore } from './released-before.ts';

const of = (pods: number, more: Partial<Released> = {}) => ({ at: '', by: 'delete-pods' as const, evidence: 'job', pods, ...more });
const status = (more: Partial<NodeFenceStatus>): NodeFenceStatus => ({ step: 'power-management', ...more }) as NodeFenceStatus;
const kept = [
  { pod: 'web/asked', by: 'no answer', isUnsure: true },
  { pod: 'web/refused', by: 'a webhook' },
];

describe('the words of an alarm about the pods that may run twice', () => {
  it.each([
    ['none', {}, ' Nothing is released.'],
    ['all by name', { released: of(2, { names: ['web/a', 'web/b'] }) }, ' 2 pods were released before: web/a, web/b.'],
    ['the first by name', { released: of(9, { names: ['web/a', 'web/b'] }) }, ' 9 pods were released before: web/a, web/b and 7 more.'],
    ['none by name', { released: of(9) }, ' 9 pods were released before.'],
    [
      'those that nobody answered for, and not those that stay',
      { released: of(1, { names: ['web/a'], kept }) },
      ' 1 pods were released before: web/a. Whether web/asked was released is unknown.',
    ],
    [
      'none but those that nobody answered for',
      { released: of(0, { left: 2, kept }) },
      ' A release had begun. Whether web/asked was released is unknown.',
    ],
    ['of a release that a crash cut off', { released: of(0, { left: 1 }) }, ' A release had begun: which pods it released is not known.'],
    ['none, all of which were refused', { released: of(0, { left: 1, kept: kept.slice(1) }) }, ' 0 pods were released before.'],
    ['none, of a node without any', { released: of(0, { left: 0 }) }, ' 0 pods were released before.'],
  ] as const)('names %s', (_which, more, words) => {
    expect(releasedBefore(status(structuredClone(more) as Partial<NodeFenceStatus>))).toBe(words);
  });

  it('is that of the step: in isolation of what revoked storage let go, behind it of what the off did', () => {
    const storageRelease = { ...of(1, { names: ['db/s'] }), storages: ['san'] };
    const released = of(1, { names: ['web/p'] });
    expect(releasedBefore(status({ step: 'isolation', released, storageRelease }))).toContain('db/s');
    expect(releasedBefore(status({ released, storageRelease }))).toContain('web/p');
    expect(releasedBefore(status({ step: 'isolation', released }))).toBe(' Nothing is released.');
    expect(releasedBefore(status({ storageRelease }))).toBe(' Nothing is released.');
  });
});
