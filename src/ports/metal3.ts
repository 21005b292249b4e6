import type { Resource } from './cluster.ts';
import type { KubeObject } from './objects.ts';

/** `metal3.io/v1alpha1` of the BareMetal Operator, as far as it is read or written. */
export interface BareMetalHost extends KubeObject {
  spec?: {
    online?: boolean;
    /** `address`: protocol, place and path of the BMC, such as `redfish://10.0.0.1/redfish/v1/Systems/1`. */
    bmc?: { address?: string };
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

/** `Metal3Remediation` of Metal3's provider for Cluster API; what its spec says is read member by member. */
export interface Metal3Remediation extends KubeObject {
  spec?: unknown;
  status?: { phase?: string; retryCount?: number; /** RFC 3339. */ lastRemediated?: string };
}

export interface Metal3RemediationTemplate extends KubeObject {
  spec?: { template?: { spec?: unknown } };
}

/** The first that is served is spoken. */
export const METAL3_REMEDIATION_VERSIONS = ['v1beta2', 'v1beta1'] as const;
export type Metal3RemediationVersion = (typeof METAL3_REMEDIATION_VERSIONS)[number];

/** Remediations and their templates in the version that is served. */
export function metal3Remediations(version: Metal3RemediationVersion): {
  requests: Resource<Metal3Remediation>;
  templates: Resource<Metal3RemediationTemplate>;
} {
  const base = { group: INFRASTRUCTURE_GROUP, version, namespaced: true };
  return {
    requests: { ...base, kind: 'Metal3Remediation', plural: 'metal3remediations' },
    templates: { ...base, kind: 'Metal3RemediationTemplate', plural: 'metal3remediationtemplates' },
  };
}
