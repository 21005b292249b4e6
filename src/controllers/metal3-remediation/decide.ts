import { hostKeyOf, unmanagedBecause } from '../shared/baremetal-host/host.ts';
import type { HostFacts } from '../shared/baremetal-host/host.ts';
import { contradictionOf } from '../shared/baremetal-host/identity.ts';
import type { OwnerMachine } from '../shared/remediation/owner-machine.ts';
import type { Decision, Step } from './actions.ts';
import { ending } from './ending.ts';
import { holdKeyOf, SHORT_POLL_MS } from './names.ts';
import { running } from './running.ts';
import { hasFinalizer, isOverWithoutNode, situationOf } from './situation.ts';
import type { Situation } from './situation.ts';
import type { Snapshot } from './snapshot.ts';
import { setStatus, wait, wayBack } from './steps.ts';
import { waiting } from './waiting.ts';
import { leftOff } from '../shared/reconciler/left-off.ts';

export const NO_OWNER = "metal3Remediation's owner Machine not set";

/** Everything about one Metal3Remediation; see Snapshot and Decision. Pure: a crash between any two actions is nothing special. */
export function decide(snapshot: Snapshot): Decision {
  const { remediation, nowMs } = snapshot;
  const step = stepOf(snapshot);
  const about = `Metal3Remediation ${remediation.namespace}/${remediation.name}`;
  const told = [...remediation.problems, ...unreadNode(snapshot), ...(step.problem === undefined ? [] : [step.problem])];
  return {
    actions: step.actions ?? [],
    problems: told.map((problem) => `${about}: ${problem}`),
    holdsNode: snapshot.takenBy === undefined && isUnderWay(snapshot),
    ...(step.dueInMs !== undefined && { nextDueMs: nowMs + step.dueInMs }),
  };
}

function unreadNode({ node, machine }: Snapshot): string[] {
  if (node !== 'forbidden') return [];
  const name = machine === 'gone' ? '' : (machine.nodeName ?? '');
  return [
    `the kubeconfig of its cluster does not allow to read node ${name}: its host is power-cycled alone, and nothing of its workload is released`,
  ];
}

/** Its host: Metal3 looks in the Metal3Machine's own namespace alone, whatever the annotation says. */
export function hostNameOf(annotation: string | undefined, namespace: string): { namespace: string; name: string } | undefined {
  const key = hostKeyOf(annotation, namespace);
  return key === undefined ? undefined : { namespace, name: key.name };
}

function isUnderWay({ remediation, machine }: Snapshot): boolean {
  if (hasFinalizer(remediation)) return true;
  return (
    machine !== 'gone' &&
    !remediation.isDeleting &&
    remediation.settings.type === 'Reboot' &&
    (remediation.phase === '' || remediation.phase === 'Running')
  );
}

function stepOf(snapshot: Snapshot): Step {
  const { remediation, machine, host, infrastructure, node, takenBy } = snapshot;
  if (remediation.isPaused || (machine !== 'gone' && machine.isPaused)) return { problem: pausedWords(snapshot) };
  if (!remediation.hasOwner) return remediation.isDeleting ? ending(snapshot) : { problem: NO_OWNER };
  if (takenBy !== undefined && !isOverWithoutNode(snapshot)) return wait(`its node is left alone: ${takenBy}`);
  if (machine === 'gone' || remediation.isDeleting) return ending(snapshot);
  if (remediation.phase === 'Deleting machine') return wayBack(snapshot, host);
  if (host === undefined) return remediation.phase === 'Failed' ? {} : wait(hostMissing(snapshot));
  const consumer = { kind: 'Metal3Machine', namespace: infrastructure?.namespace ?? host.namespace, name: infrastructure?.name ?? '' };
  const contradiction = contradictionOf(host, { consumer, providerID: typeof node === 'object' ? node.providerID : undefined });
  if (contradiction !== undefined) return letGo(snapshot, host, contradiction);
  return byPhase(situationOf(snapshot, machine, host));
}

/** What is ours goes, by whatever host it stands: none is left off, and nothing more is done. */
function letGo(snapshot: Snapshot, host: HostFacts, contradiction: string): Step {
  return { ...wait(`nothing is done: ${contradiction}`), ...wayBack(snapshot, host) };
}

/** Only whoever paused it brings its host back. */
function pausedWords({ remediation, host }: Snapshot): string {
  const isHeld = host?.annotations[holdKeyOf(remediation.uid)] !== undefined;
  return isHeld ? leftOff(`it is paused, and BareMetalHost ${host.name} is held off`) : 'it is paused';
}

/** A Machine that is being taken down loses the one before the other. */
function hostMissing({ infrastructure }: Snapshot): string {
  return infrastructure === undefined ? 'its Metal3Machine, which names the host, is not found' : 'its BareMetalHost is not found';
}

function byPhase(situation: Situation): Step {
  const { snapshot, remediation, host } = situation;
  if (remediation.phase === 'Failed') return wayBack(snapshot, host);
  if (!host.isOnline || host.neverOff) {
    const message = unmanagedBecause(host) ?? '';
    return { actions: [setStatus(remediation, { phase: 'Failed' }, { type: 'Warning', reason: 'RemediationFailed', message })] };
  }
  if (remediation.settings.type !== 'Reboot') return {};
  switch (remediation.phase) {
    case 'Running':
      return running(situation);
    case 'Waiting':
      return waiting(situation);
    default:
      return beginning(snapshot, situation.machine);
  }
}

/** The first cycle. */
export function beginning({ remediation, nowMs }: Snapshot, machine: OwnerMachine): Step {
  const event = { type: 'Normal', reason: 'RemediationStarted', message: `machine ${machine.name} is power-cycled` } as const;
  return { actions: [setStatus(remediation, { phase: 'Running', lastRemediatedMs: nowMs }, event)], dueInMs: SHORT_POLL_MS };
}
