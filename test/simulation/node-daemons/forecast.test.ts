import { describe, expect, it } from 'vitest';
import { withNodeDaemons } from './draws.ts';
import { mayGoDown, provesItself } from './forecast.ts';
import type { DaemonDeed } from './node-daemons.ts';

const AT = { atMs: 80_000, durationMs: 100_000 };
const OUTAGE: DaemonDeed = { what: 'outage', ...AT };

function down(nodes: string[], deeds: DaemonDeed[], topologyKeys: string[] = [], change: Partial<ReturnType<typeof withNodeDaemons>> = {}): string {
  const drawn = { ...withNodeDaemons(1), controllers: 2 as const, ...change };
  const daemons = { ...drawn.daemons, topologyKeys, deeds } as NonNullable<typeof drawn.daemons>;
  return mayGoDown({ ...drawn, nodes, fault: 'none', disturbances: [], crashes: [], daemons }).join('');
}

describe('which nodes may take themselves down', () => {
  it.each<[string, string[], DaemonDeed[], string[], string]>([
    ['nobody without a reason', ['a', 'b', 'c'], [], [], ''],
    ['one that is cut off', ['a', 'b', 'c'], [{ what: 'cut', node: 'b', places: ['controllers', 'peers'], way: 'in', ...AT }], [], 'b'],
    ['nobody whose clock jumps or whose link breaks', ['a', 'b', 'c'], [{ what: 'link', node: 'b', to: 'c', way: 'both', ...AT }], [], ''],
    ['nobody while the peers of all vouch', ['a', 'b', 'c'], [OUTAGE], [], ''],
    ['both of two', ['a', 'b'], [OUTAGE], [], 'ab'],
    ['all of four of which one is gone', ['a', 'b', 'c', 'd'], [OUTAGE, { what: 'kill', node: 'd', ...AT }], [], 'abcd'],
    ['the one of five that is gone', ['a', 'b', 'c', 'd', 'e'], [OUTAGE, { what: 'kill', node: 'd', ...AT }], [], 'd'],
    ['all, where one is alone in its rack and takes the other rack with it', ['a', 'b', 'c'], [OUTAGE], ['rack'], 'abc'],
    ['nobody of two in each of two racks', ['a', 'b', 'c', 'd'], [OUTAGE], ['rack'], ''],
  ])('%s', (_what, nodes, deeds, topologyKeys, expected) => {
    expect(down(nodes, deeds, topologyKeys)).toBe(expected);
  });

  it('counts who is heard by too few peers where the calls of a lone controller may be lost, and its Lease with them', () => {
    const links = [
      ['c', 'e'],
      ['b', 'e'],
    ].map(([node = '', to = '']): DaemonDeed => ({ what: 'link', node, to, way: 'both', ...AT }));
    const nodes = ['a', 'b', 'c', 'd', 'e'];
    const { api } = withNodeDaemons(1);
    const calm = { ...api, lostRequestShare: 0, lostAnswerShare: 0 };
    expect(down(nodes, links, [], { controllers: 1, api: calm })).toBe('');
    expect(down(nodes, links, [], { controllers: 2, api: { ...calm, lostRequestShare: 0.02 } })).toBe('');
    expect(down(nodes, links, [], { controllers: 1, api: { ...calm, lostRequestShare: 0.02 } })).toBe('abcde');
  });
});

describe('whether a watchdog must prove the end of its node', () => {
  it('draws worlds of every kind, and none in which the watchdog of a paused machine may', () => {
    const drawn = Array.from({ length: 300 }, (_unused, seed) => withNodeDaemons(seed));
    for (const kind of ['must', 'may', 'never']) expect(drawn.filter(({ daemons }) => daemons?.evidence === kind).length, kind).toBeGreaterThan(5);
    for (const scenario of drawn) {
      const { daemons, victim } = scenario;
      if (daemons === undefined) throw new Error('there are no daemons');
      expect(provesItself({ ...scenario, daemons }) === 'never').toBe(daemons.machines[victim]?.isPausable === true);
    }
  });
});
