import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import type { Plan } from '../domain/plan.ts';
import { configurationOf } from './configuration.ts';
import { resolvePlan } from './resolve-plan.ts';

const METAL3 = 'metal3://metal/host-a/machine-a';

function plan(providerID: string | undefined, configMaps: Record<string, Record<string, string>> = {}): Plan {
  const configuration = configurationOf(
    Object.entries(configMaps).map(([name, data]) => ({ name, data })),
    standardRegistry(),
  );
  return resolvePlan({ node: { name: 'worker-1', providerID, labels: {}, annotations: {}, addresses: [] }, configuration });
}

const errors = ({ problems }: Plan): string[] => problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);

describe('the restart of an instance', () => {
  it.each([
    [METAL3, 'metal3', 'machine-a', 'host-off'],
    ['aws:///eu-central-1a/i-0123456789abcdef0', 'aws', 'i-0123456789abcdef0', 'instance-stopped'],
    ['vsphere://422E4956-ad22-1139-6d72-59cc8f26bc90', 'vsphere', '422e4956-ad22-1139-6d72-59cc8f26bc90', 'instance-stopped'],
    ['ovirt://422E4956-ad22-1139-6d72-59cc8f26bc90', 'ovirt', '422e4956-ad22-1139-6d72-59cc8f26bc90', 'instance-stopped'],
    ['proxmox://cluster-1/142', 'proxmox', '142', 'instance-stopped'],
    ['proxmox://422E4956-ad22-1139-6d72-59cc8f26bc90', 'proxmox', '422e4956-ad22-1139-6d72-59cc8f26bc90', 'instance-stopped'],
    ['baremetalhost:///metal/host-a/1e2d3c4b-0000-4000-8000-00000000abcd', 'metal3', '1e2d3c4b-0000-4000-8000-00000000abcd', 'host-off'],
  ])('is by default that of %s', (providerID, agent, plug, evidence) => {
    const resolved = plan(providerID);
    expect(errors(resolved)).toEqual([]);
    expect(resolved.powerManagement).toMatchObject([{ methods: [{ agent, plug, action: 'reboot', evidence }] }]);
  });

  it('takes what the providerID says of the instance, and rather what is written', () => {
    const providerID = 'aws:///eu-central-1a/i-0123456789abcdef0';
    expect(plan(providerID).powerManagement).toMatchObject([{ methods: [{ parameters: { region: 'eu-central-1' }, device: 'aws eu-central-1' }] }]);
    const written = plan(providerID, { 'fence-cluster-config': { 'config.properties': 'aws.region=us-east-2' } });
    expect(written.powerManagement).toMatchObject([{ methods: [{ parameters: { region: 'us-east-2' } }] }]);
  });

  it('has the time that its cloud needs, where nobody wrote another', () => {
    const providerID = 'gce://project/europe-west3-a/worker-1';
    expect(errors(plan(providerID))).toEqual([]);
    expect(plan(providerID).timing.powerTimeoutMs).toBe(180_000);
    expect(errors(plan(providerID, { 'fence-cluster-config': { 'config.properties': 'power_timeout=60s' } }))).toEqual([
      expect.stringContaining('power_timeout 60 s must be at least'),
    ]);
    expect(plan('aws:///eu-central-1a/i-0123456789abcdef0').timing.powerTimeoutMs).toBe(60_000);
  });

  it('takes what the cluster’s ConfigMap says of the agent, the Secret among it', () => {
    const configMaps = { 'fence-cluster-config': { 'config.properties': 'kubevirt.namespace=tenants\nkubevirt.secret=infrastructure' } };
    expect(errors(plan('kubevirt://worker-1'))).toContainEqual(expect.stringContaining('namespace is missing'));
    const resolved = plan('kubevirt://worker-1', configMaps);
    expect(errors(resolved)).toEqual([]);
    expect(resolved.powerManagement).toMatchObject([
      { methods: [{ agent: 'kubevirt', plug: 'worker-1', secret: 'infrastructure', parameters: { namespace: 'tenants' } }] },
    ]);
  });

  it('may be a method of its own, which says more', () => {
    const method = 'agent_name=restart-instance\nplug=metal/host-a\naction=off';
    const configMaps = { 'fence-config-worker-1': { 'config.properties': 'power_management=cut', 'fence-method-cut': method } };
    const resolved = plan(METAL3, configMaps);
    expect(errors(resolved)).toEqual([]);
    expect(resolved.powerManagement).toMatchObject([{ methods: [{ name: 'cut', agent: 'metal3', plug: 'metal/host-a', action: 'off' }] }]);
  });

  it('says that there is none where the Node does not name its instance', () => {
    const configMaps = {
      'fence-config-worker-1': { 'config.properties': 'power_management=cut', 'fence-method-cut': 'agent_name=restart_instance' },
    };
    expect(errors(plan(undefined, configMaps))).toEqual([expect.stringContaining('has no providerID')]);
  });
});
