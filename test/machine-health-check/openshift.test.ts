import { describe, expect, it } from 'vitest';
import { ago, checkObject, machineObject, nodeConditionsOf } from './objects.ts';
import { World } from './world.ts';

const API = 'machine.openshift.io/v1beta1';
const EXTERNAL = 'host.metal3.io/external-remediation';

interface Options {
  annotations?: Record<string, string>;
  spec?: object;
  machine?: Record<string, string>;
  phase?: string;
  hasOwner?: boolean;
  ready?: 'True' | 'Unknown';
}

function world({ annotations = {}, spec = {}, machine = {}, phase = 'Running', hasOwner = true, ready = 'Unknown' }: Options = {}): World {
  const base = machineObject('m', { annotations: machine, ...(!hasOwner && { owners: [] }) });
  const unhealthyConditions = [{ type: 'Ready', status: 'Unknown', timeout: '300s' }];
  return new World({
    hasClusters: false,
    checks: [{ ...checkObject('mhc', {}, 'v1beta1', { annotations }), apiVersion: API, spec: { selector: {}, unhealthyConditions, ...spec } }],
    machines: [{ ...base, apiVersion: API, status: { nodeRef: { name: 'n' }, phase, lastUpdated: ago(60) } }],
    nodes: { n: nodeConditionsOf(ready, 600) },
  });
}

const EXTERNALLY = { 'machine.openshift.io/remediation-strategy': 'external-baremetal' };

describe('on OpenShift', () => {
  it('an unhealthy machine is deleted, and its owner makes another', () => {
    const cluster = world();
    cluster.settle();
    expect(cluster.machines).toEqual([]);
    expect(cluster.done.find(({ kind }) => kind === 'delete-machine')?.events).toEqual([
      {
        type: 'Normal',
        reason: 'MachineDeleted',
        message: 'Machine default/mhc/m/n has been remediated by requesting to delete Machine object',
      },
    ]);
  });

  it('a machine without a controller is not, and that is told', () => {
    const cluster = world({ hasOwner: false });
    const message = 'Machine default/mhc/m/n has no controller owner, skipping remediation';
    const { views, notices } = cluster.settle();
    expect(views[0]?.waiting).toMatchObject([{ machine: 'm', why: message }]);
    expect(notices).toMatchObject([{ target: { kind: 'Machine', name: 'm' }, event: { type: 'Normal', reason: 'SkippedNoController', message } }]);
    expect(cluster.machines).toHaveLength(1);
  });

  it('the strategy external-baremetal annotates the machine instead, once', () => {
    const cluster = world({ annotations: EXTERNALLY, hasOwner: false });
    expect(cluster.settle().views[0]?.inFlight).toBe(1);
    expect(cluster.machines[0]?.metadata.annotations).toEqual({ [EXTERNAL]: '' });
    expect(cluster.events()).toEqual(['ExternalAnnotationAdded']);
  });

  it('a machine that carries that annotation is not healthy before it is gone, whatever its node says', () => {
    const cluster = world({ annotations: EXTERNALLY, machine: { [EXTERNAL]: '' }, ready: 'True' });
    expect(cluster.settle().views[0]).toMatchObject({ currentHealthy: 0, failed: 0, inFlight: 1 });
  });

  it('a machine in phase Failed is unhealthy at once', () => {
    const cluster = world({ annotations: EXTERNALLY, phase: 'Failed', ready: 'True' });
    expect(cluster.settle().views[0]).toMatchObject({ failed: 1, inFlight: 1 });
  });

  it.each([
    ['an empty selector means all machines', {}],
    ['a number may be written as text', { maxUnhealthy: '3' }],
  ])('%s', (_what, spec) => {
    const { views, problems } = world({ annotations: EXTERNALLY, spec }).decide();
    expect([views[0]?.expectedMachines, problems]).toEqual([1, []]);
  });

  it('nothing is written into the status of a Machine, and no targets into that of the check', () => {
    const cluster = world({ ready: 'True' });
    cluster.settle();
    expect(cluster.kinds()).toEqual(['check-status']);
    expect(cluster.status('mhc')).toMatchObject({ expectedMachines: 1, currentHealthy: 1, remediationsAllowed: 1 });
    expect(Object.keys(cluster.status('mhc')).sort()).toEqual(['conditions', 'currentHealthy', 'expectedMachines', 'remediationsAllowed']);
  });
});
