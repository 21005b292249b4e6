import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const SPEC = 'src/controllers/remedies/job/spec.ts';
const SPEC_TEST = 'src/controllers/remedies/job/spec.test.ts';
const JOBS = 'src/controllers/remedies/job/jobs.ts';
const OUTCOME = 'src/controllers/remedies/job/outcome.ts';
const JOBS_TEST = 'src/controllers/remedies/job/jobs.test.ts';
const PERMISSION = 'src/controllers/remedies/permission.ts';
const PERMISSION_TEST = 'src/controllers/remedies/permission.test.ts';

/** Defects of the Jobs of remedies, and of what may begin them. */
export const REMEDY_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'remedy on its victim',
    defect: 'a remedy pod may run on the sick node',
    file: SPEC,
    edits: [
      [
        "affinity: runOn === 'target' ? keptOn(node, affinity) : keptOff(node, affinity)",
        "affinity: runOn === 'target' ? keptOn(node, affinity) : keptOff('', affinity)",
      ],
    ],
    killedBy: byTest(SPEC_TEST, 'never runs on the sick node, in no alternative of the template'),
  },
  {
    name: 'remedy by node name',
    defect: 'a template that names its node is run',
    file: SPEC,
    edits: [["if (spec['nodeName'] !== undefined)", "if (spec['nodeName'] === null)"]],
    killedBy: byTest(SPEC_TEST, 'is refused where its template chooses a node by name'),
  },
  {
    name: 'remedy retried',
    defect: 'a remedy is tried again by Kubernetes',
    file: SPEC,
    edits: [['backoffLimit: 0,', 'backoffLimit: 6,']],
    killedBy: byTest(SPEC_TEST, 'is tried once, ends by its deadline, and is cleaned up'),
  },
  {
    name: 'remedy with a token',
    defect: 'a pod without an account of its own gets a token',
    file: SPEC,
    edits: [['automountServiceAccountToken: false', 'automountServiceAccountToken: true']],
    killedBy: byTest(SPEC_TEST, 'has an account without rights, and no token, unless the template names one'),
  },
  {
    name: 'remedy behind a proof',
    defect: 'a remedy pod begins on a node that is proven gone',
    file: SPEC,
    edits: [['keys.delete(OUT_OF_SERVICE);', '']],
    killedBy: byTest(
      SPEC_TEST,
      'with runOn target runs on the sick node alone, whose taints it tolerates, but not one behind which it is proven gone',
    ),
  },
  {
    name: 'remedy variable filled in',
    defect: 'a condition may have a password of the pod filled in',
    file: SPEC,
    edits: [["value.replaceAll('$', '$$$$')", 'value']],
    killedBy: byTest(SPEC_TEST, 'takes what a condition says as it is: no value of the pod is filled into it'),
  },
  {
    name: 'remedy of an earlier run',
    defect: 'the next run of a remedy of one name finds the Job of the one before',
    file: 'src/controllers/remedies/job/intent.ts',
    edits: [
      [
        'JSON.stringify({ node, nodeUid, condition, run, attempt, remedy })',
        'JSON.stringify({ node, nodeUid, condition, run: run.slice(0, 0), attempt, remedy })',
      ],
    ],
    killedBy: byTest(SPEC_TEST, 'has a name of its intent alone, another one for any other intent'),
  },
  {
    name: 'remedy begun late',
    defect: 'an old intent creates a Job, whose first one may have acted and be gone',
    file: JOBS,
    edits: [['if (ageMs > BEGINS_WITHIN_MS)', 'if (ageMs > 1_000 * BEGINS_WITHIN_MS)']],
    killedBy: byTest(JOBS_TEST, 'is not created by an intent that is old: what it did before may be gone'),
  },
  {
    name: 'remedy unasked',
    defect: 'a Job is created without asking in the turn in which it leaves',
    file: JOBS,
    edits: [[', { beforeSend: mayBegin }', ', mayBegin === undefined ? { beforeSend: mayBegin } : {}']],
    killedBy: byTest(JOBS_TEST, 'is asked for in the very turn in which it leaves, and is not created where it may not be'),
  },
  {
    name: 'remedy of another intent',
    defect: 'a Job of the same name counts, whoever made it',
    file: JOBS,
    edits: [['return isOfIntent(job, intent) ?', "return isOfIntent(job, intent) || job.metadata.name !== '' ?"]],
    killedBy: byTest(JOBS_TEST, 'is never that of another intent of the same name'),
  },
  {
    name: 'remedy of another uid',
    defect: 'a Job that came later under the name is taken for ours',
    file: JOBS,
    edits: [['job: job?.metadata.uid === uid ? job : undefined', "job: job?.metadata.uid === '' ? undefined : job"]],
    killedBy: byTest(JOBS_TEST, 'is told where somebody has deleted its Job, and another under its name is not it'),
  },
  {
    name: 'remedy log with a secret',
    defect: 'a log is shown although a Secret could not be read to hide it',
    file: JOBS,
    edits: [['        return name;\n', "        values.push('');\n"]],
    killedBy: byTest(JOBS_TEST, 'comes without its words where a Secret can not be read to hide it'),
  },
  {
    name: 'remedy for ever',
    defect: 'a Job that hangs beyond its deadline is waited for',
    file: OUTCOME,
    edits: [['if (watch.ageMs <= watch.deadlineMs + LATE_MS)', 'if (watch.ageMs <= 100 * watch.deadlineMs)']],
    killedBy: byTest(JOBS_TEST, 'is a failure where it hangs beyond its deadline, which nobody else told: it is to be deleted'),
  },
  {
    name: 'remedy misplaced',
    defect: 'a pod that was put on the sick node counts',
    file: OUTCOME,
    edits: [['if (misplaced) {', 'if (misplaced && watch.ageMs < 0) {']],
    killedBy: byTest(JOBS_TEST, 'is a failure where its pod is on the sick node, and is what it was meant for with runOn target'),
  },
  {
    name: 'remedy under a stop',
    defect: 'what was asked long ago counts when a remedy leaves',
    file: PERMISSION,
    edits: [['ageMs > ANSWER_MAX_AGE_MS', 'ageMs > 100 * ANSWER_MAX_AGE_MS']],
    killedBy: byTest(PERMISSION_TEST, 'stands where nothing does against it, for as long as the answer is fresh'),
  },
  {
    name: 'remedy on an answer before',
    defect: 'the answer before one that failed counts',
    file: PERMISSION,
    edits: [['    this.#answer = undefined;\n', '']],
    killedBy: byTest(PERMISSION_TEST, 'does not rest on an answer that came before one that failed'),
  },
  {
    name: 'remedy beside a fence',
    defect: 'a remedy begins while a fence has the node',
    file: PERMISSION,
    edits: [["by === undefined ? [] : [standing('fence'", "by === undefined || by !== '' ? [] : [standing('fence'"]],
    killedBy: byTest(PERMISSION_TEST, 'is refused by a fence that has the node'),
  },
  {
    name: 'remedy in a storm',
    defect: 'a policy that trips after the decision does not hold a remedy',
    file: PERMISSION,
    edits: [['...(isRecovery ? [] : this.#storm())', '...(isRecovery ? this.#storm() : [])']],
    killedBy: byTest(PERMISSION_TEST, 'is refused by a storm policy, also by one that trips after it was asked, but not for a recovery'),
  },
  {
    name: 'remedies of more nodes than are selected',
    defect: 'a part of a nodeSelector that stands behind an alias counts as not written: the remedy acts on more nodes',
    file: 'src/config/remedies.ts',
    edits: [["reading.aliases('podTemplate');", '']],
    killedBy: byTest('src/config/remedies.test.ts', 'with an alias elsewhere are told: without matchLabels they would be others'),
  },
  {
    name: 'one alias for all remedies',
    defect: 'an alias that leads nowhere, in one Configuration, keeps all others from being read: no remedy of any node runs',
    file: 'src/config/remedies/reading.ts',
    edits: [['if (!(error instanceof ReferenceError) && !(error instanceof TypeError)) throw error;', 'if (error !== map) throw error;']],
    killedBy: byTest('src/config/remedies.test.ts', 'with an alias in a podTemplate that leads nowhere are told, and keep nobody else from theirs'),
  },
];
