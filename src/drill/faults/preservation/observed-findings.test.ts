import { describe, expect, it } from 'vitest';
import { PRESERVE, REQUEST_MARK } from '../../../controllers/preservation/names.ts';
import { machineName } from '../../../testbed/operators/fleet.ts';
import type { ApiEvent } from '../../../laws/trace.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { observedProblems } from './observed-findings.ts';

const base = { kind: 'api', status: 200 } as const;
const annotations = { [PRESERVE]: 'when-failed', [REQUEST_MARK]: 'uid' };

function asked(at: number): ApiEvent {
  return { ...base, at, user: CONTROLLER_USER, verb: 'patch', resource: 'nodes', name: 'a', object: { metadata: { annotations } } };
}

function failed(at: number, user = 'mcm'): ApiEvent {
  const object = { metadata: { finalizers: ['f'] }, status: { currentStatus: { phase: 'Failed' } } };
  return { ...base, at, user, verb: 'patch', resource: 'machines.machine.sapcloud.io', subresource: 'status', name: machineName('a'), object };
}

describe('a drill beside an MCM', () => {
  it('is as it must be when the request stood before the machine was Failed', () => {
    expect(observedProblems([asked(1), failed(2)], 'a')).toEqual([]);
  });

  it.each([
    ['no request', [failed(2)], 'never asked'],
    ['a request that was refused', [{ ...asked(1), status: 403 }, failed(2)], 'never asked'],
    ['a request that came too late', [failed(1), asked(2)], 'only when it was Failed already'],
    ['a machine that never failed', [asked(1)], 'never Failed'],
    [
      'a VM that was deleted',
      [asked(1), failed(2), { ...base, at: 3, user: 'mcm', verb: 'delete', resource: 'nodes', name: 'a' } as const],
      'deleted under its fence',
    ],
    ['a write of ours upon a Machine', [asked(1), failed(2, CONTROLLER_USER)], 'not to write beside an MCM: patch machines'],
  ])('is not with %s', (_what, trace, told) => {
    expect(observedProblems(trace, 'a').join()).toContain(told);
  });
});
