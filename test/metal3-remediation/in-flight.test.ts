import { describe, expect, it } from 'vitest';
import { InFlight } from '../../src/controllers/metal3-remediation/in-flight.ts';
import { holdKeyOf } from '../../src/controllers/metal3-remediation/names.ts';
import type { Lister } from '../../src/ports/cluster.ts';
import type { BareMetalHost, Metal3Remediation } from '../../src/ports/metal3.ts';
import type { KubeObject } from '../../src/ports/objects.ts';
import { metal3Remediations } from '../../src/ports/metal3.ts';

function listerOf<T extends KubeObject>(objects: readonly T[]): Lister<T> {
  const quiet = (): void => undefined;
  return { get: () => undefined, all: () => objects, byIndex: () => [], onChange: () => quiet, synced: true, freshAtMs: 0 };
}

function inFlight(inFlightMax: number, hosts: BareMetalHost[] = [], remediations: Metal3Remediation[] = [], seen = ['a', 'b', 'c']): InFlight {
  const options = { enforce: true, nodeLeaseNamespace: 'medik8s-leases', hasOperator: () => true, inFlightMax };
  const { requests: resource } = metal3Remediations('v1beta2');
  return new InFlight({ hosts: listerOf(hosts), remediations: { resource, lister: listerOf(remediations) }, options }, (uid) => seen.includes(uid));
}

const held = (uid: string): BareMetalHost => ({ metadata: { name: uid, annotations: { [holdKeyOf(uid)]: '{}' } } });
const done = (uid: string): Metal3Remediation => ({ metadata: { name: uid, uid }, status: { phase: 'Waiting' } });
const waiting = (uid: string): Metal3Remediation => ({ ...done(uid), metadata: { name: uid, uid, finalizers: ['f'] } });

describe('a remediation that is about to switch a host off', () => {
  it('waits while as many are under way as may be, and counts itself once', () => {
    const some = inFlight(2, [held('a')], [waiting('a'), waiting('b')]);
    expect(some.hold('c')).toEqual({ reason: 'in-flight', message: '2 hosts are power-cycled already, 2 may be at the same time', isStop: false });
    expect([some.hold('a'), some.hold('b')]).toEqual([undefined, undefined]);
    expect(inFlight(3, [held('a')], [waiting('a'), waiting('b')]).hold('c')).toBeUndefined();
  });

  it('does not wait for those whose nodes are back, and that nobody has deleted', () => {
    expect(inFlight(2, [], [done('a'), done('b'), done('d'), waiting('e')]).hold('c')).toBeUndefined();
    expect(inFlight(1, [held('a')], [done('a')]).hold('c')?.reason, 'one that is power-cycled again').toBe('in-flight');
  });

  it('waits until what a leader before has switched off was looked at', () => {
    const running = (uid: string): Metal3Remediation => ({ metadata: { name: uid, uid }, status: { phase: 'Running' } });
    const remediations = [running('a'), running('b'), waiting('c')];
    expect(inFlight(9, [held('b')], remediations, ['a']).hold('a')?.message).toBe('Metal3Remediation b, which is under way, is looked at first');
    expect(inFlight(9, [held('b')], remediations, ['a', 'b']).hold('a')).toBeUndefined();
    expect(inFlight(9, [held('b')], remediations, ['a']).hold('b'), 'itself').toBeUndefined();
    expect(inFlight(9, [held('b')], [running('a')], ['a']).hold('a'), 'one that is gone').toBeUndefined();
  });

  it('is counted from the moment in which it begins, before any watch shows it, until it has failed to', () => {
    const none = inFlight(1);
    none.begin('a');
    expect(none.hold('b')?.reason).toBe('in-flight');
    none.forget('a');
    expect(none.hold('b')).toBeUndefined();
  });
});
