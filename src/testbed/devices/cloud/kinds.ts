import type { CloudKind } from './cloud-service.ts';

export const CLOUDS = ['aws', 'gce', 'azure', 'openstack', 'vsphere', 'ovirt', 'proxmox', 'hetzner'] as const;
export type CloudName = (typeof CLOUDS)[number];

/** Emulated clouds by the name of their agent. */
export const CLOUD_KINDS: Readonly<Record<CloudName, () => Promise<CloudKind>>> = {
  aws: async () => (await import('./aws.ts')).awsCloud,
  gce: async () => (await import('./gce.ts')).gceCloud,
  azure: async () => (await import('./azure.ts')).azureCloud,
  openstack: async () => (await import('./openstack.ts')).openstackCloud,
  ovirt: async () => (await import('./ovirt.ts')).ovirtCloud,
  vsphere: async () => (await import('./vsphere.ts')).vsphereCloud,
  proxmox: async () => (await import('./proxmox.ts')).proxmoxCloud,
  hetzner: async () => (await import('./hetzner.ts')).hetznerCloud,
};
