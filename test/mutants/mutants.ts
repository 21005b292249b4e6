import { ADDRESS_MUTANTS } from './address-mutants.ts';
import { AUTOMATON_MUTANTS } from './automaton-mutants.ts';
import { CLAIM_MUTANTS } from './claim-mutants.ts';
import { CLUSTER_MUTANTS } from './cluster-mutants.ts';
import { CLIENT_MUTANTS } from './client-mutants.ts';
import { DEVICE_MUTANTS } from './device-mutants.ts';
import { EPOCH_MUTANTS } from './epoch-mutants.ts';
import { KDUMP_MUTANTS } from './kdump-mutants.ts';
import { PROBLEM_MUTANTS } from './problem-mutants.ts';
import { KUBE_MUTANTS } from './kube-mutants.ts';
import { LAST_STEP_MUTANTS } from './last-step-mutants.ts';
import { LEFT_OPEN_MUTANTS } from './left-open-mutants.ts';
import { LEVEL_MUTANTS } from './level-mutants.ts';
import { PLAN_MUTANTS } from './plan-mutants.ts';
import { PRESERVATION_MUTANTS } from './preservation-mutants.ts';
import { PROTOBUF_MUTANTS } from './protobuf-mutants.ts';
import { PROGRAM_MUTANTS } from './program-mutants.ts';
import { RELEASE_MUTANTS } from './release-mutants.ts';
import { LET_GO_MUTANTS } from './let-go-mutants.ts';
import { OVER_MUTANTS } from './over-mutants.ts';
import { REMOVED_BY_FORCE_MUTANTS } from './removed-by-force-mutants.ts';
import { RUNNING_MUTANTS } from './running-mutants.ts';
import { TAINT_MUTANTS } from './taint-mutants.ts';
import { RESTORED_MUTANTS } from './restored-mutants.ts';
import { REMEDIATION_MUTANTS } from './remediation-mutants.ts';
import { SELF_CHECK_MUTANTS } from './self-check-mutants.ts';
import { SHELL_MUTANTS } from './shell-mutants.ts';
import { DISPATCH_MUTANTS } from './dispatch-mutants.ts';
import { DELETION_MUTANTS } from './deletion-mutants.ts';
import { CONFIG_MUTANTS } from './config-mutants.ts';
import { SECONDARY_CONTROLLER_MUTANTS } from './secondary-controller-mutants.ts';
import { NODE_REMEDIATION_MUTANTS } from './node-remediation-mutants.ts';
import { PROBE_MUTANTS } from './probe-mutants.ts';
import { SELF_CHECK_ANSWER_MUTANTS } from './self-check-answer-mutants.ts';
import { METAL3_REMEDIATION_MUTANTS } from './metal3-remediation-mutants.ts';
import { MACHINE_REMEDIATION_MUTANTS } from './machine-remediation-mutants.ts';
import { MACHINE_HEALTH_CHECK_MUTANTS } from './machine-health-check-mutants.ts';
import { PRESERVING_MUTANTS } from './preserving-mutants.ts';
import { SENT_OFF_MUTANTS } from './sent-off-mutants.ts';
import { KEPT_OFF_MUTANTS } from './kept-off-mutants.ts';
import { FIRST_TRUST_MUTANTS } from './first-trust-mutants.ts';
import { FOUND_WELL_MUTANTS } from './found-well-mutants.ts';
import { STORAGE_LEASE_MUTANTS } from './storage-lease-mutants.ts';
import { STORAGE_MUTANTS } from './storage-mutants.ts';
import { STORAGE_OPENING_MUTANTS } from './storage-opening-mutants.ts';
import { STORAGE_REACHABLE_MUTANTS } from './storage-reachable-mutants.ts';
import { SCSI_MUTANTS } from './scsi-mutants.ts';
import { SSH_MUTANTS } from './ssh-mutants.ts';
import { SHARED_AGENT_MUTANTS } from './shared-agent-mutants.ts';
import { CLUSTER_AGENT_MUTANTS } from './cluster-agent-mutants.ts';
import { CEPH_MUTANTS } from './ceph-mutants.ts';
import { AWS_MUTANTS } from './aws-mutants.ts';
import { AWS_SECURITY_GROUP_MUTANTS } from './aws-security-group-mutants.ts';
import { AWS_VOLUME_MUTANTS } from './aws-volume-mutants.ts';
import { AZURE_MUTANTS } from './azure-mutants.ts';
import { HETZNER_MUTANTS } from './hetzner-mutants.ts';
import { OPENSTACK_MUTANTS } from './openstack-mutants.ts';
import { OVIRT_MUTANTS } from './ovirt-mutants.ts';
import { PROXMOX_MUTANTS } from './proxmox-mutants.ts';
import { VSPHERE_MUTANTS } from './vsphere-mutants.ts';
import { GCE_MUTANTS } from './gce-mutants.ts';
import { KUBEVIRT_MUTANTS } from './kubevirt-mutants.ts';
import { METAL3_MUTANTS } from './metal3-mutants.ts';
import { ETHERNET_SWITCH_MUTANTS } from './ethernet-switch-mutants.ts';
import { FC_SWITCH_MUTANTS } from './fc-switch-mutants.ts';
import { EXEC_MUTANTS } from './exec-mutants.ts';
import { NODE_DAEMON_CONTROLLER_MUTANTS } from './node-daemon-controller-mutants.ts';
import { CONNECTION_MUTANTS } from './connection-mutants.ts';
import { DAEMON_STRANGER_MUTANTS } from './daemon-stranger-mutants.ts';
import { NODE_DAEMON_MUTANTS } from './node-daemon-mutants.ts';
import { NODE_ORDER_MUTANTS } from './node-order-mutants.ts';
import { NODE_CHECK_MUTANTS } from './node-check-mutants.ts';
import { UNFENCE_MUTANTS } from './unfence-mutants.ts';
import { WATCHDOG_MUTANTS } from './watchdog-mutants.ts';
import { ACK_MUTANTS } from './ack-mutants.ts';
import { OUTLET_MUTANTS } from './outlet-mutants.ts';
import { REDFISH_MUTANTS } from './redfish-mutants.ts';
import { IPMI_MUTANTS } from './ipmi-mutants.ts';
import { JOB_MUTANTS } from './job-mutants.ts';
import { REMEDY_DECISION_MUTANTS } from './remedy-decision-mutants.ts';
import { REMEDY_CONTROLLER_MUTANTS } from './remedy-controller-mutants.ts';
import { REMEDY_MUTANTS } from './remedy-mutants.ts';
import { REMEDY_WORLD_MUTANTS } from './remedy-world-mutants.ts';
import { PDU_MUTANTS } from './pdu-mutants.ts';
import type { SourceMutant } from './source-mutant.ts';
import { SIMULATED_DAEMON_MUTANTS } from './simulated-daemon-mutants.ts';
import { STORM_MUTANTS } from './storm-mutants.ts';

