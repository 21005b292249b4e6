import { expect, it } from 'vitest';
import { controlPlane } from '../../../domain/policies/control-plane.ts';
import { DEFAULT_ISOLATION } from '../../../domain/policies/controller-isolated.ts';
import { maxUnhealthy } from '../../../domain/policies/max-unhealthy.ts';
import { rate } from '../../../domain/policies/rate.ts';
import { StormHarness } from '../../../../test/bench/storm-harness.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const UNHEALTHY = maxUnhealthy({ name: 'max-unhealthy', percentage: 40, isolation: { ...DEFAULT_ISOLATION, graceMs: 0 } });

it('a node whose host is switched off on request counts for the next request and for remedies, in the turn in which it leaves, and for no fence', () => {
  const harness = new StormHarness(NAMES, [UNHEALTHY, rate({ name: 'slow', max: 3, windowMs: 60_000 })]);
  const { storm } = harness;
  const reasons = (holds: readonly { reason: string }[]): string[] => holds.map(({ reason }) => reason);
  const offs = new Map(['a', 'c'].map((node) => [node, { kind: 'begun' as const, beganAtMs: harness.clock.monotonicMs() }]));
  const remedy = new Map([['b', { kind: 'asked' as const }]]);
  expect(reasons(storm.holdsOnRequest('b', new Map()))).toEqual([]);
  expect([reasons(storm.holdsOnRequest('b', offs)), reasons(storm.holdsOnRequest('a', offs))]).toEqual([['max-unhealthy'], []]);
  expect([reasons(storm.holdsOnRemedy('b', remedy, new Map())), reasons(storm.holdsOnRemedy('b', remedy, offs))]).toEqual([[], ['max-unhealthy']]);
  harness.fail('b');
  expect(reasons(storm.holdsOn('b'))).toEqual([]);
  const over = new Map(['a', 'c', 'd'].map((node) => [node, { kind: 'over' as const, beganAtMs: harness.clock.monotonicMs() }]));
  expect(reasons(storm.holdsOnRequest('b', over))).toEqual(['rate']);
});

it('a well node that somebody asks for without a fence makes one more', () => {
  const harness = new StormHarness(NAMES, [UNHEALTHY]);
  const reasons = (offs: readonly string[]): string[] =>
    harness.storm.holdsOnRequest('b', new Map(offs.map((node) => [node, { kind: 'begun' as const }]))).map(({ reason }) => reason);
  harness.fail('c');
  expect([reasons([]), reasons(['d'])]).toEqual([[], ['max-unhealthy']]);
  harness.fail('d');
  expect(reasons([])).toEqual(['max-unhealthy']);
});

it('no control-plane node is fenced while the host of another is switched off on request and the rest are no majority, from the turn in which that leaves', () => {
  let offs: ReadonlyMap<string, { kind: 'begun' | 'over' }> = new Map();
  const offsOnRequest = {
    get all() {
      return offs;
    },
  };
  const harness = new StormHarness([], [controlPlane({ name: 'control-plane' })], { offsOnRequest });
  const labels = { 'node-role.kubernetes.io/control-plane': '' };
  for (const node of ['a', 'b', 'c']) harness.ready(node, node === 'a' ? 'Unknown' : 'True', { labels });
  harness.fence('a');
  const held = (): string[] => harness.storm.activeHoldsOn('a').map(({ reason }) => reason);
  const found = [held()];
  for (const kind of ['begun', 'over'] as const) {
    offs = new Map([['b', { kind }]]);
    found.push(held());
  }
  expect(found).toEqual([[], ['control-plane-majority'], []]);
});
