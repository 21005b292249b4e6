import { faultsOf } from '../bmc/bmc-configuration.ts';
import type { BmcService, BmcServiceOptions } from '../bmc/bmc-service.ts';
import { checkCredentials } from './credentials.ts';
import { IpmiDevice } from './rmcp/ipmi-device.ts';
import { startIpmiServer } from './rmcp/ipmi-server.ts';
import { IpmiWire } from './rmcp/ipmi-wire.ts';
import { PRIVILEGE } from './rmcp/sessions.ts';
import { seededChance } from './seeded-chance.ts';
import { supportedFaults } from './supported-faults.ts';

/** Our own IPMI BMC over UDP. */
export async function startIpmiService({ configuration, clock, random, backend, trace }: BmcServiceOptions): Promise<BmcService> {
  checkCredentials('ipmi', configuration);
  const { node, uuid, username, password, host = '127.0.0.1', port = 0, kg, seed } = configuration;
  const device = new IpmiDevice({
    clock,
    random,
    node,
    uuid,
    users: { [username]: { password, privilege: PRIVILEGE.administrator } },
    backend,
    faults: supportedFaults('ipmi', faultsOf(configuration.faults)),
    trace,
    ...(kg === undefined ? {} : { kg }),
  });
  if (configuration.device !== undefined) device.name = configuration.device;
  const wire = new IpmiWire(clock, seed === undefined ? random : seededChance(seed));
  const server = await startIpmiServer(device, { host, port, wire, backend });
  return {
    ready: { ready: true, host: server.host, port: server.port, fingerprint: '' },
    setFaults: (faults) => {
      device.faults = supportedFaults('ipmi', faults);
    },
    setPassword: (next) => {
      checkCredentials('ipmi', { username, password: next });
      device.login.changePassword(username, next);
      return Promise.resolve();
    },
    powerChanged: () => undefined,
    close: server.close,
  };
}
