import { powerOf } from '../shared/baremetal-host/off-proof.ts';
import type { HostPower } from '../shared/baremetal-host/off-proof.ts';
import type { HostFacts } from '../shared/baremetal-host/host.ts';
import { wasOn } from '../shared/baremetal-host/reboot.ts';
import type { ObjectRef } from '../shared/remediation/actions.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import { GAVE_UP, HOLD, POWERED_OFF, REQUEST } from './names.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';

/** A Machine with its host: what the rules look at. */
export interface Situation {
  snapshot: Snapshot;
  machine: MachineFacts;
  host: HostFacts;
  node: NodeFacts | undefined;
  /** The request stands on the Machine. */
  isAsked: boolean;
  /** Our reboot annotation stands on the host. */
  isHeld: boolean;
  /** The mark of this incident: proven off, Node gone. */
  isMarked: boolean;
  gaveUp: string | undefined;
  power: HostPower;
  /** Our hold stands for longer than an off may take. */
  isOffOverdue: boolean;
}

export function situationOf(snapshot: Snapshot, machine: MachineFacts, host: HostFacts): Situation {
  const { node, monotonicMs, settings } = snapshot;
  // The table sets its hold on hosts alone that are on, under their resourceVersion: that it stands is the record.
  const hasBeenOn = wasOn(host, HOLD) ?? (settings.mode === 'seed-table' ? true : undefined);
  return {
    snapshot,
    machine,
    host,
    node,
    isAsked: machine.annotations[REQUEST] !== undefined,
    isHeld: host.annotations[HOLD] !== undefined,
    isMarked: machine.annotations[POWERED_OFF] !== undefined,
    gaveUp: machine.annotations[GAVE_UP],
    power: powerOf(host, { wasOn: hasBeenOn, monotonicMs, lifeSeenMs: node?.lifeSeenMs }),
    isOffOverdue: isOffOverdue(snapshot, host),
  };
}

function isOffOverdue({ monotonicMs, settings, hostsFreshSinceMs = 0 }: Snapshot, { holdSeenMs }: HostFacts): boolean {
  return holdSeenMs !== undefined && monotonicMs - Math.max(holdSeenMs, hostsFreshSinceMs) >= settings.powerOffTimeoutMs;
}

/** It is off for us, or goes off: storm policies count it. One that does not obey for longer than an off may take keeps nobody else waiting, as a fence that failed. */
export function isSwitchedOff(snapshot: Snapshot): boolean {
  const { host } = snapshot;
  return host?.annotations[HOLD] !== undefined && !(host.power?.isOn === true && isOffOverdue(snapshot, host));
}

export function machineRef({ apiVersion, name, namespace, uid }: MachineFacts): ObjectRef {
  return { apiVersion, kind: 'Machine', name, namespace, uid };
}
