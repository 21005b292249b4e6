import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const RULES = 'src/domain/deletion-rules.test.ts';
const DOMAIN = 'src/domain/deletion.test.ts';
const DISPATCH = 'src/dispatch/removing.test.ts';
const KEEPERS = 'src/domain/instance-keepers.test.ts';
const CHECKS = 'src/config/deletion-checks.test.ts';
const AWS = 'agents/aws/removal.test.ts';
const GCE = 'agents/gce/removal.test.ts';
const RUNS = 'src/controllers/fence/preserved-runs.test.ts';

/** Defects of what deletes a machine for good. */
export const DELETION_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'deleted by a proof that is void',
    defect: 'a machine counts as deleted by a proof that does not stand',
    file: 'src/domain/deletion.ts',
    edits: [['item.terminated === true && item.voidedAt === undefined', 'item.terminated === true']],
    killedBy: byTest(RULES, 'is deleted by the proof that says so, for as long as that stands'),
  },
  {
    name: 'deleted with its workload',
    defect: 'a machine is deleted of whose workload nothing is to be let go',
    file: 'src/domain/deletion.ts',
    edits: [["if (plan.release === 'none') return", "if (plan.release === 'evict') return"]],
    killedBy: byTest(RULES, 'is a workload that is not to be let go'),
  },
  {
    name: 'deletion waits without a proof',
    defect: 'under a hold a machine waits for its deletion that nothing proves off',
    file: 'src/domain/deletion.ts',
    edits: [['  if (validEvidence(status.evidence, plan) === undefined) return false;\n', '']],
    killedBy: byTest(RULES, 'is one that nothing proves off'),
  },
  {
    name: 'left off by another level',
    defect: 'a machine that its level switches on again counts as left off on purpose: nobody says that it did not come back',
    file: 'src/domain/program.ts',
    edits: [['candidate.level === level || powerManagement.length === 1', 'candidate.level > 1 || powerManagement.length === 1']],
    killedBy: byTest('src/domain/done-rows.test.ts', 'by another level than the one that was reached'),
  },
  {
    name: 'deleted before the proof',
    defect: 'a machine is deleted that is not switched off before, so that nothing is ever proven or released',
    file: 'src/domain/plan.ts',
    edits: [["|| action === 'reboot' || action === 'delete';", "|| action === 'reboot';"]],
    killedBy: byTest(DOMAIN, 'proves it off and releases its workload first, whatever else the level does'),
  },
  {
    name: 'deleted on no proof',
    defect: 'a machine that somebody has started since is deleted all the same',
    file: 'src/domain/deletion.ts',
    edits: [['if (proof === undefined || isStarted)', 'if (proof === undefined)']],
    killedBy: byTest(DOMAIN, 'is not carried out after a sign of life: nothing proves any more that the machine is off'),
  },
  {
    name: 'deleted under a hold',
    defect: 'what a storm holds is deleted after a while, and its workload is not released',
    file: 'src/domain/rows/running.ts',
    edits: [['context.snapshot.holds.length > 0 && waitsToDelete(context),', 'context.snapshot.holds.length > 9 && waitsToDelete(context),']],
    killedBy: byTest(DOMAIN, 'does nothing under a hold, for as long as it stands, before the delete'),
  },
  {
    name: 'preserved and deleted',
    defect: 'a machine that somebody preserves for a look is deleted',
    file: 'src/domain/deletion.ts',
    edits: [["kind !== undefined && kind !== 'drop'", "kind === 'never-fence'"]],
    killedBy: byTest(DOMAIN, 'deletes no machine that is preserved, or perhaps is, and tries the next level, which brings it back'),
  },
  {
    name: 'deleted though off was asked for',
    defect: 'a fence that was asked to end in off deletes the machine',
    file: 'src/domain/advance.ts',
    edits: [['if (isBehindRelease(operation) && status.ending', "if (operation.phase === 'on' && status.ending"]],
    killedBy: byTest(DOMAIN, 'deletes nothing where the fence was asked to end in off'),
  },
  {
    name: 'deleted and left off',
    defect: 'a machine that is gone is still told as off, to be switched on by whoever deletes its fence',
    file: 'src/domain/journal.ts',
    edits: [["{ restore: withEdge(restore, entry, 'on') }", '{ restore }']],
    killedBy: byTest(DOMAIN, 'proves it off and releases its workload first, whatever else the level does'),
  },
  {
    name: 'deleted without a read',
    defect: 'a machine that reads on is deleted',
    file: 'src/dispatch/removing.ts',
    edits: [["if (!device.shows(before, 'off') || before.identity", 'if (before.identity']],
    killedBy: byTest(DISPATCH, 'is left alone while it reads on'),
  },
  {
    name: 'deleted as anybody',
    defect: 'a machine that nothing shows to be the node’s is deleted where the plan does not ask for identity',
    file: 'src/dispatch/removing.ts',
    edits: [["|| before.identity !== 'verified') {", ') {']],
    killedBy: byTest(DISPATCH, 'is left alone where nothing shows whose it is, whatever the plan says of identity'),
  },
  {
    name: 'deleted by its answer',
    defect: 'that the cloud took the request is taken for the end of the machine',
    file: 'src/dispatch/removing.ts',
    edits: [['    if (seen.isGone) return', "    if (seen.isGone || said !== '') return"]],
    killedBy: byTest(DISPATCH, 'is not taken for gone on the answer alone, nor where no look is answered'),
  },
  {
    name: 'somebody’s word to the autoscaler',
    defect: 'a machine that somebody keeps from the autoscaler is deleted',
    file: 'src/domain/instance-keepers.ts',
    edits: [
      ["annotations[SCALE_DOWN_DISABLED] === 'true' && annotations[AUTOSCALER_MARK] === undefined", "annotations[SCALE_DOWN_DISABLED] === 'never'"],
    ],
    killedBy: byTest(KEEPERS, 'somebody who wants it kept'),
  },
  {
    name: 'own word to the autoscaler',
    defect: 'no machine of a cordoned node is ever deleted, for our own mark',
    file: 'src/domain/instance-keepers.ts',
    edits: [[' && annotations[AUTOSCALER_MARK] === undefined', '']],
    killedBy: byTest(KEEPERS, 'our own fence'),
  },
  {
    name: 'deleted and switched on in one level',
    defect: 'a level that deletes what it switches on is a plan',
    file: 'src/config/deletion-checks.ts',
    edits: [["kind === 'power' && (action === 'on' || action === 'reboot'))", "kind === 'fabric' && (action === 'on' || action === 'reboot'))"]],
    killedBy: byTest(CHECKS, 'does not go with power_management=replace back'),
  },
  {
    name: 'aws behind the group’s back',
    defect: 'an instance of an Auto Scaling group is ended by EC2, and counted as unhealthy',
    file: 'agents/aws/removal.ts',
    edits: [['  if (group === undefined) return { action:', "  if (group !== 'never') return { action:"]],
    killedBy: byTest(AWS, 'is ended by its Auto Scaling group, which keeps its capacity'),
  },
  {
    name: 'aws protection of a group',
    defect: 'an instance is ended by its group although an admin has protected it',
    file: 'agents/aws/removal.ts',
    edits: [['  if (group !== undefined) await demandUnprotected(call, api, id);\n', '']],
    killedBy: byTest(AWS, 'that is protected stays (group workers)'),
  },
  {
    name: 'aws deletes what runs',
    defect: 'an instance that was started after its stop was proven is terminated',
    file: 'agents/shared/cloud/instance-agent.ts',
    edits: [["if (view.state !== 'off') throw", "if (view.state === 'unknown') throw"]],
    killedBy: byTest(AWS, 'goes only when it is stopped, and by its id'),
  },
  {
    name: 'gce deletes what a group counts',
    defect: 'an instance of a managed group is deleted behind its back',
    file: 'agents/gce/account.ts',
    edits: [["    if (instance.group !== undefined) throw call.error('Refused',", "    if (instance.group === 'never') throw call.error('Refused',"]],
    killedBy: byTest(GCE, 'of a managed group stays, in words'),
  },
  {
    name: 'gce group of the one before',
    defect: 'a member of a managed group is deleted behind its back, as the one that bore its name before was of none',
    file: 'agents/gce/account.ts',
    edits: [['if (shown.instance.id === known.id) return', 'if (shown.instance.id !== known.group) return']],
    killedBy: byTest(GCE, 'of a managed group stays, also where the one that bore its name before was of none'),
  },
  {
    name: 'gce gone by its name',
    defect: 'an instance that bears the name by now is taken for the one that was deleted',
    file: 'agents/gce/account.ts',
    edits: [['      this.#memory.deletions.set(pathOf(place), instance.id);\n', '']],
    killedBy: byTest(GCE, 'is looked for by its id: another that bears its name by now is not it, and is not deleted'),
  },
  {
    name: 'a Machine’s node deleted',
    defect: 'nobody looks right before the deletion whose the machine is to delete',
    file: 'src/controllers/fence/run/permission.ts',
    edits: [
      ["    if (entry.action === 'delete' && run.kind === 'run') await", "    if (entry.action === 'acknowledge' && run.kind === 'run') await"],
    ],
    killedBy: byTest(RUNS, 'a name that belongs to a Machine saves its machine'),
  },
  {
    name: 'preserved in the last moment and deleted',
    defect: 'a preservation that comes between the decision and the deletion comes too late',
    file: 'src/controllers/fence/run/device-runs.ts',
    edits: [["if (entry.action === 'delete' && this.#isKept(run, frozen))", "if (entry.action === 'on' && this.#isKept(run, frozen))"]],
    killedBy: byTest(RUNS, 'to a deletion comes in time until it is sent: isolate-and-hold'),
  },
  {
    name: 'aws right to delete never asked for',
    defect: 'that the right to terminate is missing is found by a fence',
    file: 'agents/aws/cloud.ts',
    edits: [['deletes === true ?', 'deletes === undefined ?']],
    killedBy: byTest(AWS, 'has its right asked for by a probe, and by no other'),
  },
];
