import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT_TROUBLE = 'agents/job/agent-trouble.test.ts';

/** Defects of the agent job. */
export const JOB_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'job on its victim',
    defect: 'a pod that was put on the very node counts',
    file: 'agents/job/outcome.ts',
    edits: [['if (misplaced !== undefined)\n    return', 'if (misplaced === null)\n    return']],
    killedBy: byTest(AGENT_TROUBLE, 'a pod on the very node that it is for'),
  },
  {
    name: 'job of two pods',
    defect: 'of two pods the first decides',
    file: 'agents/job/outcome.ts',
    edits: [['if (others.length > 0) return failed', 'if (others.length > 9) return failed']],
    killedBy: byTest(AGENT_TROUBLE, 'a second pod for the same Job: what either of them did is not known'),
  },
  {
    name: 'job evicted',
    defect: 'a pod that somebody else has ended counts by its code',
    file: 'agents/job/outcome.ts',
    edits: [["if (phase === 'Failed' && reason !== '')", "if (phase === 'Failed' && reason === 'x')"]],
    killedBy: byTest(AGENT_TROUBLE, 'an evicted pod'),
  },
  {
    name: 'job of another name',
    defect: 'a Job of another intent counts as ours',
    file: 'agents/job/session.ts',
    edits: [
      [
        'if (annotations[INTENT_ANNOTATION] !== order.intent || annotations[ACTION_ANNOTATION] !== order.action)',
        "if (annotations[INTENT_ANNOTATION] === '' || annotations[ACTION_ANNOTATION] === '')",
      ],
    ],
    killedBy: byTest(AGENT_TROUBLE, 'that has the same name and is not ours is left alone'),
  },
  {
    name: 'job late left',
    defect: 'a Job that is late stays and acts',
    file: 'agents/job/session.ts',
    edits: [["if (ended.outcome.state !== 'exited') this.#facts.forget(name, true);", '']],
    killedBy: byTest(AGENT_TROUBLE, 'leaves it unclear what became of it, and is deleted with its pod'),
  },
  {
    name: 'job opposite',
    defect: 'an on that is under way is left while off is sent',
    file: 'agents/job/agent.ts',
    edits: [['if (other.action !== state) await session.takeBack(other);', 'if (other.action === state) await session.takeBack(other);']],
    killedBy: byTest(AGENT_TROUBLE, 'of another intent is taken back before the opposite is ordered, and is not believed to be over until it is'),
  },
  {
    name: 'job pending opposite',
    defect: 'off counts while an on may still act',
    file: 'agents/job/agent.ts',
    edits: [
      [
        "if (opposite === undefined) return { state, detail, identity: 'unverified' };",
        "if (opposite === undefined || state === 'off') return { state, detail, identity: 'unverified' };",
      ],
    ],
    killedBy: byTest(AGENT_TROUBLE, 'of another intent is taken back before the opposite is ordered, and is not believed to be over until it is'),
  },
  {
    name: 'job any code',
    defect: 'a status that says not done is done',
    file: 'agents/job/agent.ts',
    edits: [['if (outcome.code === NOT_DONE_CODE) return false;\n', 'if (outcome.code !== NOT_DONE_CODE) return true;\n']],
    killedBy: byTest('agents/job/action-agent.test.ts', 'is run once, and done when its own status says so'),
  },
  {
    name: 'job retried',
    defect: 'a Job is tried again by Kubernetes',
    file: 'agents/job/job-spec.ts',
    edits: [['backoffLimit: 0,', 'backoffLimit: 6,']],
    killedBy: byTest(AGENT_TROUBLE, 'has a deadline of its own below that of the call, which its kubelet keeps too'),
  },
  {
    name: 'job without end',
    defect: 'a pod runs on without an end',
    file: 'agents/job/job-spec.ts',
    edits: [['    activeDeadlineSeconds: wholeSeconds(deadlineMs),\n', '']],
    killedBy: byTest(AGENT_TROUBLE, 'has a deadline of its own below that of the call, which its kubelet keeps too'),
  },
  {
    name: 'job restarted',
    defect: 'a pod is restarted by its kubelet',
    file: 'agents/job/job-spec.ts',
    edits: [["restartPolicy: 'Never',", "restartPolicy: 'OnFailure',"]],
    killedBy: byTest('agents/job/job-spec.test.ts', 'takes the rest of the template as it is, and no account that the template does not name'),
  },
  {
    name: 'job pods of another Job',
    defect: 'a pod of another Job of the same name counts',
    file: 'agents/job/session.ts',
    edits: [['const own = pods.filter(({ metadata }) => (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid));', 'const own = pods;']],
    killedBy: byTest(AGENT_TROUBLE, 'a pod that bears its label and that its Job does not own: it says nothing of this one'),
  },
  {
    name: 'job of another uid',
    defect: 'a Job that took the name counts as the one that was created',
    file: 'agents/job/session.ts',
    edits: [['job?.metadata.uid === uid ? job : undefined', 'job']],
    killedBy: byTest(AGENT_TROUBLE, 'a Job that somebody deleted, and another one that took its name'),
  },
  {
    name: 'job taken back by name',
    defect: 'a Job that took the name of the one that was seen is deleted',
    file: 'agents/job/session.ts',
    edits: [["propagationPolicy: 'Background', ...(uid === undefined ? {} : { uid }) }", "propagationPolicy: 'Background' }"]],
    killedBy: byTest(AGENT_TROUBLE, 'is taken back by its uid: one that took its name is left alone'),
  },
];
