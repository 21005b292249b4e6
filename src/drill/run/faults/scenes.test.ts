import { describe, expect, it } from 'vitest';
import { RACK, victimsOf } from './scenes.ts';

const MACHINES = [1, 2, 1, 2, 3].map((rack, index) => ({ node: `n${index + 1}`, labels: { [RACK]: `rack-${rack}` } }));

describe('who breaks', () => {
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
