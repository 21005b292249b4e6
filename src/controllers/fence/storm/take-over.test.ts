import { describe, expect, it } from 'vitest';
import { StormHarness } from '../../../../test/bench/storm-harness.ts';
import type { Hold, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { cooldown } from '../../../domain/policies/cooldown.ts';
import { DEFAULT_ISOLATION } from '../../../domain/policies/controller-isolated.ts';
import { maxUnhealthy } from '../../../domain/policies/max-unhealthy.ts';
import type { StormPolicy } from '../../../domain/policies/policy.ts';
import { startupGrace } from '../../../domain/policies/startup-grace.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { Storm } from './storm.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const MINUTE_MS = 60_000;
const POLICIES = [
  maxUnhealthy({ name: 'max-unhealthy', percentage: 40, isolation: { ...DEFAULT_ISOLATION, graceMs: 0 } }),
  cooldown({ name: 'cooldown', durationMs: MINUTE_MS }),
];

const holdBy = (reason: string, more: Partial<Hold> = {}): Hold => ({ reason, policy: reason, message: '', since: '2026-01-01T00:00:00Z', ...more });

/** What holds `a` after a take-over, now and a minute later, where the API has this of its fence. */
async function takenOver(
  more: Partial<NodeFenceStatus>,
  policies: readonly StormPolicy[] = POLICIES,
  given: Partial<FenceDependencies> = {},
): Promise<string[][]> {
  const harness = new StormHarness(NAMES, policies, given);
  harness.fail('a');
  harness.fences.put(harness.fence('a', more));
  const taken = new Storm(harness.dependencies, (node) => harness.lifeAtMs.get(node));
  const holds = (): string[] => taken.activeHoldsOn('a').map(({ policy }) => policy);
  const atOnce = holds();
  harness.pass(MINUTE_MS);
  await harness.clock.settle();
  const later = holds();
  taken.close();
  return [atOnce, later];
}

describe('a leader that takes over when a storm is just over', () => {
  it.each([
    ['of the storm itself', holdBy('max-unhealthy')],
    ['of what comes behind it', holdBy('cooldown')],
    ['of the storm beside another', holdBy('max-concurrent', { besides: [{ reason: 'failure-domain', policy: 'failure-domain', message: '' }] })],
  ])('waits for what the storm left behind to settle: a fence has a record %s', async (_what, hold) => {
    expect(await takenOver({ hold })).toEqual([['cooldown'], []]);
  });

  it('begins no remedy either, also where it asks for that first', async () => {
    const harness = new StormHarness(NAMES, POLICIES);
    harness.fail('a');
    harness.fences.put(harness.fence('a', { hold: holdBy('cooldown') }));
    const taken = new Storm(harness.dependencies, (node) => harness.lifeAtMs.get(node));
    const holds = (): string[] => taken.holdsOnRemedy('b', new Map([['b', { kind: 'asked' as const }]])).map(({ policy }) => policy);
    expect(holds()).toEqual(['cooldown']);
    harness.pass(MINUTE_MS);
    await harness.clock.settle();
    expect(holds()).toEqual([]);
    taken.close();
  });

  it.each<[string, Partial<NodeFenceStatus>]>([
    ['held by nothing', {}],
    ['held by what is no storm', { hold: holdBy('max-concurrent') }],
    ['over', { hold: holdBy('max-unhealthy'), state: 'final' }],
  ])('does not wait for a fence that is %s', async (_what, more) => {
    expect(await takenOver(more)).toEqual([[], []]);
  });
});

describe('a leader that takes over from one that had only just come up', () => {
  it.each<[string, Partial<NodeFenceStatus>, string[][]]>([
    ['judges nothing either before its own grace is over', { hold: holdBy('startup-grace') }, [['startup-grace'], []]],
    ['does not wait where that one waited no more', {}, [[], []]],
  ])('%s', async (_what, more, holds) => {
    const grace = startupGrace({ name: 'startup-grace', durationMs: MINUTE_MS });
    expect(await takenOver(more, [grace], { tookOver: () => true })).toEqual(holds);
  });
});
