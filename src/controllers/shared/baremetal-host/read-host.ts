import type { BareMetalHost } from '../../../ports/metal3.ts';
import type { HostFacts } from './host.ts';

/** A BareMetalHost as it stands; since when it is so is known to whoever watches it. */
export function readHost({ metadata, spec, status }: BareMetalHost): Omit<HostFacts, 'power' | 'holdSeenMs' | 'ownRead'> & { isOn?: boolean } {
  const { kind, namespace, name } = spec?.consumerRef ?? {};
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    annotations: metadata.annotations ?? {},
    isDeleting: metadata.deletionTimestamp !== undefined,
    isOnline: spec?.online === true,
    neverOff: spec?.disablePowerOff === true,
    isExternallyProvisioned: spec?.externallyProvisioned === true,
    provisioningState: status?.provisioning?.state ?? '',
    operationalStatus: status?.operationalStatus ?? '',
    errorType: status?.errorType ?? '',
    ...(status?.errorMessage !== undefined && status.errorMessage !== '' && { errorMessage: status.errorMessage }),
    ...(status?.poweredOn !== undefined && { isOn: status.poweredOn }),
    ...(kind !== undefined && name !== undefined && { consumer: { kind, name, ...(namespace !== undefined && { namespace }) } }),
  };
}
