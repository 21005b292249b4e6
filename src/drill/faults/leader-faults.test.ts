import { describe, expect, it } from 'vitest';
import { LEADER_LEASE } from '../../manager/composition.ts';
import type { ApiEvent, DeviceEvent } from '../../laws/trace.ts';
import { actsOfTheOld } from './leader-faults.ts';

const STRUCK_AT = 100;
const AWAKE_AT = 300;

function device(at: number, session: string, action: DeviceEvent['action'] = 'set'): DeviceEvent {
  return { kind: 'device', at, device: 'bmc', plug: '', node: 'a', action, answer: '204', session, ...(action === 'set' ? { want: 'off' } : {}) };
}

function lease(at: number, holderIdentity: string, leaseTransitions: number): ApiEvent {
  const object = { metadata: { name: LEADER_LEASE }, spec: { holderIdentity, leaseTransitions } };
  return { kind: 'api', at, user: 'u', verb: 'update', resource: 'leases.coordination.k8s.io', status: 200, object };
}

function status(at: number, epoch: number): ApiEvent {
  const request = { status: { epoch } };
  return { kind: 'api', at, user: 'u', verb: 'update', resource: 'nodefences.ha.k8s.io', name: 'node-fence-a', status: 409, request };
}

const BEFORE = [lease(10, 'one', 1), device(90, 'old', 'read'), lease(200, 'two', 2), device(210, 'new')];
const acts = (...later: (ApiEvent | DeviceEvent)[]): string[] => actsOfTheOld([...BEFORE, ...later], STRUCK_AT, AWAKE_AT, 'set');

describe('acts of a leader that is none any more', () => {
  it('are none when only the successor acts', () => {
    expect(acts(device(310, 'new'), status(320, 2))).toEqual([]);
  });

  it('are sets over a session that was open when it stood still', () => {
    expect(acts(device(310, 'old'))).toEqual(['asked bmc to set off over an old session']);
  });

  it('are statuses of its epoch, even when the API refused them', () => {
    expect(acts(status(310, 1))).toEqual(['wrote node-fence-a with epoch 1']);
  });

  it('are reads too, of one that is dead', () => {
    const late = device(310, 'old', 'read');
    expect(acts(late)).toEqual([]);
    expect(actsOfTheOld([...BEFORE, late], STRUCK_AT, AWAKE_AT, 'read')).toHaveLength(1);
  });
});
