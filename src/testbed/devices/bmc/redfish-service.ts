import { createAuthority, fingerprintSha256 } from '../../certificates.ts';
import { supportedFaults } from '../ipmi/supported-faults.ts';
import { faultsOf } from './bmc-configuration.ts';
import { startBmcServer } from './bmc-server.ts';
import type { BmcService, BmcServiceOptions } from './bmc-service.ts';
import { RedfishDevice } from './redfish-device.ts';
import { resourceTree } from './tree.ts';

/** A Redfish BMC over HTTPS. */
export async function startRedfishService({ configuration, clock, random, backend, trace }: BmcServiceOptions): Promise<BmcService> {
  const { node, serial } = configuration;
  const host = configuration.host ?? '127.0.0.1';
  const certificate = configuration.certificate ?? createAuthority(`BMC of ${node}`).issue({ commonName: node, hosts: [host] });
  const device = new RedfishDevice({
    clock,
    random,
    node,
    users: { [configuration.username]: configuration.password },
    tree: resourceTree({ uuid: configuration.uuid, hostName: node, ...(serial === undefined ? {} : { serial }), ...configuration.tree }),
    backend,
    faults: supportedFaults('redfish', faultsOf(configuration.faults)),
    trace,
  });
  if (configuration.device !== undefined) device.name = configuration.device;
  const server = await startBmcServer(device, { host, ...(configuration.port === undefined ? {} : { port: configuration.port }), certificate });
  const { url, port } = server;
  return {
    ready: { ready: true, host, port, url, fingerprint: fingerprintSha256(certificate.certificatePem) },
    setFaults: (faults) => {
      device.faults = supportedFaults('redfish', faults);
    },
    setPassword: (password) => {
      device.accounts.changePassword(configuration.username, password);
      return Promise.resolve();
    },
    powerChanged: () => undefined,
    close: server.close,
  };
}
