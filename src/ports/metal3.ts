import type { Resource } from './cluster.ts';
import type { KubeObject } from './objects.ts';

/** `metal3.io/v1alpha1` of the BareMetal Operator, as far as it is read or written. */
export interface BareMetalHost extends KubeObject {
  spec?: {
    online?: boolean;
    disablePowerOff?: boolean;
    externallyProvisioned?: boolean;
    consumerRef?: { kind?: string; namespace?: string; name?: string };
  };
  status?: {
    poweredOn?: boolean;
    operationalStatus?: string;
    errorType?: string;
    errorMessage?: string;
    provisioning?: { state?: string };
  };
}

export const BARE_METAL_HOSTS: Resource<BareMetalHost> = {
  group: 'metal3.io',
  version: 'v1alpha1',
  kind: 'BareMetalHost',
  plural: 'baremetalhosts',
  namespaced: true,
};

/** Group of Metal3Machine and of the other kinds of Cluster API's providers. */
export const INFRASTRUCTURE_GROUP = 'infrastructure.cluster.x-k8s.io';
