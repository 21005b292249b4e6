import { beforeEach, describe, expect, it } from 'vitest';
import { HostObservations } from '../../src/controllers/shared/baremetal-host/host-observations.ts';
import { powerOf } from '../../src/controllers/shared/baremetal-host/off-proof.ts';
import { HARD, holdOff, wasOn } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import type { BareMetalHost } from '../../src/ports/metal3.ts';
import { Operator } from './operator.ts';

const HOLD = 'reboot.metal3.io/machine-remediation';
const MINUTE_MS = 60_000;

describe('hosts as this process has seen them', () => {
  let operator: Operator;
  let observations: HostObservations;

  beforeEach(() => {
    operator = new Operator();
    observations = sightsNow();
  });

  const sightsNow = (): HostObservations => new HostObservations({ monotonicMs: () => operator.nowMs }, [HOLD]);

  /** The object as the operator keeps it. */
  function host(more: Partial<BareMetalHost['metadata']> = {}): BareMetalHost {
    const { annotations, resourceVersion, told, isOnline, operationalStatus, errorType } = operator;
    return {
      metadata: { name: 'host', namespace: 'metal', uid: 'uid-host', resourceVersion: String(resourceVersion), annotations, ...more },
      spec: { online: isOnline, consumerRef: { kind: 'Machine', name: 'm', namespace: 'machines' } },
      status: { poweredOn: told, operationalStatus, errorType, provisioning: { state: 'provisioned' } },
    };
  }

  function held(): void {
    const { changes } = holdOff(observations.factsOf(host(), HOLD), HOLD, HARD);
    operator.annotate({ ...operator.annotations, ...Object.fromEntries(changes.map(({ key, to }) => [key, to ?? ''])) });
  }

  /** Every second, as a watch brings it. */
  function pass(ms: number): void {
    const endMs = operator.nowMs + ms;
    while (operator.nowMs < endMs) {
      operator.advance(operator.nowMs + 1_000);
      observations.see(host());
    }
  }

  it('are read as the operator tells of them', () => {
    expect(observations.factsOf(host(), HOLD)).toMatchObject({
      ...{ name: 'host', namespace: 'metal', isOnline: true, neverOff: false, provisioningState: 'provisioned', operationalStatus: 'OK' },
      ...{ power: { isOn: true, seenMs: 0 }, consumer: { kind: 'Machine', name: 'm', namespace: 'machines' } },
    });
  });

  it('are served by nobody when nobody has written a status for minutes that could be heard; an outage of the API server is none of them', () => {
    let resumedAtMs = Number.NEGATIVE_INFINITY;
    observations = new HostObservations({ monotonicMs: () => operator.nowMs }, [HOLD], () => resumedAtMs);
    const { status: _nobodys, ...bare } = host();
    observations.see(bare);
    const own = { namespace: 'metal', name: 'host', uid: 'uid-host' };
    operator.advance(6 * MINUTE_MS);
    expect(observations.isUnserved(own)).toBe(true);
    resumedAtMs = operator.nowMs;
    expect(observations.isUnserved(own)).toBe(false);
    operator.advance(operator.nowMs + 5 * MINUTE_MS);
    expect(observations.isUnserved(own)).toBe(true);
  });

  it('prove an off that came after our hold', () => {
    pass(MINUTE_MS);
    held();
    pass(MINUTE_MS);
    const facts = observations.factsOf(host(), HOLD);
    expect(facts.holdSeenMs).toBeGreaterThanOrEqual(MINUTE_MS);
    expect(facts.power).toMatchObject({ isOn: false });
    const power = powerOf(facts, { wasOn: wasOn(facts, HOLD), monotonicMs: operator.nowMs });
    expect(power.state).toBe('off');
    expect(power.state === 'off' && power.proof.seenMs).toBeGreaterThanOrEqual(MINUTE_MS);
  });

  it('are seen from the first look on after a restart: a sign of life before that does not count against them', () => {
    held();
    pass(MINUTE_MS);
    const before = observations.factsOf(host(), HOLD).power?.seenMs ?? 0;
    pass(MINUTE_MS);
    observations = sightsNow();
    const after = observations.factsOf(host(), HOLD);
    expect(after).toMatchObject({ power: { seenMs: 2 * MINUTE_MS }, holdSeenMs: 2 * MINUTE_MS });
    expect(after.power?.seenMs).toBeGreaterThan(before);
  });

  it('begin anew when the power was on in between', () => {
    operator.told = false;
    observations.see(host());
    operator.nowMs = 10_000;
    operator.told = true;
    observations.see(host());
    operator.nowMs = 20_000;
    operator.told = false;
    expect(observations.factsOf(host(), HOLD).power).toEqual({ isOn: false, seenMs: 20_000 });
  });

  it('begin anew with another object of the name, and when the hold was taken away', () => {
    held();
    observations.see(host());
    operator.nowMs = 10_000;
    expect(observations.factsOf(host({ uid: 'another' }), HOLD)).toMatchObject({ power: { seenMs: 10_000 }, holdSeenMs: 10_000 });
    operator.annotations = {};
    expect(observations.factsOf(host({ uid: 'another' }), HOLD).holdSeenMs).toBeUndefined();
    operator.nowMs = 20_000;
    held();
    expect(observations.factsOf(host({ uid: 'another' }), HOLD).holdSeenMs).toBe(20_000);
    observations.forget(host());
    operator.nowMs = 30_000;
    expect(observations.factsOf(host({ uid: 'another' }), HOLD).holdSeenMs).toBe(30_000);
  });

  it('have no power where none is reported', () => {
    expect(observations.factsOf({ ...host(), status: {} }, HOLD).power).toBeUndefined();
  });
});
