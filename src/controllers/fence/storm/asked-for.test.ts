import { describe, expect, it } from 'vitest';
import { DEFAULT_ISOLATION } from '../../../domain/policies/controller-isolated.ts';
import { maxUnhealthy } from '../../../domain/policies/max-unhealthy.ts';
import { StormHarness } from '../../../../test/bench/storm-harness.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const UNHEALTHY = maxUnhealthy({ name: 'max-unhealthy', percentage: 40, isolation: { ...DEFAULT_ISOLATION, graceMs: 0 } });

describe('the storm shell', () => {
  it('holds a well node that somebody asks for without a fence, where as many have failed as may be', () => {
    const harness = new StormHarness(NAMES, [UNHEALTHY]);
    harness.fail('a', 'b');
    const holding = (node: string, isAsked: boolean): string[] => harness.storm.activeHoldsOn(node, isAsked).map(({ reason }) => reason);
    expect([holding('c', true), holding('c', false), holding('a', true)]).toEqual([['max-unhealthy'], [], []]);
  });
});
