import type { ActionEvent, Annotate, HoldFact } from '../remediation/actions.ts';
import type { HostFacts } from './host.ts';
import { letOn } from './reboot.ts';

export const OWN_NODE_REASON = 'own-node';

/** This controller runs on the node of the host. */
export function runsHere(holds: readonly HoldFact[]): boolean {
  return holds.some(({ reason }) => reason === OWN_NODE_REASON);
}

/** For a host that `runsHere` and is not proven off: a node on which the leader runs is not dead, and a late off would take the leader with it. */
export function withdrawOff(host: HostFacts, key: string): Annotate & { event: ActionEvent } {
  const message = `BareMetalHost ${host.name} is not to be switched off: the controller that leads now runs on it`;
  return { ...letOn(host, key), event: { type: 'Normal', reason: 'PowerOffWithdrawn', message } };
}
