import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { controlPlane } from './control-plane.ts';
import { failureDomain } from './failure-domain.ts';
import { maxConcurrent } from './max-concurrent.ts';
import { maxUnhealthy } from './max-unhealthy.ts';
import { DEFAULT_ISOLATION } from './controller-isolated.ts';
import { fenceableOf, holdersOf, NodeSet, planesOf, unhealthyOf } from './node-set.ts';
import { node, view } from './testing/views.ts';
import type { StormNode } from './view.ts';

const KINDS = [unhealthyOf, planesOf, fenceableOf, holdersOf];
const ZONE = 'topology.kubernetes.io/zone';
const SETTINGS = { name: 'x', topologyKeys: [ZONE] };
const scope = (labels: Readonly<Record<string, string>>): boolean => labels[ZONE] !== 'b';
const POLICIES = [undefined, scope].flatMap((only) => {
  const settings = { ...SETTINGS, ...(only === undefined ? {} : { scope: only }) };
  return [
    maxUnhealthy({ ...settings, percentage: 40, isolation: DEFAULT_ISOLATION }),
    ...[0, 1, 2].map((maxPerDomain) => maxConcurrent({ ...settings, max: 3, maxPerDomain })),
    failureDomain({ ...settings, share: 60 }),
    controlPlane(settings),
  ];
});

const aNode = fc
  .record({
    index: fc.nat(11),
    zone: fc.constantFrom('a', 'b', undefined),
    health: fc.constantFrom('healthy' as const, 'silent' as const, 'failed' as const),
    isPreserved: fc.boolean(),
    isControlPlane: fc.boolean(),
    holdsSlot: fc.constantFrom(undefined, true, false),
  })
  .map(({ index, zone, holdsSlot, ...more }): StormNode =>
    node(`n${String(index)}`, {
      ...more,
      labels: zone === undefined ? {} : { [ZONE]: zone },
      fence: holdsSlot === undefined ? undefined : { holdsSlot, isRequested: false, state: holdsSlot ? 'running' : 'new' },
    }),
  );
const change = fc.oneof({ arbitrary: aNode, weight: 4 }, { arbitrary: fc.nat(11).map((index) => `n${String(index)}`), weight: 1 });

describe('the set of all nodes', () => {
  it('holds what a search through all of them finds, after any changes, and every policy rules the same on it', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const kept = new NodeSet();
        for (const [at, each] of changes.entries()) {
          // What is kept of a label from the first question on, and what changes behind it.
          if (at === 3) kept.hasLabel(ZONE);
          if (typeof each === 'string') kept.delete(each);
          else kept.set(each.name, each);
        }
        expect(kept.hasLabel(ZONE)).toBe([...kept.values()].some(({ labels }) => ZONE in labels));
        const searched = new Map(kept);
        const names = (nodes: readonly StormNode[]): string[] => nodes.map(({ name }) => name).toSorted();
        for (const ofKind of KINDS) expect(names(ofKind(kept))).toEqual(names(ofKind(searched)));
        for (const policy of POLICIES) {
          const [one, other] = [policy.judge(view([], { nodes: kept })), policy.judge(view([], { nodes: searched }))];
          for (const each of kept.values()) expect(one(each)).toEqual(other(each));
        }
      }),
    );
  });

  it('is empty once it is cleared', () => {
    const kept = new NodeSet();
    kept.set('a', node('a', { health: 'failed' }));
    kept.clear();
    expect([kept.size, ...KINDS.flatMap((ofKind) => ofKind(kept))]).toEqual([0]);
  });
});
