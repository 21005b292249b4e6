import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { Plan, Step } from '../domain/plan.ts';
import type { Intent } from './fence-history.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';

const DONE_CONDITIONS = { isolation: 'Isolated', 'power-management': 'PoweredOff', recovery: 'Recovered' } as const satisfies Record<Step, string>;
const STEPS = Object.keys(DONE_CONDITIONS) as Step[];

/** P7, wrong configuration fails: a step that an error of the frozen plan spoils sets no device and is never said to be done. */
export const wrongConfigurationFails: Law = (history) => {
  const verdict = new Verdict();
  for (const set of history.sets) {
    for (const intent of history.intentsFor(set)) {
      const { fence, entry, status } = intent;
      // By the plan that the run was of: a later incident of the same NodeFence may have frozen another.
      const plan = status.frozen?.plan;
      if (plan === undefined || isTakenBack(intent)) continue;
      const complaint = `method ${entry.method} of ${fence.name} was run although the configuration of ${entry.step} is wrong`;
      verdict.check(!spoiledSteps(plan).includes(entry.step), set.event.at, complaint);
    }
  }
  for (const fence of history.fences) {
    for (const { at, value } of fence.statuses.entries) {
      if (value.frozen === undefined) continue;
      for (const step of spoiledSteps(value.frozen.plan)) {
        verdict.check(!isDone(value, step), at, `${fence.name} says that ${step} is done although its configuration is wrong`);
      }
    }
  }
  return verdict;
};

/** The on of what an earlier plan switched off, begun when its NodeFence was being deleted: owed whatever the plan of now says (P8), and no step of it. */
function isTakenBack({ fence, entry, status, writtenPosition }: Intent): boolean {
  const isOwed = status.restore?.edges?.some(({ method, device, plug }) => method === entry.method && device === entry.device && plug === entry.plug);
  return entry.action === 'on' && writtenPosition > fence.deletionBegunPosition && isOwed === true;
}

function spoiledSteps(plan: Plan): readonly Step[] {
  const errors = plan.problems.filter(({ severity }) => severity === 'error');
  return STEPS.filter((step) => errors.some((problem) => problem.step === undefined || problem.step === step));
}

function isDone(status: NodeFenceStatus, step: Step): boolean {
  return status.conditions.some((condition) => condition.type === DONE_CONDITIONS[step] && condition.status === 'True');
}
