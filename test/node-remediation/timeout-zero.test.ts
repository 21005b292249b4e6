import { describe, expect, it } from 'vitest';
import { readSpec } from '../../src/controllers/node-remediation/spec.ts';
import { API, MINUTE_MS, ownerMachine, request, World } from './world.ts';

const ZERO = { timeoutSeconds: 0, powerOffTimeoutSeconds: 0, powerOnTimeoutSeconds: 0, cooldownSeconds: 0 };

describe('a timeout of 0, which nothing could keep', () => {
  it('counts as not said: each alone, and all of them', () => {
    const none = readSpec(API, {});
    for (const [field, value] of Object.entries(ZERO)) expect(readSpec(API, { [field]: value }), field).toEqual(none);
    expect(readSpec(API, ZERO)).toEqual(none);
    expect(readSpec(API, { timeoutSeconds: 60, powerOffTimeoutSeconds: 0 }).settings.powerOffTimeoutMs).toBe(MINUTE_MS);
  });

  it('withdraws no fence, and hands no Machine to its owner', () => {
    const spec = { strategy: 'escalate', retryLimit: 0, ...ZERO };
    const world = new World({ request: request({}, spec), machine: ownerMachine({ name: 'n', namespace: 'machines' }) });
    world.run(5 * MINUTE_MS);
    expect(world.own.phase).toBe('Succeeded');
    expect([world.fences, world.reasons()]).toEqual([1, ['RemediationStarted', 'RemediationFinished']]);
  });
});
