import { hostKeyOf, HOST_ANNOTATION } from '../shared/baremetal-host/host.ts';
import { contradictionOf } from '../shared/baremetal-host/identity.ts';
import type { Decision, Step } from './actions.ts';
import { isOurs, takeBack } from './detach.ts';
import { byIncident } from './incident.ts';
import { GAVE_UP, HOLD, MARKS, REQUEST } from './names.ts';
import { bySeedTable } from './seed-table.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';
import { situationOf } from './situation.ts';
import { powerOn, wait } from './steps.ts';
import { leftOff } from '../shared/reconciler/left-off.ts';

/** Everything about one Machine; see Snapshot and Decision. Pure: what is to be done is read off the objects each time, so a crash is nothing special. */
export function decide(snapshot: Snapshot): Decision {
  const { machine, host, leftHost, nowMs } = snapshot;
  const isHeld = (host ?? leftHost)?.annotations[HOLD] !== undefined;
  const step = machine === undefined ? orphan(snapshot) : guarded(snapshot, machine, isHeld);
  const about = machine === undefined ? `BareMetalHost ${host?.namespace ?? ''}/${host?.name ?? ''}` : `Machine ${machine.namespace}/${machine.name}`;
  const isUnderWay = isHeld || (machine !== undefined && machine.annotations[GAVE_UP] === undefined && isMarked(machine));
  return {
    actions: step.actions ?? [],
    phase: step.phase,
    problems: step.problem === undefined ? [] : [`${about}: ${step.problem}`],
    holdsNode: isUnderWay && snapshot.takenBy === undefined,
    ...(step.dueInMs !== undefined && { nextDueMs: nowMs + step.dueInMs }),
  };
}

/** The host that a Machine names: OpenShift by its own annotation, metal3 by that of its Metal3Machine. */
export function hostKeyOfMachine({ annotations, namespace, infrastructure }: MachineFacts): ReturnType<typeof hostKeyOf> {
  return hostKeyOf((infrastructure?.annotations ?? annotations)[HOST_ANNOTATION], namespace);
}

function isMarked({ annotations }: MachineFacts): boolean {
  return MARKS.some((key) => annotations[key] !== undefined);
}

/** Its Machine is gone: the host is not left off. */
function orphan(snapshot: Snapshot): Step {
  const { host, node, takenBy } = snapshot;
  if (host?.annotations[HOLD] === undefined) return { phase: 'idle' };
  if (takenBy !== undefined) return leaveAlone(takenBy, true);
  const back = takeBack(node, undefined);
  if (back !== undefined) return back;
  return powerOn({ host, snapshot }, [], 'PowerOnRequested');
}

/** What comes before any rule, in both modes. */
function guarded(snapshot: Snapshot, machine: MachineFacts, isHeld: boolean): Step {
  const { host, leftHost, node, settings, takenBy } = snapshot;
  if (!isHeld && !isMarked(machine) && (node === undefined || !isOurs(node))) return { phase: 'idle' };
  if (takenBy !== undefined) return leaveAlone(takenBy, isHeld);
  if (machine.isPaused) return { phase: 'waiting', problem: isHeld ? leftOff('it is paused, and its host is held off') : 'it is paused' };
  if (host === undefined) {
    const back = takeBack(node, undefined);
    if (back !== undefined) return back;
    if (leftHost !== undefined && isHeld) return powerOn({ host: leftHost, snapshot }, [], 'PowerOnRequested');
    return machine.annotations[REQUEST] === undefined ? { phase: 'idle' } : wait('waiting', 'its BareMetalHost is not found');
  }
  const { infrastructure, namespace, name } = machine;
  const consumer = { namespace, kind: infrastructure?.kind ?? 'Machine', name: infrastructure?.name ?? name };
  const contradiction = contradictionOf(host, { consumer, providerID: node?.providerID });
  if (contradiction !== undefined) {
    if (!isHeld) return wait('waiting', `nothing is done: ${contradiction}`);
    // The hold may be that of another Machine, whose host it is by now.
    const isAnothers = host.consumer !== undefined && contradictionOf(host, { consumer }) !== undefined;
    if (isAnothers) return wait('waiting', leftOff(`BareMetalHost ${host.name} is held off, and nothing is done: ${contradiction}`));
    return takeBack(node, undefined) ?? powerOn({ host, snapshot }, [], 'PowerOnRequested');
  }
  const situation = situationOf(snapshot, machine, host);
  const back = takeBack(node, situation);
  if (back !== undefined) return back;
  return settings.mode === 'seed-table' ? bySeedTable(situation) : byIncident(situation);
}

function leaveAlone(takenBy: string, isHeld: boolean): Step {
  const alone = `its node is left alone: ${takenBy}`;
  return wait('waiting', isHeld ? leftOff(`its host is held off, and ${alone}`) : alone);
}
