import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const CANDIDATES = 'test/machine-health-check/candidates.test.ts';
const CLOCK_SET = 'test/machine-health-check/clock-set.test.ts';
const CHANGES = 'test/machine-health-check/changes.test.ts';
const CONFIRMED = 'test/machine-health-check/confirmed.test.ts';
const EVALUATION = 'test/machine-health-check/evaluation.test.ts';
const MACHINE_HEALTH_CHECK_SHELL = 'test/machine-health-check/shell.test.ts';
const REMEDIATION = 'test/machine-health-check/remediation.test.ts';
const TAKEN_BACK = 'test/machine-health-check/taken-back.test.ts';

/** Defects of what decides which Machines are unhealthy, and what is done about it. */
export const MACHINE_HEALTH_CHECK_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'looked up once',
    defect: 'a Machine that is called ill stays so where its health check is deleted later: what no check looks at is looked up at the start alone',
    file: 'src/controllers/machine-health-check/changes.ts',
    edits: [['      checks.lister.onChange(() => (this.#mayBeLeft = true)),\n', '']],
    killedBy: byTest(TAKEN_BACK, 'is unknown when the check is deleted: its node would be power-cycled again by it, and its owner replace it'),
  },
  {
    name: 'word of a check that is gone',
    defect:
      'a Machine stays ill by the word of a health check that was deleted: its node is power-cycled again when it is long well, and its owner replaces it',
    file: 'src/controllers/machine-health-check/controller.ts',
    edits: [['...this.#left]', '...this.#left.slice(0, 0)]']],
    killedBy: byTest(TAKEN_BACK, 'is unknown when the check is deleted: its node would be power-cycled again by it, and its owner replace it'),
  },
  {
    name: 'word of a check that is paused',
    defect: 'a Machine stays ill by the word of a health check that was paused, whatever becomes of it',
    file: 'src/controllers/machine-health-check/decide.ts',
    edits: [
      [
        "otherCheck === undefined ? (takenBack(subject.machine, 'paused', now) ?? []) : []",
        "otherCheck === null ? (takenBack(subject.machine, 'paused', now) ?? []) : []",
      ],
    ],
    killedBy: byTest(TAKEN_BACK, 'leaves its request, and nobody goes on by what it said'),
  },
  {
    name: 'word taken back of a paused machine',
    defect: 'what was said of a Machine that is paused is written over',
    file: 'src/controllers/machine-health-check/taken-back.ts',
    edits: [['PAUSED_ANNOTATION in machine.annotations || ', '']],
    killedBy: byTest(TAKEN_BACK, 'is unknown of a machine that is to be skipped from then on, stands of one that is paused'),
  },
  {
    name: 'preserved and handed over',
    defect: 'a preserved machine is deleted, or handed to its owner, who deletes it',
    file: 'src/controllers/machine-health-check/write.ts',
    edits: [['    if (kept !== undefined) throw new Error(`its machine is preserved: ${kept}`);\n', '']],
    killedBy: byTest('test/machine-health-check/preserved.test.ts', 'is not handed to its owner, who would delete it, and is when that is over'),
  },
  {
    name: 'place of nobody',
    defect: 'machines without an owner hold the places of remediations at once for ever, and no other machine is remediated',
    file: 'src/controllers/machine-health-check/target.ts',
    edits: [['if (target.otherCheck !== undefined || isWithNobody(target)) return false;', 'if (target.otherCheck !== undefined) return false;']],
    killedBy: byTest(REMEDIATION, 'a machine without a controller holds no place: nobody would ever give it back'),
  },
  {
    name: 'place of words that are mended',
    defect: 'a machine whose request stands takes another place when old words of it are mended, and another one waits without an end',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [['const isBegun = isInFlight(target, check) || (', 'const isBegun = isInFlight(target, check) && (']],
    killedBy: byTest(REMEDIATION, 'nor is its place taken by words of an earlier template that are mended'),
  },
  {
    name: 'place of nobody again',
    defect: 'a remediation of a machine without an owner takes no place where an earlier one was handed to nobody: more are under way than may be',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [['machine.hasController ? [statement] : [statement, takenFromOwner(machine.conditions)]', '[statement]']],
    killedBy: byTest(REMEDIATION, 'one that nobody remediated holds one again from when somebody is asked'),
  },
  {
    name: 'gate of another clock',
    defect:
      'machines that waited for their Cluster are remediated at once where the clock of whoever dates its gates is behind, or for a day not at all where it is ahead',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [
      ['(gate?.sinceMs === undefined ? 0 : seen.cluster(type, gate.sinceMs))', '(gate?.sinceMs === undefined ? 0 : asDated(type, gate.sinceMs))'],
    ],
    killedBy: byTest(CLOCK_SET, 'after its Cluster was ready too, by a clock that is a day back'),
  },
  {
    name: 'gate seen anew',
    defect: 'each change of a Cluster begins the startup timeout of its machines anew, where its gates are dated in the future',
    file: 'src/controllers/machine-health-check/changes.ts',
    edits: [['      this.#cache.sawCluster(before, after);\n', '']],
    killedBy: byTest(CLOCK_SET, 'after its Cluster was ready too, by a clock that is a day ahead'),
  },
  {
    name: 'check of another Cluster',
    defect: 'a check looks after the Machines of another Cluster',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['if (check.clusterName !== undefined && machine.clusterName !== check.clusterName) return false;', '']],
    killedBy: byTest(EVALUATION, 'of another cluster, another namespace or other labels is no target'),
  },
  {
    name: 'paused Machine checked',
    defect: 'a Machine that is paused is remediated',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['(PAUSED_ANNOTATION in machine.annotations || SKIP_ANNOTATION in machine.annotations)', '(SKIP_ANNOTATION in machine.annotations)']],
    killedBy: byTest(EVALUATION, 'a machine with cluster.x-k8s.io/paused is no target'),
  },
  {
    name: 'skipped Machine checked',
    defect: 'a Machine that is to be skipped is remediated',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['(PAUSED_ANNOTATION in machine.annotations || SKIP_ANNOTATION in machine.annotations)', '(PAUSED_ANNOTATION in machine.annotations)']],
    killedBy: byTest(EVALUATION, 'a machine with cluster.x-k8s.io/skip-remediation is no target'),
  },
  {
    name: 'timeout at once',
    defect: 'a condition counts before its timeout is over',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['if (endMs < nowMs) {\n', 'if (endMs < nowMs + timeoutMs) {\n']],
    killedBy: byTest(MACHINE_HEALTH_CHECK_SHELL, 'is found when its time is over, though nothing changes then'),
  },
  {
    name: 'unknown and missing',
    defect: 'a Node of which nothing was heard yet counts as deleted',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [
      [
        "if (node === 'unknown' || node === 'disputed') return NOTHING;",
        "if (node === 'disputed') return NOTHING;\n  if (node === 'unknown') return { ...NOTHING, messages: ['deleted'], reason: 'NodeDeleted' };",
      ],
    ],
    killedBy: byTest(MACHINE_HEALTH_CHECK_SHELL, 'are read through its kubeconfig; nothing is concluded while they can not be'),
  },
  {
    name: 'disputed and failed',
    defect: 'a Node that two Machines name fails both',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [
      [
        "if (node === 'unknown' || node === 'disputed') return NOTHING;",
        "if (node === 'unknown') return NOTHING;\n  if (node === 'disputed') return { ...NOTHING, messages: ['deleted'], reason: 'NodeDeleted' };",
      ],
    ],
    killedBy: byTest(EVALUATION, 'of a Node that two machines name'),
  },
  {
    name: 'startup before the control plane',
    defect: 'Machines fail for a control plane that is not there yet',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [["if (gate === 'control-plane') return { kind: 'open' };", '']],
    killedBy: byTest(EVALUATION, 'is not judged before its control plane is initialized, unless it is of the control plane itself'),
  },
  {
    name: 'healthy while remediated',
    defect: 'a Machine that is being power-cycled counts as healthy',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [["if (check.flavour === 'openshift' && EXTERNAL_REMEDIATION in machine.annotations) return { kind: 'open' };", '']],
    killedBy: byTest(
      'test/machine-health-check/openshift.test.ts',
      'a machine that carries that annotation is not healthy before it is gone, whatever its node says',
    ),
  },
  {
    name: 'startup timeout off',
    defect: 'a startup timeout of 0 fails every Machine',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['if (startupTimeoutMs === 0) return NOTHING;', '']],
    killedBy: byTest(EVALUATION, 'may take as long as it likes to get a node where the timeout is 0'),
  },
  {
    name: 'claimed and begun',
    defect: 'a Machine whose node another has is remediated',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [['if (holder !== undefined) return { why', "if (holder === '') return { why"]],
    killedBy: byTest(MACHINE_HEALTH_CHECK_SHELL, 'waits while a fence has its node, and is asked for when the fence is over'),
  },
  {
    name: 'more than may be',
    defect: 'more Machines are remediated than may be at once',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [["return hasPlace ? undefined : { why: 'the limit", "return hasPlace || machine.name !== '' ? undefined : { why: 'the limit"]],
    killedBy: byTest(REMEDIATION, 'at once no more machines are remediated than the settings admit'),
  },
  {
    name: 'request of others',
    defect: 'a request that belongs to something else counts as ours',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [
      [
        'if (target.request !== undefined) return waits(`${target.request.kind}',
        "if (target.request?.name === '') return waits(`${target.request.kind}",
      ],
    ],
    killedBy: byTest(REMEDIATION, 'of a machine that had the same name before is not taken for this one’s, nor deleted'),
  },
  {
    name: 'template unread',
    defect: 'a template that is not read yet counts as missing',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [["if (template === 'unknown') return waits(", 'if (template === null) return waits(']],
    killedBy: byTest(MACHINE_HEALTH_CHECK_SHELL, 'gets a request made of the template, which goes when the machine is healthy again'),
  },
  {
    name: 'short circuit ignored',
    defect: 'what max-unhealthy forbids is done',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [['means.isAllowed ? courseOf(target, means, hasPlace) : NOTHING', 'courseOf(target, means, hasPlace)']],
    killedBy: byTest(MACHINE_HEALTH_CHECK_SHELL, 'is left alone while too many are unhealthy, and remediated when one of them has recovered'),
  },
  {
    name: 'two checks of one Machine',
    defect: 'a Machine of two checks is remediated by both',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [['if (target.otherCheck !== undefined || (evaluation.kind', 'if ((evaluation.kind']],
    killedBy: byTest(EVALUATION, 'do not contradict each other: the one that was there first has it, the other counts it and says so'),
  },
  {
    name: 'request left',
    defect: 'the request of a Machine that is healthy again stays',
    file: 'src/controllers/machine-health-check/remedy.ts',
    edits: [['request === undefined || request.isDeleting ? [] : [{ kind:', 'request === undefined || !request.isDeleting ? [] : [{ kind:']],
    killedBy: byTest(MACHINE_HEALTH_CHECK_SHELL, 'gets a request made of the template, which goes when the machine is healthy again'),
  },
  {
    name: 'begun against a stop',
    defect: 'a remediation is begun although a stop stands',
    file: 'src/controllers/machine-health-check/write.ts',
    edits: [['if (stop !== undefined) throw new Error(stop);', '']],
    killedBy: byTest(
      MACHINE_HEALTH_CHECK_SHELL,
      'a stop of a person holds what would take a machine down, and no longer than it stands: {"all":true}',
    ),
  },
  {
    name: 'check of another namespace',
    defect: 'a check looks after the Machines of another namespace',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['if (machine.namespace !== check.namespace) return false;', '']],
    killedBy: byTest(
      'src/controllers/machine-health-check/evaluate.test.ts',
      'a check looks after the Machines of its own namespace and Cluster that it selects, and no other',
    ),
  },
  {
    name: 'candidate of another namespace',
    defect: 'a check of another namespace is asked about a Machine',
    file: 'src/controllers/machine-health-check/indexes.ts',
    edits: [
      [
        'return [namespace, ...Object.entries(labels).map(([key, value]) => `${namespace}\\n${key}\\n${value}`)];',
        "return [namespace && '', ...Object.entries(labels).map(([key, value]) => `${key}\\n${value}`)];",
      ],
    ],
    killedBy: byTest(CANDIDATES, 'are all of the namespace where it names no label'),
  },
  {
    name: 'other Machine of the Node',
    defect: 'a check goes on judging a Machine by a Node that another Machine names by now',
    file: 'src/controllers/machine-health-check/changes.ts',
    edits: [['this.#selecting([machine, ...others])', 'this.#selecting([machine, ...others.slice(others.length)])']],
    killedBy: byTest(CHANGES, 'of the Node of a Machine concerns the checks of all Machines that name it, before and after'),
  },
  {
    name: 'read once for all',
    defect: 'an object that has changed is judged as it was when it was first read',
    file: 'src/controllers/machine-health-check/memoised.ts',
    edits: [
      [
        'const known = new WeakMap<O, F>();',
        'const known = new Map<unknown, F>();\n  const nameOf = (object: O): unknown => Reflect.get(object, "metadata")?.name;',
      ],
      ['known.get(object)', 'known.get(nameOf(object))'],
      ['known.set(object, facts)', 'known.set(nameOf(object), facts)'],
    ],
    killedBy: byTest(CHANGES, 'of the Node of a Machine concerns the checks of all Machines that name it, before and after'),
  },
  {
    name: 'a refused write in silence',
    defect: 'whoever looks at a MachineHealthCheck is not told that its status may not be written',
    file: 'src/controllers/shared/executor.ts',
    edits: [['if (at !== undefined && wasRefused(error)) refused?.(at, message);', '']],
    killedBy: byTest('test/machine-health-check/denied.test.ts', 'a right that is lacking to write a MachineHealthCheck is told once there'),
  },
  {
    name: 'condition by the clock of its writer',
    defect: 'a node that is not Ready for seconds counts as not Ready for minutes where the clock is set ahead, or that of its writer is behind',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['standing.seenMs, freshSinceMs', 'standing.sinceMs, freshSinceMs']],
    killedBy: byTest(CLOCK_SET, 'where the wall clock is set an hour ahead meanwhile'),
  },
  {
    name: 'start by the clock of the API server',
    defect: 'a machine that has just been made has had its time to start where the clock is set ahead',
    file: 'src/controllers/machine-health-check/evaluate.ts',
    edits: [['seen.machine(CREATED, machine.createdMs)', 'machine.createdMs']],
    killedBy: byTest(CLOCK_SET, 'made since, before the clock was set'),
  },
  {
    name: 'sights begin anew',
    defect: 'whatever changes of a node, its time begins anew, so that it never fails',
    file: 'src/controllers/shared/sights.ts',
    edits: [['marks?.get(what) === mark ? known?.get(what) : nowMs', 'nowMs']],
    killedBy: byTest(CLOCK_SET, 'where the wall clock is set an hour ahead meanwhile'),
  },
  {
    name: 'dated in the future',
    defect: 'a node that failed before this process began, by a clock that is ahead, is judged when our clock has come there',
    file: 'src/controllers/shared/sights.ts',
    edits: [['Math.min(datedMs, aheadMs + foundMs)', 'datedMs + 0 * foundMs']],
    killedBy: byTest(CLOCK_SET, 'where it stood so before this process began, and is dated a day ahead'),
  },
  {
    name: 'sights of another state',
    defect: 'a node that was Ready again for a moment is taken for one that was silent all the while',
    file: 'src/controllers/shared/sights.ts',
    edits: [['marks?.get(what) === mark ? known?.get(what) : nowMs', 'marks?.has(what) === true ? (known?.get(what) ?? nowMs) : nowMs']],
    killedBy: byTest(CLOCK_SET, 'and anew once it was Ready again'),
  },
  {
    name: 'request for a node that is well by now',
    defect: 'what was decided before a Node became well is done, because we have seen that it did',
    file: 'src/controllers/machine-health-check/write.ts',
    edits: [['if (!isSameNode(standing, decided))', 'if (standing === undefined && decided !== undefined)']],
    killedBy: byTest(CONFIRMED, 'is not done where the Node has become well since, and we have seen it already'),
  },
  {
    name: 'deletion of a namesake',
    defect: 'a Machine that was made anew under the name of one that failed is deleted for it',
    file: 'src/controllers/machine-health-check/write.ts',
    edits: [['const { uid } = action.target;', 'const { uid } = this.#dependencies.cache.machine(keyOf(action.target)) ?? action.target;']],
    killedBy: byTest(CONFIRMED, 'deletes the Machine in that version alone, and none that was made anew under its name'),
  },
  {
    name: 'stop where the Node is',
    defect: 'a stop in the cluster of the Node does not hold the owner of its Machine, who takes it down',
    file: 'src/controllers/machine-health-check/write.ts',
    edits: [
      ['activeStopAt(this.#dependencies.cluster, node, machine.nodeName)', 'activeStopAt(this.#dependencies.cluster, undefined, machine.nodeName)'],
    ],
    killedBy: byTest(CONFIRMED, 'holds what would take its Machine down, as one here does'),
  },
];
