import { describe, expect, it } from 'vitest';
import { decide } from '../../src/controllers/metal3-remediation/decide.ts';
import { finalizerOf, phaseOf, phaseText } from '../../src/controllers/metal3-remediation/names.ts';
import type { Phase } from '../../src/controllers/metal3-remediation/names.ts';
import { readSpec } from '../../src/controllers/metal3-remediation/spec.ts';
import { askOwner, reportRemediated } from '../../src/controllers/shared/remediation/owner-machine.ts';
import { API, EPOCH_MS, MINUTE_MS, ownerMachine, remediation, World } from './world.ts';

const OLDER = 'infrastructure.cluster.x-k8s.io/v1beta1';
const OLDER_MACHINE = 'cluster.x-k8s.io/v1beta1';
const SEED = 'remediation.metal3.io/v1alpha1';
const EVENT = { type: 'Warning', reason: 'R', message: 'm' } as const;

describe('the spec', () => {
  it.each([
    ['v1beta2', API, { strategy: { type: 'Reboot', retryLimit: 3, timeoutSeconds: 180 } }, 3, 180],
    ['v1beta1', OLDER, { strategy: { type: 'Reboot', retryLimit: 2, timeout: '1h5m30s' } }, 2, 3_930],
    ['v1beta2 with a timeout of 0, in which nothing could be done,', API, { strategy: { timeoutSeconds: 0 } }, 1, 600],
    ['v1beta1 with nothing in it', OLDER, {}, 1, 600],
    ['no spec at all', API, undefined, 1, 600],
  ])('of %s is read', (_what, apiVersion, spec, retryLimit, seconds) => {
    const { settings, problems } = readSpec(apiVersion, spec);
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({ type: 'Reboot', retryLimit, timeoutMs: seconds * 1000, powerOnTimeoutMs: seconds * 1000 });
  });

  it('of the seed is read as it is printed', () => {
    const spec = { strategy: 'escalate', deleteAfterRetries: 10, powerOnTimeoutSeconds: 600, powerOffTimeoutSeconds: 120 };
    const { settings, problems } = readSpec(SEED, spec);
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({ type: 'Reboot', retryLimit: 10, powerOnTimeoutMs: 600_000, powerOffTimeoutMs: 120_000 });
  });

  it.each([
    ['a timeout that is no duration', OLDER, { strategy: { timeout: 'soon' } }, 'spec.strategy.timeout: "soon" is not a duration'],
    ['a strategy of the seed that nobody knows', SEED, { strategy: 'pray' }, 'spec.strategy: "pray" is not supported, only escalate'],
    ['a short timeout', API, { strategy: { timeoutSeconds: 99 } }, 'spec.strategy.timeoutSeconds: 99 is less than 100'],
    ['a negative timeout', API, { strategy: { timeoutSeconds: -1 } }, 'spec.strategy.timeoutSeconds: -1 is less than 100'],
    ['a negative duration', OLDER, { strategy: { timeout: '-10m0s' } }, 'spec.strategy.timeout: "-10m0s" is not a duration'],
    ['a negative limit', API, { strategy: { retryLimit: -3 } }, 'spec.strategy.retryLimit: -3 is less than 1'],
    ['half a retry', API, { strategy: { retryLimit: 1.5 } }, 'spec.strategy.retryLimit: 1.5 is not a whole number'],
    ['a limit in words', API, { strategy: { retryLimit: 'three' } }, 'spec.strategy.retryLimit: "three" is not a whole number'],
    ['a type that is no word', API, { strategy: { type: 7 } }, 'spec.strategy.type: 7 is not supported, only Reboot'],
    ['negative retries of the seed', SEED, { deleteAfterRetries: -1 }, 'spec.deleteAfterRetries: -1 is less than 0'],
    ['a negative timeout of the seed', SEED, { powerOffTimeoutSeconds: -1 }, 'spec.powerOffTimeoutSeconds: -1 is less than 0'],
  ])('with %s is told of', (_what, apiVersion, spec, problem) => {
    expect(readSpec(apiVersion, spec).problems).toEqual([problem]);
  });

  it.each([
    ['timeout', { timeoutSeconds: -1 }],
    ['limit', { retryLimit: -3 }],
  ])('with a %s that can not be followed has the default, beside the problem', (_what, strategy) => {
    expect(readSpec(API, { strategy }).settings).toEqual(readSpec(API, {}).settings);
  });

  it('with an empty type is a Reboot, as Metal3 fills it in', () => {
    expect(readSpec(API, { strategy: { type: '' } })).toEqual(readSpec(API, {}));
  });

  it('of a remediation whose Metal3Machine is gone says that, and not that the host is', () => {
    const world = new World();
    const { host: _host, infrastructure: _infrastructure, ...bare } = world.snapshot();
    const about = 'Metal3Remediation metal/m';
    expect(decide(bare).problems).toEqual([`${about}: its Metal3Machine, which names the host, is not found`]);
    expect(decide({ ...bare, infrastructure: { name: 'mm', namespace: 'metal' } }).problems).toEqual([`${about}: its BareMetalHost is not found`]);
  });
});

