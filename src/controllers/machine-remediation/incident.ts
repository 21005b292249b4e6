import { troubleOf } from '../shared/baremetal-host/host.ts';
import { backupChanges, hasBackup, lostEvent, restoreNode } from '../shared/baremetal-host/node-backup.ts';
import { keptBecause, wasOn } from '../shared/baremetal-host/reboot.ts';
import { timeOf, timeText } from '../shared/remediation/actions.ts';
import type { Step } from './actions.ts';
import { detach, mustDetach } from './detach.ts';
import { GAVE_UP, HOLD, MARKS, POLL_MS, POWERED_OFF, REQUEST, TIMES_OUT_AT } from './names.ts';
import { canReprovision, isDeadlineUnobserved, isPowerOnTimedOut, mayTakeForever, powerOnTimeoutMs } from './reprovision.ts';
import { cleared, deleteMachine, deleteNode, mark, mustWithdraw, powerOff, powerOn, unlessHeld, wait, withdraw } from './steps.ts';
import { machineRef } from './situation.ts';
import type { Situation } from './situation.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';

/** One row: the first that applies is done. The words are those of docs/machine-remediation.md. */
export interface Rule {
  when: string;
  then: string;
  applies: (situation: Situation) => boolean;
  step: (situation: Situation) => Step;
}

const GONE: readonly Rule[] = [
  {
    when: 'Machine is being deleted, hold set',
    then: 'remove the hold: whoever deletes it needs its power',
    applies: ({ machine, isHeld }) => machine.isDeleting && isHeld,
    step: (situation) => powerOn(situation, [], 'PowerOnRequested'),
  },
  { when: 'Machine is being deleted', then: 'nothing', applies: ({ machine }) => machine.isDeleting, step: () => ({ phase: 'idle' }) },
  {
    when: 'gave up, hold set',
    then: 'remove the hold: no host is left off',
    applies: ({ gaveUp, isHeld }) => gaveUp !== undefined && isHeld,
    step: (situation) => powerOn(situation, [], 'PowerOnRequested'),
  },
  {
    when: 'gave up, still asked',
    then: 'nothing; report it',
    applies: ({ gaveUp, isAsked }) => gaveUp !== undefined && isAsked,
    step: ({ gaveUp = '' }) => ({ phase: 'gave-up', problem: `${gaveUp}; take ${REQUEST} away to let it be tried again` }),
  },
  {
    when: 'gave up, asked no more',
    then: 'remove the mark',
    applies: ({ gaveUp }) => gaveUp !== undefined,
    step: (situation) => ({ phase: 'idle', actions: [mark(situation, { [GAVE_UP]: undefined })] }),
  },
];

