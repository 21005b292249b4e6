import { describe, expect, it } from 'vitest';
import type { ApiEvent } from '../../laws/trace.ts';
import { refusalsIn } from './refusals.ts';

const ASKED: ApiEvent = {
  kind: 'api',
  at: 1,
  user: 'system:serviceaccount:nodefence-system:nodefence-controller',
  verb: 'list',
  resource: 'pods',
  status: 200,
};

describe('what was refused to processes of ours', () => {
  it('is told once, with who asked for what and where', () => {
    const refused = { ...ASKED, subresource: 'eviction', namespace: 'default', status: 403 };
    expect(refusalsIn([ASKED, refused, refused])).toEqual({
      requests: 3,
      refused: ['nodefence-controller was refused: list pods/eviction (default): 403'],
    });
  });

  it('is every 401, for the audit does not tell whose token it was', () => {
    expect(refusalsIn([{ ...ASKED, user: '', status: 401 }]).refused).toEqual(['nobody who is known was refused: list pods (cluster): 401']);
  });

  it('is also what would tell whether a folder is installed: that is asked by rights, which refuses nothing', () => {
    expect(refusalsIn([{ ...ASKED, resource: 'deployments.apps', status: 403 }]).refused).toHaveLength(1);
  });

  it('is not what an API server that was started anew denied before it had read its roles: granted before, and again afterwards', () => {
    const [before, early, after] = [ASKED, { ...ASKED, at: 20, status: 403 }, { ...ASKED, at: 30 }];
    expect(refusalsIn([before, early, after], 10).refused).toEqual([]);
    const words = ['nodefence-controller was refused: list pods (cluster): 403'];
    for (const trace of [
      [before, early],
      [early, after],
      [before, { ...early, at: 5 }, after],
      [before, early, { ...after, verb: 'watch' as const }],
    ])
      expect(refusalsIn(trace, 10).refused).toEqual(words);
    expect(refusalsIn([before, early, after]).refused).toEqual(words);
    expect(refusalsIn([before, { ...early, status: 401 }, after], 10).refused).toHaveLength(1);
  });

  it('is neither what others asked, nor a conflict, nor something that is not there', () => {
    const others = [{ ...ASKED, user: 'capi-controller-manager', status: 403 }, ...[404, 409, 429, 500].map((status) => ({ ...ASKED, status }))];
    expect(refusalsIn(others)).toEqual({ requests: 4, refused: [] });
  });
});