describe('the seed’s own kind', () => {
  it('has the seed’s finalizer and phases', () => {
    expect(finalizerOf(SEED)).toBe('remediation.metal3.io');
    expect(phaseText(SEED, 'Running')).toBe('power-off');
    const phases: Phase[] = ['', 'Running', 'Waiting', 'Deleting machine', 'Failed'];
    for (const apiVersion of [API, SEED]) for (const phase of phases) expect(phaseOf(apiVersion, phaseText(apiVersion, phase))).toBe(phase);
    expect(phaseOf(API, 'Done')).toBeUndefined();
  });

  it('power-cycles, and asks for a new Machine after so many retries', () => {
    const spec = { strategy: 'escalate', deleteAfterRetries: 2, powerOnTimeoutSeconds: 120, powerOffTimeoutSeconds: 120 };
    const world = new World({ remediation: remediation({ apiVersion: SEED }, spec), isBroken: true });
    world.run(30 * MINUTE_MS);
    expect(world.operator.offs).toBe(3);
    expect(world.own).toMatchObject({ phase: 'Deleting machine', retryCount: 2, finalizers: ['remediation.metal3.io'] });
    expect(world.machine).toMatchObject({ conditions: [{ type: 'OwnerRemediated', status: 'False' }] });
  });
});

describe('conditions of a Machine', () => {
  const paths = (apiVersion: string): unknown => askOwner(ownerMachine({ apiVersion }), EPOCH_MS, EVENT)?.lists.map(({ path }) => path.join('.'));

  it('stand in the list that Cluster API reads; of v1beta1 in both that it has', () => {
    expect(paths('cluster.x-k8s.io/v1beta2')).toEqual(['status.conditions']);
    expect(paths('cluster.x-k8s.io/v1beta1')).toEqual(['status.v1beta2.conditions', 'status.conditions']);
  });

  it('are written where they are absent or True, and left where they are False', () => {
    const told = { type: 'OwnerRemediated', status: 'False', reason: 'Other' } as const;
    const stale = { type: 'OwnerRemediated', status: 'True' } as const;
    expect(askOwner(ownerMachine({ apiVersion: OLDER_MACHINE, conditions: [told], olderConditions: [told] }), EPOCH_MS, EVENT)).toBeUndefined();
    expect(askOwner(ownerMachine({ apiVersion: OLDER_MACHINE, conditions: [told], olderConditions: [stale] }), EPOCH_MS, EVENT)?.lists).toEqual([
      {
        path: ['status', 'conditions'],
        condition: {
          type: 'OwnerRemediated',
          status: 'False',
          reason: 'WaitingForRemediation',
          message: 'Waiting for remediation',
          severity: 'Warning',
          lastTransitionTime: '2027-01-01T00:00:00Z',
        },
      },
    ]);
  });

  it('are not written on a Machine that is being deleted, nor on one of OpenShift', () => {
    expect(askOwner(ownerMachine({ isDeleting: true }), EPOCH_MS, EVENT)).toBeUndefined();
    expect(askOwner(ownerMachine({ apiVersion: 'machine.openshift.io/v1beta1' }), EPOCH_MS, EVENT)).toBeUndefined();
    expect(reportRemediated(ownerMachine({ isDeleting: true }), EPOCH_MS, 'm')).toBeUndefined();
  });
});