export const SOURCE_MUTANTS: readonly SourceMutant[] = [
  ...AUTOMATON_MUTANTS,
  ...DEVICE_MUTANTS,
  ...SHELL_MUTANTS,
  ...RELEASE_MUTANTS,
  ...STORAGE_OPENING_MUTANTS,
  ...LET_GO_MUTANTS,
  ...OVER_MUTANTS,
  ...REMOVED_BY_FORCE_MUTANTS,
  ...RUNNING_MUTANTS,
  ...TAINT_MUTANTS,
  ...RESTORED_MUTANTS,
  ...STORM_MUTANTS,
  ...CLAIM_MUTANTS,
  ...LAST_STEP_MUTANTS,
  ...LEFT_OPEN_MUTANTS,
  ...LEVEL_MUTANTS,
  ...EPOCH_MUTANTS,
  ...PLAN_MUTANTS,
  ...PRESERVATION_MUTANTS,
  ...PROGRAM_MUTANTS,
  ...ADDRESS_MUTANTS,
  ...FIRST_TRUST_MUTANTS,
  ...CLIENT_MUTANTS,
  ...CONNECTION_MUTANTS,
  ...CLUSTER_MUTANTS,
  ...SELF_CHECK_MUTANTS,
  ...REMEDIATION_MUTANTS,
  ...KDUMP_MUTANTS,
  ...PROBLEM_MUTANTS,
  ...KUBE_MUTANTS,
  ...PROTOBUF_MUTANTS,
  ...DISPATCH_MUTANTS,
  ...CONFIG_MUTANTS,
  ...SECONDARY_CONTROLLER_MUTANTS,
  ...NODE_REMEDIATION_MUTANTS,
  ...PROBE_MUTANTS,
  ...SELF_CHECK_ANSWER_MUTANTS,
  ...METAL3_REMEDIATION_MUTANTS,
  ...KEPT_OFF_MUTANTS,
  ...SENT_OFF_MUTANTS,
  ...MACHINE_REMEDIATION_MUTANTS,
  ...MACHINE_HEALTH_CHECK_MUTANTS,
  ...PRESERVING_MUTANTS,
  ...STORAGE_MUTANTS,
  ...SCSI_MUTANTS,
  ...SSH_MUTANTS,
  ...SHARED_AGENT_MUTANTS,
  ...CLUSTER_AGENT_MUTANTS,
  ...CEPH_MUTANTS,
  ...AWS_MUTANTS,
  ...AWS_SECURITY_GROUP_MUTANTS,
  ...AWS_VOLUME_MUTANTS,
  ...DELETION_MUTANTS,
  ...AZURE_MUTANTS,
  ...OPENSTACK_MUTANTS,
  ...OVIRT_MUTANTS,
  ...PROXMOX_MUTANTS,
  ...HETZNER_MUTANTS,
  ...VSPHERE_MUTANTS,
  ...GCE_MUTANTS,
  ...KUBEVIRT_MUTANTS,
  ...METAL3_MUTANTS,
  ...ETHERNET_SWITCH_MUTANTS,
  ...FC_SWITCH_MUTANTS,
  ...EXEC_MUTANTS,
  ...NODE_DAEMON_MUTANTS,
  ...DAEMON_STRANGER_MUTANTS,
  ...NODE_ORDER_MUTANTS,
  ...NODE_CHECK_MUTANTS,
  ...STORAGE_LEASE_MUTANTS,
  ...STORAGE_REACHABLE_MUTANTS,
  ...FOUND_WELL_MUTANTS,
  ...NODE_DAEMON_CONTROLLER_MUTANTS,
  ...WATCHDOG_MUTANTS,
  ...UNFENCE_MUTANTS,
  ...ACK_MUTANTS,
  ...OUTLET_MUTANTS,
  ...REDFISH_MUTANTS,
  ...IPMI_MUTANTS,
  ...JOB_MUTANTS,
  ...REMEDY_DECISION_MUTANTS,
  ...REMEDY_MUTANTS,
  ...REMEDY_CONTROLLER_MUTANTS,
  ...REMEDY_WORLD_MUTANTS,
  ...PDU_MUTANTS,
  ...SIMULATED_DAEMON_MUTANTS,
];

/** Names the mutant that a process is to load instead of the sound core; absent: none. */
export const MUTANT_VARIABLE = 'NODEFENCE_MUTANT';

export function mutantNamed(name: string): SourceMutant {
  const found = SOURCE_MUTANTS.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`there is no mutant ${JSON.stringify(name)} in test/mutants`);
  return found;
}
