import { randomUUID } from 'node:crypto';
import type { CertificateAuthority } from '../../testbed/certificates.ts';
import { bmcProtocolFor } from '../../testbed/devices/ipmi/protocol.ts';
import type { Child } from './child.ts';
import type { Agent } from './options.ts';
import { WORLD } from '../faults/names.ts';
import { drillProgram } from './process-host.ts';
import type { ProcessHost } from './process-host.ts';
import type { BmcReady } from '../../testbed/devices/bmc/bmc-configuration.ts';
import type { RecordedEvent } from '../../testbed/devices/bmc/tree.ts';
import type { Bmc } from './scene-configuration.ts';
import type { Machine } from './setting.ts';

const HOST = '127.0.0.1';
/** What whoever looks at a machine that is kept finds in its log. */
const RECORDED: readonly RecordedEvent[] = [
  { created: '2026-01-01T00:00:00Z', severity: 'OK', message: 'The system was powered on.' },
  { created: '2026-01-02T00:00:00Z', severity: 'Warning', message: 'Correctable memory errors at DIMM A1.' },
];

/** A node's BMC, which owns the node's machine. */
export interface Member {
  node: string;
  child: Pick<Child, 'tell'>;
  bmc: Bmc;
}

export interface MemberSite {
  processes: ProcessHost;
  authority: CertificateAuthority;
  agent: Agent;
  /** Where the node's kubelet finds the API server, and as whom. */
  access: { server: string; caPem: string; token: string };
  /** Of the BMC, unless the machine brings its own. */
  credentials: { username: string; password: string };
}

/** Starts the BMC of one machine, or all devices that switch it, in one process; that process starts the machine. */
export async function startMember(machine: Machine, { processes, authority, agent, access, credentials }: MemberSite): Promise<Member> {
  const { folder } = processes;
  const { node, systemUUID = randomUUID(), providerID, serial, labels, wiring = 'bmc', isStranger, zone, detector } = machine;
  const { username, password } = machine.credentials ?? credentials;
  const machineFile = folder.write(`machine-${node}.json`, {
    ...access,
    node,
    systemUUID,
    providerID,
    labels,
    detector,
    disk: folder.in('disk'),
    bootDelayMs: WORLD.bootMs,
    options: { renewMs: WORLD.kubeletRenewMs },
    trace: folder.trace(`machine-${node}`),
  });
  const { child, ready } = await processes.program('bmc', `bmc-${node}`, {
    protocol: bmcProtocolFor(agent),
    node,
    uuid: systemUUID,
    serial,
    username,
    password,
    host: HOST,
    ...(agent === 'redfish' ? { certificate: authority.issue({ commonName: `bmc-${node}`, hosts: [HOST] }) } : {}),
    trace: folder.trace(`bmc-${node}`),
    ...(isStranger === true ? {} : { machine: { command: [process.execPath, drillProgram('machine')], configuration: machineFile } }),
    wiring,
    ...(zone === undefined ? {} : { tree: { events: RECORDED } }),
  });
  const { host, port, fingerprint, others = [] } = ready as unknown as BmcReady;
  return { node, child, bmc: { node, host, port, fingerprint, others } };
}
