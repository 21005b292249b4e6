import { describe, expect, it } from 'vitest';
import { judge } from '../../laws/judge.ts';
import { isGood, outcomeOf, Room, tableOf } from './matrix.ts';
import type { MatrixRow } from './matrix.ts';
import type { DrillResult } from './result.ts';

const GOOD: DrillResult = {
  fault: 'panic',
  seed: 1,
  nodes: 3,
  agent: 'redfish',
  apiServer: 'embedded',
  replicas: 2,
  leaders: [],
  node: 'a',
  outcome: 'recovered',
  expected: true,
  problems: [],
  timeline: { failedAt: 0, poweredOffAt: 8_000, finalAt: 14_000 },
  laws: judge([]).laws,
  devices: [],
  writers: { overlaps: 0 },
  planted: { secrets: 7, writes: 500, texts: 12, processes: 3, found: 0 },
  rights: { requests: 100, refused: [] },
  api: { list: 0, watch: 0, get: 0, patch: 0, create: 0, update: 0, delete: 0 },
  listsAfterSync: {},
  controller: { rssMb: 0, cpuMs: 0 },
  message: '',
};

function row(seed: number, changes: Partial<DrillResult> = {}, agent: MatrixRow['agent'] = 'redfish'): MatrixRow {
  return { fault: 'panic', agent, seed, result: { ...GOOD, seed, ...changes } };
}

describe('room for drills', () => {
  it('is taken by machines: a large drill waits for it, and one that is larger than all of it is played alone', async () => {
    const room = new Room(9);
    const begun: number[] = [];
    const begin = async (count: number): Promise<void> => {
      await room.take(count);
      begun.push(count);
    };
    await begin(3);
    const later = [begin(8), begin(12)];
    await Promise.resolve();
    expect(begun).toEqual([3]);
    room.giveBack(3);
    await later[0];
    expect(begun).toEqual([3, 8]);
    room.giveBack(8);
    await later[1];
    expect(begun).toEqual([3, 8, 12]);
  });
});

describe('the table of a matrix', () => {
  it('has a line for each fault and agent, with the median and the worst time', () => {
    const lines = tableOf([row(1), row(2, { timeline: { poweredOffAt: 9_000 } }), row(1, {}, 'ipmi')]).split('\n');
    expect(lines[1]).toMatch(/^panic +redfish +2 of 2 +9\.00s, 9\.00s +– +14\.00s, 14\.00s +0 +0$/);
    expect(lines[2]).toMatch(/^panic +ipmi +1 of 1 /);
  });

  it('says what was searched for planted passwords and tokens, and what was found', () => {
    const leaky = row(2, { planted: { secrets: 7, writes: 400, texts: 10, processes: 2, found: 1 } });
    expect(tableOf([row(1), leaky])).toContain(
      'planted passwords and tokens: 14 looked for in 900 objects at the API, 22 logs, pages, command lines and environments (5 processes): 1 found',
    );
  });

  it('says what was asked under the shipped rights, and what of it was refused', () => {
    const refused = row(2, { rights: { requests: 50, refused: ['a was refused: list pods (cluster): 403'] } });
    expect(tableOf([row(1)])).toContain('under the shipped rights: 100 requests, none refused');
    expect(tableOf([row(1), refused])).toContain('150 requests, refused: a was refused: list pods (cluster): 403');
  });

  it('names every run that is not as it must be, with what the fault did and its seed', () => {
    const bad = row(7, { expected: false, problems: ['outcome failed'], did: 'controller-1 was killed at step 9 of the fence' });
    const text = tableOf([row(1), bad, { fault: 'panic', agent: 'redfish', seed: 8, failure: 'no port' }]);
    expect(text).toContain('1 of 3');
    expect(text).toContain('panic by redfish, seed 7 (controller-1 was killed at step 9 of the fence): outcome failed');
    expect(text).toContain('panic by redfish, seed 8: no port\n  to play it alone: --fault panic --agent redfish --seed 8\n');
    expect(text).toMatch(/\n1 of 3 as they must be\n$/);
    expect(isGood(bad)).toBe(false);
    expect(outcomeOf(bad)).toBe('NOT AS IT MUST BE: outcome failed');
    expect(outcomeOf({ fault: 'panic', agent: 'redfish', seed: 8, failure: 'no port\nthe end of every log' })).toBe('NOT AS IT MUST BE: no port');
    expect(outcomeOf(row(1))).toBe('as it must be');
  });
});
