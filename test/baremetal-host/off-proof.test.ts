import { describe, expect, it } from 'vitest';
import type { HostFacts } from '../../src/controllers/shared/baremetal-host/host.ts';
import { contradictionOf } from '../../src/controllers/shared/baremetal-host/identity.ts';
import { marshal, restoreNode, unmarshal } from '../../src/controllers/shared/baremetal-host/node-backup.ts';
import { powerOf } from '../../src/controllers/shared/baremetal-host/off-proof.ts';
import { OFF_REQUESTED, wasOn } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { Operator } from './operator.ts';

const NOW_MS = 1_000_000;
const CONSUMER = { kind: 'Metal3Machine', name: 'mm', namespace: 'metal' };

function host(facts: Partial<HostFacts> = {}): HostFacts {
  return new Operator().facts({ power: { isOn: false, seenMs: 900_000 }, holdSeenMs: 800_000, consumer: CONSUMER, ...facts });
}

function state(facts: Partial<HostFacts>, before: boolean | undefined = true, lifeSeenMs?: number): string {
  return powerOf(host(facts), { wasOn: before, monotonicMs: NOW_MS, lifeSeenMs }).state;
}

describe('the power of a host that our hold keeps off', () => {
  it.each([
    ['the operator says off, and it was on when the hold was set', {}, true, 'off'],
    ['the operator says off, and it was off when the hold was set', {}, false, 'unproven'],
    ['the operator says off, and nothing was recorded', {}, undefined, 'unproven'],
    ['the operator says on', { power: { isOn: true, seenMs: 0 } }, true, 'on'],
    ['the operator services the host', { operationalStatus: 'servicing' }, true, 'unknown'],
    ['the operator has an error of any kind', { errorType: 'registration error' }, true, 'unknown'],
    ['the host is not provisioned', { provisioningState: 'available' }, true, 'unknown'],
    ['the host is switched off on purpose', { isOnline: false }, true, 'unknown'],
    ['the host is never switched off', { neverOff: true }, true, 'unknown'],
    ['the host is being deleted', { isDeleting: true }, true, 'unknown'],
    ['the host is detached', { annotations: { 'baremetalhost.metal3.io/detached': '' } }, true, 'unknown'],
    ['our own read says off', { ownRead: { state: 'off', seenMs: 950_000 } }, undefined, 'off'],
    [
      'our own read says off, and the operator still says on',
      { power: { isOn: true, seenMs: 0 }, ownRead: { state: 'off', seenMs: 950_000 } },
      true,
      'off',
    ],
    ['our own read says off, made before our hold', { holdSeenMs: 970_000, ownRead: { state: 'off', seenMs: 960_000 } }, undefined, 'unproven'],
    ['our own read says off, longer ago than a minute', { ownRead: { state: 'off', seenMs: 939_999 } }, undefined, 'unproven'],
    ['our own read says nothing', { ownRead: { state: 'unknown', seenMs: 950_000 } }, undefined, 'unproven'],
    ['our own read says on', { ownRead: { state: 'on', seenMs: 950_000 } }, true, 'contradicted'],
  ] as const)('%s', (_what, facts, before, expected) => {
    expect(powerOf(host(facts), { wasOn: before, monotonicMs: NOW_MS }).state).toBe(expected);
  });

  it('is not known where the operator never reported it', () => {
    const { power: _power, ...facts } = host();
    expect(powerOf(facts, { wasOn: true, monotonicMs: NOW_MS }).state).toBe('unknown');
  });

  it('is contradicted by a sign of life that was received after the proof, and by none before it', () => {
    expect(state({}, true, 900_000)).toBe('off');
    expect(state({}, true, 900_001)).toBe('contradicted');
    expect(state({ ownRead: { state: 'off', seenMs: 950_000 } }, true, 949_999)).toBe('off');
    expect(state({ ownRead: { state: 'off', seenMs: 950_000 } }, true, 950_001)).toBe('contradicted');
  });

  it.each([
    ['another hold', '{"by":"reboot.metal3.io/b","wasOn":true}'],
    ['no record', '{"by":"reboot.metal3.io/a"}'],
    ['garbage', '{'],
    ['null', 'null'],
  ])('was not recorded by %s', (_what, text) => {
    expect(wasOn(host({ annotations: { [OFF_REQUESTED]: text } }), 'reboot.metal3.io/a')).toBeUndefined();
  });
});

describe('whose host it is', () => {
  it.each([
    ['metal3://metal/host/mm', true],
    ['metal3://uid-host', true],
    ['baremetalhost:///metal/host/uid-host', true],
    ['baremetalhost:///metal/host/uid-other', false],
    ['metal3://metal/other/mm', false],
    ['metal3://other/host/mm', false],
    ['metal3://uid-other', false],
    ['aws:///zone/i-1', true],
  ])('a providerID %s names it: %s', (providerID, isNamed) => {
    expect(contradictionOf(host(), { consumer: CONSUMER, providerID }) === undefined).toBe(isNamed);
  });

  it.each([
    ['of another kind', { kind: 'Machine' }],
    ['of another name', { name: 'other' }],
    ['in another namespace', { namespace: 'other' }],
  ])('a consumer %s has it', (_what, other) => {
    expect(contradictionOf(host({ consumer: { ...CONSUMER, ...other } }), { consumer: CONSUMER })).toContain('belongs to');
  });
});

describe('what is kept of a Node', () => {
  it.each(['', '{', '[]', 'null', '{"a":1}'])('and can not be read (%s) counts as nothing', (text) => {
    expect(unmarshal(text)).toEqual({});
  });

  it('is the same text whatever the order, and without the mark of our cordon, which the new Node does not have', () => {
    expect(marshal({ b: '1', a: '2', 'nodefence.ha.k8s.io/cordoned-by': 'f' })).toBe('{"a":"2","b":"1"}');
  });

  it('is put back only where something is missing', () => {
    const node = { name: 'n', uid: 'u', labels: { a: '1' }, annotations: {}, isDeleting: false, taints: [], isReady: true };
    expect(restoreNode({ 'remediation.metal3.io/node-labels-backup': '{"a":"2"}' }, node)).toBeUndefined();
  });
});
