import { describe, expect, it } from 'vitest';
import { fenceName } from '../../src/domain/node-fence.ts';
import { FenceWatch } from './fence-watch.ts';
import { Rest } from './rest.ts';
import { sweptScenario } from './sweep.ts';

const SCENARIO = { ...sweptScenario('taint'), victim: 'a' };
const WITHDRAWN_MS = 3_000_000;
const FENCE = { resource: 'nodefences.ha.k8s.io', status: 200, name: fenceName('a'), user: 'nodefence', at: 0, kind: 'api' };

/** How a world rests so long after the fence of its victim was withdrawn, or written as it is given. */
function isOver(afterMs: number, { isGone = true, state }: { isGone?: boolean; state?: string } = {}): boolean {
  const fence = new FenceWatch(() => WITHDRAWN_MS);
  const object = { metadata: { name: FENCE.name, finalizers: [] }, status: { state } };
  fence.hear({ ...FENCE, verb: state === undefined ? 'delete' : 'update', object } as never);
  const isVictim = (node: string): boolean => node === 'a';
  const rest = new Rest({
    scenario: SCENARIO,
    fence,
    takeOvers: { heldSinceMs: 0 },
    isReady: (node) => !isVictim(node),
    isGone: (node) => isGone && isVictim(node),
    isPending: () => false,
  });
  return rest.isOver(WITHDRAWN_MS + afterMs);
}

describe('a world whose victim is not Ready', () => {
  it('is over where its Node is gone with its Machine, a while after its fence', () => {
    expect(isOver(61_000)).toBe(true);
    expect(isOver(50_000)).toBe(false);
  });

  it('is not over while its Node is there, or while its fence is under way', () => {
    expect(isOver(3_600_000, { isGone: false })).toBe(false);
    expect(isOver(3_600_000, { state: 'running' })).toBe(false);
  });
});
