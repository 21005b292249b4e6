import type { NodeGuard } from '../../ports/preservation.ts';
import type { Decision, ProblemOf } from './actions.ts';
import { counted } from './counts.ts';
import { guardOf, request } from './fencing.ts';
import { own } from './own.ts';
import { Pools } from './pools.ts';
import type { Step } from './preserve.ts';
import type { Snapshot } from './snapshot.ts';
import { machineRef, nodeRef, subjectName } from './subject.ts';
import { classify } from './classify.ts';
import type { Classified } from './classify.ts';
import { viewOf } from './view.ts';

const NO_FIELD =
  'the Machine CRD has no status.currentStatus.preserveExpiryTime (MCM before v0.62): what is written there is dropped, so Machines are not preserved';

/** Everything about one snapshot; see Snapshot and Decision. Pure: done once over, it has nothing more to do. */
export function decide(snapshot: Snapshot): Decision {
  const usable = snapshot.hasExpiryField ? snapshot : withoutMachines(snapshot);
  const pools = new Pools(usable);
  const { classified, problems } = classify(usable, pools);
  const shares = pools.shares();
  const unable = !snapshot.hasExpiryField && snapshot.machines.length > 0 ? [NO_FIELD] : [];
  const steps = usable.mode === 'own' ? own(usable, pools, classified, shares) : requests(usable, classified);
  const subjects = classified.map(({ subject }) => subject);
  const tally = usable.mode === 'own' ? counted(usable, subjects) : { actions: [], deployments: [] };
  const due = [...classified.map(({ dueMs }) => dueMs), ...steps.map(({ dueMs }) => dueMs), ...subjects.map(({ expiryMs }) => expiryMs)];
  const nextDueMs = earliest(due, usable.nowMs);
  return {
    actions: [...steps.flatMap(({ actions }) => actions), ...tally.actions],
    guards: subjects.flatMap((subject): NodeGuard[] => guardOf(subject, pools.overrideOf(subject.machine), usable.nowMs)),
    views: classified.map(({ subject }, index) => viewOf(subject, usable.nowMs, steps[index]?.problem)),
    deployments: tally.deployments,
    drains: classified.flatMap(({ subject }, index) => (steps[index]?.isDraining === true && subject.node !== undefined ? [subject.node.uid] : [])),
    warnings: warningsOf(classified, steps),
    problems: [...unable, ...pools.problems, ...problems, ...toldBy(classified, steps)],
    ...(nextDueMs !== undefined && { nextDueMs }),
  };
}

/** Nodes with a Machine are left alone as well: they are not plain, and whoever runs their Machines looks after them. */
function withoutMachines(snapshot: Snapshot): Snapshot {
  const backed = new Set(snapshot.machines.map(({ nodeName }) => nodeName));
  const nodes = snapshot.nodes.filter(({ name }) => !backed.has(name));
  return { ...snapshot, machines: [], machineSets: [], machineDeployments: [], nodes };
}

function earliest(times: readonly (number | undefined)[], nowMs: number): number | undefined {
  let first: number | undefined;
  for (const time of times) if (time !== undefined && time > nowMs && (first === undefined || time < first)) first = time;
  return first;
}

function toldBy(classified: readonly Classified[], steps: readonly Step[]): string[] {
  return classified.flatMap(({ subject }, index) => {
    const told = steps[index]?.problem ?? subject.problem;
    return told === undefined ? [] : [`${subjectName(subject)}: ${told}`];
  });
}

function warningsOf(classified: readonly Classified[], steps: readonly Step[]): ProblemOf[] {
  return classified.flatMap(({ subject: { machine, node } }, index) => {
    const { problem, isForPeople } = steps[index] ?? {};
    const target = machine === undefined ? node && nodeRef(node) : machineRef(machine);
    return problem === undefined || isForPeople !== true || target === undefined ? [] : [{ target, message: problem }];
  });
}

/** A real MCM does the rest. */
function requests(snapshot: Snapshot, classified: readonly Classified[]): Step[] {
  return classified.map(({ subject }) => ({ actions: request(subject, snapshot.requestsWhenFailed) }));
}
