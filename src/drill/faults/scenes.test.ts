import { describe, expect, it } from 'vitest';
import { ZONE_LABEL } from '../../testbed/operators/fleet.ts';
import { RACK, victimsOf } from './scenes.ts';

const MACHINES = [1, 2, 1, 2, 3].map((rack, index) => ({ node: `n${index + 1}`, labels: { [RACK]: `rack-${rack}` } }));

const ZONED = ['a', 'b', 'a', 'b'].map((zone, index) => ({ node: `n${index + 1}`, labels: { [ZONE_LABEL]: zone } }));

describe('who breaks', () => {
  it('is another of the zone of the first one with it', () => {
    expect(victimsOf({ victims: 'zone-pair' }, 'n4', ZONED)).toEqual(['n4', 'n2']);
  });

  it('is one of another zone with the first one', () => {
    expect(victimsOf({ victims: 'two-zones' }, 'n1', ZONED)).toEqual(['n1', 'n2']);
  });

  it('is one node, unless the scene says more', () => {
    expect(victimsOf({}, 'n2', MACHINES)).toEqual(['n2']);
  });

  it('is everyone in the rack of the first one', () => {
    expect(victimsOf({ victims: 'rack' }, 'n3', MACHINES)).toEqual(['n3', 'n1']);
  });

  it('is one in each of three racks, the first one among them', () => {
    expect(victimsOf({ victims: 'three-racks' }, 'n4', MACHINES)).toEqual(['n4', 'n1', 'n5']);
  });
});
