import { describe, expect, it } from 'vitest';
import { readSpec } from '../../src/controllers/metal3-remediation/spec.ts';
import { API, MINUTE_MS, remediation, World } from './world.ts';

const DEFAULT = readSpec(API, {}).settings;

describe('a timeout of 0, which nothing could keep', () => {
  it('counts as not said, in every spelling: the machine is not handed to its owner at once', () => {
    expect(readSpec(API, { strategy: { timeoutSeconds: 0 } })).toEqual({ settings: DEFAULT, problems: [] });
    expect(readSpec(API, { strategy: { timeout: '0s' } })).toEqual({ settings: DEFAULT, problems: [] });
  });

  it('counts as not said in the kind of the proposal too, for the way off and the way on', () => {
    const proposal = 'remediation.metal3.io/v1alpha3';
    const zero = { strategy: 'escalate', powerOnTimeoutSeconds: 0, powerOffTimeoutSeconds: 0 };
    expect(readSpec(proposal, zero)).toEqual(readSpec(proposal, { strategy: 'escalate' }));
    expect(readSpec(proposal, zero).settings.powerOffTimeoutMs).toBe(DEFAULT.timeoutMs);
  });

  it('leaves the host its way back', () => {
    const world = new World({ remediation: remediation({}, { strategy: { retryLimit: 1, timeoutSeconds: 0 } }) });
    world.run(10 * MINUTE_MS);
    expect(world.kinds()).toContain('RemediationFinished');
    expect(world.own.phase).not.toBe('Deleting machine');
    expect(world.operator).toMatchObject({ offs: 1, ons: 1 });
  });
});
