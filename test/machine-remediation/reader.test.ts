import { describe, expect, it } from 'vitest';
import { decide, hostKeyOfMachine } from '../../src/controllers/machine-remediation/decide.ts';
import { REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { readMachine } from '../../src/controllers/machine-remediation/read-machine.ts';
import type { ClusterMachine } from '../../src/ports/cluster-api.ts';
import { EPOCH_MS, machine } from './world.ts';

const METADATA = { name: 'm', namespace: 'machines', uid: 'uid-m', annotations: { [REQUEST]: '', 'metal3.io/BareMetalHost': 'metal/host' } };
const OWNER = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', name: 's', uid: 'uid-s' };

describe('a Machine is read', () => {
  it('of OpenShift: its own annotation names its host', () => {
    const facts = readMachine(
      { metadata: { ...METADATA, ownerReferences: [{ ...OWNER, controller: true }] } },
      'machine.openshift.io/v1beta1',
      undefined,
      false,
    );
    expect(facts).toEqual(machine());
    expect(hostKeyOfMachine(facts)).toEqual({ namespace: 'metal', name: 'host' });
  });

  const OF_METAL3: ClusterMachine = {
    metadata: { ...METADATA, annotations: { [REQUEST]: '' }, ownerReferences: [OWNER] },
    spec: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'Metal3Machine', name: 'm3m' } },
  };

  it('of metal3: the annotation of its Metal3Machine does, and an owner that does not control makes no new one', () => {
    const infrastructure = { metadata: { name: 'm3m', namespace: 'machines', annotations: { 'metal3.io/BareMetalHost': 'metal/host' } } };
    const facts = readMachine(OF_METAL3, 'cluster.x-k8s.io/v1beta2', infrastructure, false);
    expect(facts).toMatchObject({ hasController: false, infrastructure: { kind: 'Metal3Machine', name: 'm3m' } });
    expect(hostKeyOfMachine(facts)).toEqual({ namespace: 'metal', name: 'host' });
  });

  it('of metal3 whose Metal3Machine is gone: it has no host, whatever it carries itself', () => {
    const carrying = { ...OF_METAL3, metadata: METADATA };
    expect(hostKeyOfMachine(readMachine(carrying, 'cluster.x-k8s.io/v1beta2', undefined, false))).toBeUndefined();
  });

  it.each([
    ['itself', { 'cluster.x-k8s.io/paused': '' }, false],
    ['with its Cluster', {}, true],
  ])('as paused %s: nothing is done', (_what, marks, isClusterPaused) => {
    const metadata = { ...METADATA, annotations: { ...METADATA.annotations, ...marks } };
    const facts = readMachine({ metadata }, 'machine.openshift.io/v1beta1', undefined, isClusterPaused);
    const settings = { mode: 'incident', powerOffTimeoutMs: 1, canReadBmc: false } as const;
    const decision = decide({ nowMs: EPOCH_MS, monotonicMs: 0, settings, machine: facts, healthChecks: [], holds: [] });
    expect(decision).toMatchObject({ actions: [], problems: ['Machine machines/m: it is paused'] });
  });
});
