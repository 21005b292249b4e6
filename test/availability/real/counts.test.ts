import { describe, expect, it } from 'vitest';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import { CONTROLLER_USER } from '../../scenarios/witness.ts';
import { fenceEnds, offsOf, outagesOf, statusesOf } from './counts.ts';
import { problemsOf } from './played.ts';
import { toldOf } from './told.ts';

const WRITE = { kind: 'api', at: 1, user: CONTROLLER_USER, verb: 'patch', resource: 'nodefences.ha.k8s.io', name: 'f', status: 200 } as const;
const became = (state: string): ApiEvent => ({ ...WRITE, object: { status: { state } } });
const RIGHT = { offs: 1, outages: 1, ends: 1, restarts: 0, terms: 1 };

describe('a fence on a control plane that was disturbed', () => {
  it('has ended each time that it became final, and once more when it was begun anew', () => {
    expect(fenceEnds(['running', 'final', 'final'].map(became), 'f')).toBe(1);
    expect(fenceEnds(['final', 'running', 'final'].map(became), 'f')).toBe(2);
    expect(fenceEnds([became('final')], 'another')).toBe(0);
  });

  it('counts what the device was told, and what became of the machine', () => {
    const set = { kind: 'device', at: 1, device: 'bmc', plug: '', node: 'a', action: 'set', want: 'off', answer: '204', session: 's' } as const;
    const power = { kind: 'power', at: 2, node: 'a', state: 'off', cause: 'set' } as const;
    expect([offsOf([set, set, { ...set, want: 'on' }], 'a'), outagesOf([set, power], 'a'), outagesOf([power], 'b')]).toEqual([2, 1, 0]);
  });

  it('counts what was refused to us by status, conflicts left out', () => {
    const asked = [429, 429, 409, 404, 200].map((status) => ({ ...WRITE, status }));
    expect(statusesOf([...asked, { ...WRITE, user: '', status: 401 }, { ...WRITE, user: 'kcm', status: 403 }])).toBe('401 × 1, 429 × 2');
  });

  it.each([
    ['is as it must be', {}, 0],
    ['may be told off again by the next leader', { offs: 2, terms: 2 }, 0],
    ['is told off twice by one leader', { offs: 2 }, 1],
    ['is switched off twice', { outages: 2 }, 1],
    ['is final twice', { ends: 2 }, 1],
    ['ends in a loop of crashes', { restarts: 3 }, 1],
  ] as const)('%s', (_what, changes, problems) => {
    expect(problemsOf({ ...RIGHT, ...changes }, 2)).toHaveLength(problems);
  });

  it('tells of counters that have grown, and of warnings since then', () => {
    const page = (count: number): string =>
      `nodefence_watch_ends_total{resource="nodes",end="expired"} ${count}\nnodefence_lease_renewal_failures_total 0\n`;
    const line = (time: string, level: string): string => JSON.stringify({ time, level, message: `of ${time}` });
    const log = [line('2026-01-01T00:00:00Z', 'warn'), line('2026-01-01T00:01:00Z', 'warn'), line('2026-01-01T00:02:00Z', 'info'), ''].join('\n');
    expect(toldOf(page(1), page(3), [log], Date.parse('2026-01-01T00:00:30Z'))).toEqual([
      '`watch_ends_total{end="expired"}` +2',
      'warn "of 2026-01-01T00:01:00Z"',
    ]);
  });
});