const RETURN: readonly Rule[] = [
  {
    when: 'proven off and marked, hold set',
    then: 'write until when the Node may take, remove the hold',
    applies: ({ isMarked, isHeld }) => isMarked && isHeld,
    step: (situation) => {
      const { machine, snapshot } = situation;
      const stands = timeOf(machine.annotations[TIMES_OUT_AT]) !== undefined;
      return powerOn(situation, stands ? [] : [deadline(snapshot.nowMs, situation)], 'PowerOnRequested');
    },
  },
  {
    when: 'marked or asked no more, Node is there and lacks what was kept',
    then: 'restore its labels and annotations; those that it has already win',
    applies: ({ isMarked, isAsked, isHeld, node, machine }) =>
      (isMarked || !isAsked) && !isHeld && node !== undefined && restoreNode(machine.annotations, node) !== undefined,
    step: ({ machine, node }) => {
      const restore = node === undefined ? undefined : restoreNode(machine.annotations, node);
      return { phase: 'waiting-for-node', actions: restore === undefined ? [] : [restore] };
    },
  },
  {
    when: 'marked, Node is there',
    then: 'remove request, mark, deadline and what was kept, in one write',
    applies: ({ isMarked, isHeld, node }) => isMarked && !isHeld && node !== undefined,
    step: (situation) => {
      const back = { type: 'Normal', reason: 'Remediated', message: `node ${situation.node?.name ?? ''} is back` } as const;
      const event = lostEvent(situation.machine.annotations) ?? back;
      return { phase: 'idle', actions: [mark(situation, cleared(situation.machine.annotations, MARKS), event)] };
    },
  },
  {
    when: 'marked, Node is not back, somebody else keeps its host off, or told the operator to leave it alone',
    then: 'remove the deadline, and report it: its time begins when that is over',
    applies: ({ isMarked, host }) => isMarked && keptBecause(host, HOLD) !== undefined,
    step: (situation) => {
      const { machine, host } = situation;
      const kept = wait('waiting-for-node', `BareMetalHost ${host.name} is waited for: ${keptBecause(host, HOLD) ?? ''}`);
      return machine.annotations[TIMES_OUT_AT] === undefined ? kept : { ...kept, actions: [mark(situation, { [TIMES_OUT_AT]: undefined })] };
    },
  },
  {
    when: 'marked, Node is not back, no readable deadline',
    then: 'write it',
    applies: ({ isMarked, machine }) => isMarked && timeOf(machine.annotations[TIMES_OUT_AT]) === undefined,
    step: (situation) => ({ phase: 'waiting-for-node', actions: [deadline(situation.snapshot.nowMs, situation)], dueInMs: POLL_MS }),
  },
  {
    when: 'marked, Node is not back, part of its time was not observed (an outage of the API server, a restart)',
    then: 'write the deadline again',
    applies: (situation) => situation.isMarked && isTimeUnobserved(situation),
    step: (situation) => ({ phase: 'waiting-for-node', actions: [deadline(situation.snapshot.nodesFreshSinceMs ?? 0, situation)], dueInMs: POLL_MS }),
  },
  {
    when: 'marked, Node is not back in time, asked no more',
    then: 'remove mark and deadline; what was kept waits for the Node',
    applies: ({ isMarked, isAsked, machine, snapshot }) => isMarked && !isAsked && isNodeLate(machine, snapshot),
    step: (situation) => ({ phase: 'idle', actions: [mark(situation, { [POWERED_OFF]: undefined, [TIMES_OUT_AT]: undefined })] }),
  },
  {
    when: 'marked, Node is not back in time, Machine may be replaced (controller owns it, no control plane, not externally provisioned, nodeStartupTimeout not 0)',
    then: 'delete the Machine',
    applies: ({ isMarked, machine, host, snapshot }) =>
      isMarked && isNodeLate(machine, snapshot) && canReprovision(machine, host) && !mayTakeForever(machine, snapshot.healthChecks),
    step: (situation) => deleteMachine(situation),
  },
  {
    when: 'marked, Node is not back',
    then: 'wait, whoever requests it again; report it after the deadline',
    applies: ({ isMarked }) => isMarked,
    step: ({ machine, snapshot }) => {
      const isLate = isNodeLate(machine, snapshot);
      return wait('waiting-for-node', isLate ? 'its node did not come back in time, and the Machine may not be replaced' : undefined);
    },
  },
];

const CANCELLED: readonly Rule[] = [
  {
    when: 'asked no more, hold set',
    then: 'remove the hold',
    applies: ({ isAsked, isHeld }) => !isAsked && isHeld,
    step: (situation) => powerOn(situation, [], situation.power.state === 'off' ? 'PowerOnRequested' : 'RemediationCancelled'),
  },
  {
    when: 'asked no more, Node is there, something was kept',
    then: 'remove what was kept',
    applies: ({ isAsked, node, machine }) => !isAsked && node !== undefined && hasBackup(machine.annotations),
    step: (situation) => {
      const actions = [mark(situation, cleared(situation.machine.annotations, MARKS), lostEvent(situation.machine.annotations))];
      return { phase: 'idle', actions };
    },
  },
  { when: 'not asked', then: 'nothing', applies: ({ isAsked }) => !isAsked, step: () => ({ phase: 'idle' }) },
];

