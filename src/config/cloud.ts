import type { NodeFacts } from './configuration.ts';

/** Schemes of a providerID, and the agent that restarts such a machine. */
const AGENTS: Readonly<Record<string, string>> = {
  aws: 'aws',
  gce: 'gce',
  azure: 'azure',
  openstack: 'openstack',
  ovirt: 'ovirt',
  vsphere: 'vsphere',
  hcloud: 'hetzner',
  proxmox: 'proxmox',
  metal3: 'metal3',
  baremetalhost: 'metal3',
  kubevirt: 'kubevirt',
};

/** The step's name for a restart through whatever cloud the node stands in. */
export const RESTART_INSTANCE = 'restart-instance';

export interface CloudInstance {
  /** Canonical name of the agent, whether or not it is part of this version. */
  agent: string;
  /** As the cloud calls the machine: the last part of the providerID. */
  instance: string;
}

/** What the node's providerID says of the machine; undefined without one, or with one of no cloud that is known. */
export function cloudInstance({ providerID }: NodeFacts): CloudInstance | undefined {
  const [, scheme = '', path = ''] = /^([a-z0-9]+):\/\/(.+)$/.exec(providerID ?? '') ?? [];
  const agent = Object.hasOwn(AGENTS, scheme) ? AGENTS[scheme] : undefined;
  const instance = path.split('/').findLast((part) => part !== '') ?? '';
  return agent === undefined || instance === '' ? undefined : { agent, instance };
}

/** Its plug is an instance, not an outlet, and its address the cloud's own. */
export function isCloudAgent(name: string): boolean {
  return Object.values(AGENTS).includes(name);
}

/** Agents that this version does not have yet, by every name that a configuration may give them. */
const TO_COME: ReadonlySet<string> = new Set([
  ...['gcloud-reset-inst', 'metal3', 'kubevirt', 'restart-instance'],
  ...['ipmi', 'pdu', 'ethernet-switch', 'fc-switch', 'brocade', 'ceph', 'scsi', 'csi', 'nfs', 'iscsi'],
  ...['ssh', 'watchdog', 'kdump', 'ack', 'drain', 'delete-node', 'machine-delete', 'exec', 'job'],
]);

/** ClusterLabs agents that ship with fence-agents 4.12 and stand in configurations of the original. */
const CLUSTERLABS =
  /^fence-(apc|apc-snmp|aws|azure-arm|azure-gateway|bladecenter|brocade|cisco-mds|cisco-ucs|compute|cyberpower-ssh|drac5|dummy|eaton-snmp|eaton-ssh|emerson|eps|evacuate|gce|heuristics-ping|hpblade|ibmblade|idrac|ifmib|ilo|ilo2|ilo3|ilo4|ilo5|ilo-ssh|imm|intelmodular|ipdu|ipmilan|ipmilanplus|kdump|ldom|lindypdu|lpar|mpath|netio|openstack|ovh|pve|raritan|rcd-serial|rhevm|rsa|rsb|sanbox2|sbd|scsi|vbox|virsh|vmware|vmware-rest|vmware-soap|watchdog|wti|xenapi|zvmip|kubevirt|redfish|amt-ws|vertiv|tripplite-snmp)$/;

/** Known by name, though no agent of this version answers to it; `program`: one of ClusterLabs, which could be installed. */
export function agentToCome(name: string): 'agent' | 'program' | undefined {
  const plain = name.trim().toLowerCase().replaceAll('_', '-');
  if (TO_COME.has(plain)) return 'agent';
  return CLUSTERLABS.test(plain) ? 'program' : undefined;
}
