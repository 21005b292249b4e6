import type { AgentDefinition, AgentRegistry } from '../src/ports/agents.ts';
import { NO_PROGRAMS } from '../src/ports/programs.ts';
import type { ProgramRights } from '../src/ports/programs.ts';
import { ack } from './ack/definition.ts';
import { aws, awsSecurityGroup, awsVolume } from './aws/definition.ts';
import { azure } from './azure/definition.ts';
import { cephWith } from './ceph/definition.ts';
import { cordon } from './cordon/agent.ts';
import { hetzner } from './hetzner/definition.ts';
import { FencePrograms } from './exec/definition.ts';
import { novaServiceDown, novaServiceUp } from './openstack/compute-service/definition.ts';
import { openstack } from './openstack/definition.ts';
import { ProgramFolder } from './shared/process/program-folder.ts';
import { ethernetSwitch } from './ethernet-switch/definition.ts';
import { fcSwitch } from './fc-switch/definition.ts';
import { ipmi } from './ipmi/definition.ts';
import { gce } from './gce/definition.ts';
import { job, jobRun } from './job/definition.ts';
import { kdump } from './kdump/definition.ts';
import { kubevirt } from './kubevirt/definition.ts';
import { metal3 } from './metal3/definition.ts';
import { ovirt } from './ovirt/definition.ts';
import { pdu } from './pdu/definition.ts';
import { proxmox } from './proxmox/definition.ts';
import { nodeDaemon } from './node-daemon/definition.ts';
import { redfish } from './redfish/definition.ts';
import { ssh } from './ssh/definition.ts';
import { scsi } from './scsi/definition.ts';
import { storageWith } from './storage/definition.ts';
import { taint } from './taint/agent.ts';
import { uncordon } from './uncordon/agent.ts';
import { unfence } from './unfence/definition.ts';
import { vsphere } from './vsphere/definition.ts';
import { watchdog } from './watchdog/definition.ts';

/** Agents that reach only the cluster; they run in the simulation as they are. */
export const clusterAgents: readonly AgentDefinition[] = [cordon, uncordon, taint];

function spelling(name: string): string {
  return name.trim().toLowerCase().replaceAll('_', '-');
}

/** A registry of the given agents. Two agents that claim one name are a programming error. */
export function createRegistry(definitions: readonly AgentDefinition[]): AgentRegistry {
  const byName = new Map<string, AgentDefinition>();
  for (const definition of definitions) {
    for (const name of [definition.name, ...definition.aliases].map(spelling)) {
      if (byName.has(name)) throw new Error(`two agents are named ${name}`);
      byName.set(name, definition);
    }
  }
  const names = definitions.map((definition) => definition.name).sort();
  return { find: (name) => byName.get(spelling(name)), names: () => names };
}

/**
 * Every agent that comes with the program, and the fence agents of ClusterLabs that are installed. What is heavy is imported when an agent is created.
 * `rights`: which programs of this machine a configuration may name; absent: none.
 */
export function standardRegistry(rights: ProgramRights = NO_PROGRAMS): AgentRegistry {
  const programs = new ProgramFolder(rights);
  const own = createRegistry([
    ...clusterAgents,
    ack,
    aws,
    awsSecurityGroup,
    awsVolume,
    azure,
    cephWith(programs),
    ethernetSwitch,
    fcSwitch,
    gce,
    ipmi,
    job,
    jobRun,
    kdump,
    hetzner,
    kubevirt,
    metal3,
    nodeDaemon,
    novaServiceDown,
    novaServiceUp,
    openstack,
    ovirt,
    pdu,
    proxmox,
    redfish,
    scsi,
    ssh,
    storageWith(programs),
    unfence,
    vsphere,
    watchdog,
  ]);
  const installed = new FencePrograms(programs);
  return { find: (name) => installed.find(name, own.find(name)) ?? own.find(name), names: () => own.names() };
}
