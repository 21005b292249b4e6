import { describe, expect, it } from 'vitest';
import { DEFAULT_STANDS, PROVES_NOTHING } from '../../domain/plan-problems.ts';
import { FenceableNodes } from './fenceable.ts';

const problem = (severity: 'error' | 'warning', message: string) => ({ severity, where: 'here', message });

describe('nodefence_node_fenceable', () => {
  it('counts every node once, under the worst of what stands against it', () => {
    const shown: Readonly<Record<string, number>>[] = [];
    const nodes = new FenceableNodes({ fenceable: (counts) => shown.push(counts) });
    nodes.see('a', { problems: [] });
    nodes.see('b', { problems: [problem('warning', `x: ${PROVES_NOTHING}`), problem('error', 'wrong')] });
    nodes.see('c', { problems: [problem('warning', `x: ${PROVES_NOTHING}`)] });
    nodes.see('d', { problems: [problem('warning', `x; ${DEFAULT_STANDS}`)] });
    nodes.see('e', { trigger: 'never', problems: [problem('error', 'wrong')] });
    expect(shown.at(-1)).toEqual({ yes: 1, 'configuration-error': 1, 'no-proof': 1, 'default-stands': 1, never: 1 });
    nodes.see('b', { problems: [] });
    nodes.see('c', undefined);
    expect(shown.at(-1)).toEqual({ yes: 2, 'configuration-error': 0, 'no-proof': 0, 'default-stands': 1, never: 1 });
    const before = shown.length;
    nodes.see('a', { problems: [] });
    expect(shown).toHaveLength(before);
  });
});
