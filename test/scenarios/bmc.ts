import type { Clock } from '../../src/ports/clock.ts';
import { randomUUID } from 'node:crypto';
import { startBmcServer } from '../../src/testbed/devices/bmc/bmc-server.ts';
import type { BmcServer } from '../../src/testbed/devices/bmc/bmc-server.ts';
import type { BmcFaults } from '../../src/testbed/devices/bmc/faults.ts';
import { RedfishDevice } from '../../src/testbed/devices/bmc/redfish-device.ts';
import { resourceTree } from '../../src/testbed/devices/bmc/tree.ts';
import type { TreeOptions } from '../../src/testbed/devices/bmc/tree.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import type { TraceEvent } from '../../src/laws/trace.ts';
import type { Machine } from '../../src/testbed/cluster/machine.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';

const HOST = '127.0.0.1';
const authority = createAuthority('nodefence scenarios');
const stranger = createAuthority('somebody else');

/** What the operator's Secret says may sign the BMCs' certificates. */
export const TRUSTED_CA = authority.certificatePem;

/** What is odd about the BMC of one node. */
export interface BmcOddities {
  faults?: BmcFaults;
  tree?: Partial<TreeOptions>;
  /** What it shows as the machine's UUID, instead of the machine's own. */
  uuid?: string;
  certificate?: 'foreign' | 'expired';
  /** The BMC knows another password than the operator's Secret. */
  password?: string;
}

/** A BMC that really speaks Redfish over HTTPS, before one machine. */
export interface ScenarioBmc {
  device: RedfishDevice;
  server: BmcServer;
}

export async function startBmc(
  node: string,
  behind: { uuid: string; machine: Machine },
  login: { username: string; password: string },
  { clock, trace }: { clock: Clock; trace: (event: TraceEvent) => void },
  oddities: BmcOddities = {},
): Promise<ScenarioBmc> {
  const signer = oddities.certificate === 'foreign' ? stranger : authority;
  const lifetime = oddities.certificate === 'expired' ? { lifetimeMs: -60_000 } : {};
  const device = new RedfishDevice({
    clock,
    random: new SystemRandom(),
    node,
    users: { [login.username]: oddities.password ?? login.password },
    tree: resourceTree({ uuid: oddities.uuid ?? behind.uuid, hostName: node, ...oddities.tree }),
    backend: {
      state: () => behind.machine.state,
      on: (cause) => behind.machine.powerOn(cause),
      off: (cause) => behind.machine.powerOff(cause),
    },
    faults: oddities.faults ?? {},
    trace,
  });
  return {
    device,
    server: await startBmcServer(device, { host: HOST, certificate: signer.issue({ commonName: `bmc-${node}`, hosts: [HOST], ...lifetime }) }),
  };
}

export function newUuid(): string {
  return randomUUID();
}