const OFF: readonly Rule[] = [
  {
    when: 'asked, no hold, a NodeFence has brought the Node back since',
    then: 'remove the request: it is not switched off twice for one failure',
    applies: ({ isHeld, snapshot }) => !isHeld && snapshot.recoveredBy !== undefined,
    step: (situation) => {
      const event = {
        type: 'Normal',
        reason: 'Remediated',
        message: `its node was brought back by ${situation.snapshot.recoveredBy ?? ''}`,
      } as const;
      return { phase: 'idle', actions: [mark(situation, cleared(situation.machine.annotations, MARKS), event)] };
    },
  },
  {
    when: 'asked, hold set without a record of what the host showed (mode seed-table has set it)',
    then: 'remove it: its off can not be proven; request it again once the host is on',
    applies: ({ isHeld, host }) => isHeld && wasOn(host, HOLD) === undefined,
    step: (situation) => powerOn(situation, [], 'PowerOnRequested'),
  },
  {
    when: 'asked, no hold, host on (or the BMC can be read by us)',
    then: 'set the hold, hard, with a record of what the host showed',
    applies: ({ isHeld, host, snapshot }) => !isHeld && (host.power?.isOn === true || snapshot.settings.canReadBmc),
    step: (situation) => powerOff(situation),
  },
  {
    when: 'asked, no hold, host not on',
    then: 'wait: an off that was there before can not be proven, the operator switches it on first',
    applies: ({ isHeld }) => !isHeld,
    step: ({ host }) => wait('waiting', `BareMetalHost ${host.name} is not on, and it is unknown since when: it is power-cycled once it is on`),
  },
  {
    when: 'asked, hold set, not proven off, this controller runs on the node',
    then: 'remove the hold: a leader does not let its own node be switched off',
    applies: mustWithdraw,
    step: withdraw,
  },
  {
    when: 'hold set, not proven off in time, and it never will be (reads off, unproven or contradicted)',
    then: 'mark that it is given up, then remove the hold',
    applies: ({ isOffOverdue, power }) => isOffOverdue && (power.state === 'unproven' || power.state === 'contradicted'),
    step: (situation) => {
      const why = 'why' in situation.power ? situation.power.why : '';
      const event = { type: 'Warning', reason: 'PowerOffUnproven', message: why } as const;
      return { phase: 'gave-up', actions: [mark(situation, { [GAVE_UP]: why }, event)] };
    },
  },
  {
    when: 'hold set, not proven off',
    then: 'wait; report it when it takes too long',
    applies: ({ power }) => power.state !== 'off',
    step: ({ power, isOffOverdue, host }) => {
      const trouble = troubleOf(host);
      const why = 'why' in power ? power.why : ['it is still on', ...(trouble === undefined ? [] : [trouble])].join(', ');
      const isReported = isOffOverdue || power.state !== 'on' || trouble !== undefined;
      return wait('powering-off', isReported ? `BareMetalHost ${host.name} is not proven off: ${why}` : undefined);
    },
  },
  {
    when: 'proven off, Node is there, its labels and annotations are not kept yet',
    then: 'keep them on the Machine',
    applies: ({ node, machine }) => node !== undefined && backupChanges(machine.annotations, node).length > 0,
    step: ({ node, machine }) => {
      const changes = node === undefined ? [] : backupChanges(machine.annotations, node);
      const event = lostEvent(machine.annotations);
      return { phase: 'deleting-node', actions: [{ kind: 'annotate', target: machineRef(machine), changes, ...(event !== undefined && { event }) }] };
    },
  },
  {
    when: 'proven off, Node is there with volumes attached, its cluster knows the out-of-service taint',
    then: 'set it, and wait until they are detached, two minutes at most',
    applies: (situation) => mustDetach(situation),
    step: (situation) => {
      const { node, power } = situation;
      return node === undefined || power.state !== 'off' ? { phase: 'deleting-node' } : unlessHeld(situation, detach(situation, node, power.proof));
    },
  },
  {
    when: 'proven off, Node is there',
    then: 'delete the Node',
    applies: ({ node, power }) => node !== undefined && power.state === 'off',
    step: (situation) => {
      const { node, power } = situation;
      return node === undefined || power.state !== 'off' ? { phase: 'deleting-node' } : deleteNode(situation, node, power.proof);
    },
  },
  {
    when: 'proven off, no Node',
    then: 'set the mark of the incident',
    applies: ({ power }) => power.state === 'off',
    step: (situation) => ({ phase: 'powering-on', actions: [mark(situation, { [POWERED_OFF]: timeText(situation.snapshot.nowMs) })] }),
  },
];

/** `mode: incident`, in order. The request goes last, so that what a health check writes during the boot changes nothing. */
export const RULES: readonly Rule[] = [...GONE, ...RETURN, ...CANCELLED, ...OFF];

export function byIncident(situation: Situation): Step {
  return RULES.find(({ applies }) => applies(situation))?.step(situation) ?? { phase: 'idle' };
}

function isTimeUnobserved({ machine, snapshot: { healthChecks, nodesFreshSinceMs } }: Situation): boolean {
  return isDeadlineUnobserved(machine.annotations, powerOnTimeoutMs(machine, healthChecks), nodesFreshSinceMs);
}

function isNodeLate({ annotations }: MachineFacts, { timesOutMs, monotonicMs, nowMs }: Snapshot): boolean {
  return timesOutMs === undefined ? isPowerOnTimedOut(annotations, nowMs) : monotonicMs >= timesOutMs;
}

function deadline(nowMs: number, situation: Situation): ReturnType<typeof mark> {
  return mark(situation, { [TIMES_OUT_AT]: timeText(nowMs + powerOnTimeoutMs(situation.machine, situation.snapshot.healthChecks)) });
}

export function ruleLines(): string[] {
  return RULES.map(({ when, then }) => `${when} | ${then}`);
}
