/** Why an agent of ClusterLabs is not simply to be used. Read in the source of fence-agents 4.12.1. */
export interface KnownFaults {
  /** Its off may be said of a machine that is not off. */
  off?: string;
  /** It shows a secret to everybody who may list processes. */
  secrets?: string;
}

const NOT_ON_IS_OFF = 'it calls every answer of the device that is not on, off: also unknown and pending';
const SUSPENDED = 'it calls a suspended machine off: its memory may write again';
const HIBERNATED = 'it calls a hibernated machine off: its memory may write again';
const NOT_ENABLED_IS_OFF = 'it calls every EnabledState of the machine off that is not enabled: also starting and unknown';
const ABSENT = 'it calls a machine off that it does not find';
const COMMUNITY: KnownFaults = { secrets: 'it gives the community or password to snmpget on its command line' };
const SNMP_GUESS: KnownFaults = { off: NOT_ON_IS_OFF, ...COMMUNITY };
const IPMITOOL: KnownFaults = { secrets: 'it gives the password to ipmitool on its command line' };

/** By program. */
const FAULTS: Readonly<Record<string, KnownFaults>> = {
  fence_alom: { off: 'it calls the machine off wherever the word standby stands in the answer' },
  fence_amt: { off: 'it calls every state but S0 off, also sleep' },
  fence_apc_snmp: SNMP_GUESS,
  fence_aws: { off: HIBERNATED },
  fence_azure_arm: { off: HIBERNATED },
  fence_cisco_mds: SNMP_GUESS,
  fence_cisco_ucs: { off: 'it calls a blade off that is missing, and every power state but on' },
  fence_compute: { off: 'it reads what OpenStack believes of a service, not the machine' },
  fence_crosslink: { off: 'it calls a machine off that does not answer ping' },
  fence_cyberpower_ssh: { off: 'it reads the state of outlet 1 from the last of outlets 10 to 19, where the unit has so many' },
  fence_dummy: { off: 'it has no device, and calls off what it cannot read' },
  fence_eaton_snmp: { off: 'it reads another outlet after a set than before it, on switched PDUs', ...COMMUNITY },
  fence_ecloud: { off: 'it calls every instance of a VPC off that is not online, also where that is not known' },
  fence_emerson: SNMP_GUESS,
  fence_evacuate: { off: 'it reads what OpenStack believes of a service, not the machine' },
  fence_ibmblade: SNMP_GUESS,
  fence_ibmz: { off: 'it calls every status off that is not the one it expects' },
  fence_idrac: IPMITOOL,
  fence_ifmib: SNMP_GUESS,
  fence_ilo3: IPMITOOL,
  fence_ilo4: IPMITOOL,
  fence_ilo5: IPMITOOL,
  fence_ilo3_ssh: { off: NOT_ENABLED_IS_OFF },
  fence_ilo4_ssh: { off: NOT_ENABLED_IS_OFF },
  fence_ilo5_ssh: { off: NOT_ENABLED_IS_OFF },
  fence_ilo_ssh: { off: NOT_ENABLED_IS_OFF },
  fence_ilo_mp: { off: 'it calls every answer but on, off' },
  fence_imm: IPMITOOL,
  fence_intelmodular: SNMP_GUESS,
  fence_ipdu: SNMP_GUESS,
  fence_ipmilan: IPMITOOL,
  fence_ipmilanplus: IPMITOOL,
  fence_kubevirt: { off: ABSENT },
  fence_lindypdu: COMMUNITY,
  fence_lpar: { off: 'it calls every state but the known ones off' },
  fence_mpath: { off: 'a key that never was there reads as revoked' },
  fence_openstack: { off: 'it believes what Nova remembers of a server whose hypervisor does not answer' },
  fence_pve: { off: HIBERNATED },
  fence_redfish: { off: 'it takes the last of several systems when systems_uri is not given' },
  fence_rhevm: { off: 'it calls a machine off when the answer names no state' },
  fence_sanbox2: { off: 'it reads how the port is configured, not whether anything still passes it' },
  fence_sbd: { off: 'it calls a machine off once the message to switch off lies in its slot' },
  fence_scsi: { off: 'a key that never was there reads as revoked' },
  fence_skalar: { off: 'it calls a machine off that is suspended, starting, or on a lost host' },
  fence_tripplite_snmp: SNMP_GUESS,
  fence_virsh: { off: 'it calls every state but the known ones off, also pmsuspended and in shutdown' },
  fence_vbox: { off: 'it calls a machine off that is not in the list of running ones, also when there was no list' },
  fence_vmware: { off: `${SUSPENDED}, and one that is not in the list`, secrets: 'it gives the password to a helper on its command line' },
  fence_vmware_rest: { off: SUSPENDED },
  fence_vmware_soap: { off: NOT_ON_IS_OFF },
  fence_vmware_vcloud: { off: SUSPENDED },
  fence_wti: { off: 'it calls a group of outlets off in which it read no outlet, or none that is on' },
  fence_zvmip: { off: ABSENT },
};

/** Programs that faults are known of. */
export const FAULTY_PROGRAMS: readonly string[] = Object.keys(FAULTS).sort();

/** Empty where nothing is known against it. */
export function knownFaults(program: string): KnownFaults {
  return Object.hasOwn(FAULTS, program) ? (FAULTS[program] ?? {}) : {};
}
