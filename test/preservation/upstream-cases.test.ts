import { describe, expect, it } from 'vitest';
import { planAutomatic } from '../../src/controllers/preservation/automatic.ts';
import { isSameCondition, preservedCondition } from '../../src/controllers/preservation/condition.ts';
import { availability } from '../../src/controllers/preservation/counts.ts';
import { drainOptions } from '../../src/controllers/preservation/drain.ts';
import { effectiveText, effectiveValue, isBound, readMarks, syncedMarks } from '../../src/controllers/preservation/marks.ts';
import type { PreserveMarks } from '../../src/controllers/preservation/marks.ts';
import { LAST_APPLIED, PRESERVE, PRESERVED_TAINT, SCALE_DOWN_DISABLED, SCALE_DOWN_MARKER } from '../../src/controllers/preservation/names.ts';
import { mayFail, replacementsIn } from '../../src/controllers/preservation/phase.ts';
import { distribute } from '../../src/controllers/preservation/pools.ts';
import { drained } from '../../src/controllers/preservation/preserve.ts';
import { selectSurplus } from '../../src/controllers/preservation/scale-down.ts';
import { stop } from '../../src/controllers/preservation/stop.ts';
import { machineSubject } from '../../src/controllers/preservation/subject.ts';
import { unshielded } from '../../src/controllers/preservation/node-marks.ts';
import { decidePreserve } from '../../src/controllers/preservation/preserve-decision.ts';
import { caseOf, CASES, described, inSeconds, listed } from './upstream-case.ts';
import type { Case, Setup } from './upstream-case.ts';
import { DIFFERENT } from './differences.ts';
import { machine, node, NOW_MS, World } from './world.ts';

const NOWHERE = { group: undefined, pool: undefined };
const orAbsent = (text: string): string | undefined => (text === '' ? undefined : text);

/** What came of it, in the words of the cases. */
function outcome(world: World, told: readonly string[], before: Setup): Record<string, unknown> {
  const { annotations, expiryMs } = world.machine('m');
  const backing = world.nodes[0];
  const marks = backing?.annotations ?? {};
  return {
    error: told.map((problem) => problem.replace(/^.*?: /, '')).find((problem) => problem.endsWith('not found')) ?? null,
    expirySet: expiryMs !== undefined,
    expiryUnchanged: expiryMs === inSeconds(before.machine.expiry),
    machinePreserve: annotations[PRESERVE] ?? null,
    lastApplied: annotations[LAST_APPLIED] ?? null,
    condition: backing?.preserved ?? null,
    tainted: backing?.taints.includes(PRESERVED_TAINT) ?? false,
    drained: world.kinds().includes('drain'),
    unschedulable: backing?.isUnschedulable ?? false,
    nodePreserve: marks[PRESERVE] ?? null,
    caDisabled: marks[SCALE_DOWN_DISABLED] === 'true',
    caByMcm: marks[SCALE_DOWN_MARKER] !== undefined,
    machineUnchanged: !world.done.some(({ target }) => target.kind === 'Machine'),
  };
}

/** `requeue` is how long MCM sleeps; we wake when something is due. */
function matches(actual: Record<string, unknown>, { conditionMessagePrefix, requeue: _requeue, ...expected }: Record<string, unknown>): void {
  expect(actual).toMatchObject(expected);
  const { message = '' } = (actual['condition'] ?? {}) as { message?: string };
  expect(message.startsWith(typeof conditionMessagePrefix === 'string' ? conditionMessagePrefix : '')).toBe(true);
}

function settled(setup: Setup, extra: Record<string, string> = {}): { world: World; told: readonly string[] } {
  const subject = described(setup, extra);
  const world = new World({ machines: [subject.machine], nodes: subject.node === undefined ? [] : [subject.node] });
  const { problems } = world.settle();
  return { world, told: problems };
}

function marksOf(setup: Setup): PreserveMarks {
  const lastApplied = orAbsent(setup.lastApplied);
  return { machine: setup.machineAnnotated ? 'when-failed' : undefined, node: setup.nodeAnnotated ? setup.nodeValue : undefined, lastApplied };
}

/** Each op by decide itself, or by the function of its own that decide asks. */
const RUN: Readonly<Record<string, (each: Case) => void>> = {
  reconcilePreservation({ setup, expect: expected }) {
    const { world, told } = settled(setup);
    matches(outcome(world, told, setup), expected);
  },
  preserve({ setup, expect: expected }) {
    const { world, told } = settled(setup, { [PRESERVE]: setup.value });
    matches(outcome(world, told, setup), expected);
  },
  stopPreservation({ setup, expect: expected }) {
    const subject = described(setup);
    const world = new World({ machines: [subject.machine], nodes: subject.node === undefined ? [] : [subject.node] });
    const decision = { kind: 'stop', why: 'recovered', forgets: setup.removeAnnotations } as const;
    const actions = stop(machineSubject(subject.machine, subject.node, subject.machine.phase, NOWHERE), decision);
    for (const action of actions) world.apply(action);
    matches(outcome(world, [], setup), expected);
    expect(actions.at(-1)).toMatchObject({ kind: 'machine-status', to: { expiryMs: undefined } });
  },
  effectivePreserveValue({ setup, expect: expected }) {
    const marks = { machine: orAbsent(setup.machineValue), node: orAbsent(setup.nodeValue), lastApplied: orAbsent(setup.lastAppliedNodeValue) };
    expect(effectiveText(marks, setup.nodeFound)).toBe(expected['effective']);
  },
  resolvePreserveValueNext({ setup, expect: expected }) {
    const backing = setup.node as { annotations: Record<string, string> | null } | null;
    const marks = readMarks(setup.machineAnnotations ?? undefined, backing?.annotations ?? undefined);
    expect({ value: effectiveText(marks, backing !== null), handle: isBound(marks, undefined) }).toEqual(expected);
  },
  isPreservationBound({ setup, expect: expected }) {
    expect(isBound(readMarks(setup.machineAnnotations ?? {}, setup.nodeAnnotations), inSeconds(setup.expiry))).toBe(expected['bound']);
  },
  gatherPreserveState({ setup, expect: { lookupErrorContains, ...expected } }) {
    const own = machine('m', { annotations: setup.machineAnnotations ?? {}, nodeName: setup.nodeLabel });
    const backing = setup.nodeExists ? node(setup.nodeLabel, { annotations: setup.nodeAnnotations }) : undefined;
    const { marks, expiryMs, problem } = machineSubject(own, backing, 'Running', NOWHERE);
    const state = { machineAnnotated: marks.machine !== undefined, machineValue: marks.machine ?? '', nodeAnnotated: marks.node !== undefined };
    expect({ ...state, nodeValue: marks.node ?? '', lastApplied: marks.lastApplied ?? '', expirySet: expiryMs !== undefined }).toEqual(expected);
    expect(problem ?? '').toContain(lookupErrorContains ?? '');
  },
  shouldSyncAnnotationsToMachine({ setup, expect: expected }) {
    const marks = marksOf(setup);
    const to = syncedMarks(marks, true);
    const annotations = { [PRESERVE]: setup.nodeValue };
    const world = new World({ machines: [machine('m', { nodeName: 'n', expiryMs: NOW_MS })], nodes: [node('n', { annotations })] });
    world.settle();
    const isSynced = to.machine !== marks.machine || to.lastApplied !== marks.lastApplied;
    expect(setup.removed ? LAST_APPLIED in world.machine('m').annotations : isSynced).toBe(expected['sync']);
  },
  syncAnnotationsToMachine({ setup, expect: expected }) {
    const to = syncedMarks(readMarks(setup.machineAnnotations ?? {}, { [PRESERVE]: setup.nodeValue }), true);
    expect({ preserve: to.machine ?? null, lastApplied: to.lastApplied ?? null }).toEqual(expected);
  },
  computePreservedCondition({ setup, expect: expected }) {
    const value = effectiveValue({ machine: setup.value, node: undefined, lastApplied: undefined }, false);
    const to = preservedCondition(setup.phase, value, setup.drainError ? 'failed' : 'drained', setup.expiryText);
    const existing = setup.existing === null ? undefined : { reason: '', ...setup.existing };
    expect({ ...to, needsUpdate: to !== undefined && !isSameCondition(existing, to) }).toEqual(expected);
  },
  shouldDrainPreservedNode({ setup, expect: expected }) {
    const preserved = setup.existing === null ? {} : { preserved: { reason: 'Preserved by user.', ...setup.existing } };
    const backing = node('n', preserved);
    const subject = machineSubject(machine('m', { phase: setup.phase, nodeName: 'n' }), backing, setup.phase, NOWHERE);
    expect(drained(subject, backing, NOW_MS).actions.length > 0).toBe(expected['drain']);
  },
  removeNodePreservationAnnotations({ setup, expect: expected }) {
    const { ca, caByMcm, remove } = setup as unknown as { ca: boolean; caByMcm: boolean; remove: boolean };
    const marks = { [PRESERVE]: 'now', ...(ca && { [SCALE_DOWN_DISABLED]: 'true' }), ...(caByMcm && { [SCALE_DOWN_MARKER]: 'true' }) };
    const removed = new Set([...unshielded(marks), ...(remove ? [{ key: PRESERVE }] : [])].map(({ key }) => key));
    const left = (key: string): boolean => key in marks && !removed.has(key);
    expect({ preserve: left(PRESERVE) ? 'now' : null, ca: left(SCALE_DOWN_DISABLED), caByMcm: left(SCALE_DOWN_MARKER) }).toEqual(expected);
  },
  manageAutoPreservation({ setup, expect: expected }) {
    const members = setup.machines.map((each) => {
      const marks = { machine: each.preserve, node: each.nodePreserve, lastApplied: each.lastApplied };
      const value = effectiveValue(marks, true);
      const { name, createdMs } = listed(each);
      return { name, createdMs, isTaken: value === 'automatic', isCandidate: each.phase === 'Failed' && value === 'none' };
    });
    const plan = planAutomatic(setup.max, setup.statusCount, members);
    const names = (list: { name: string }[]): string[] => list.map(({ name }) => name);
    expect({ annotated: names(plan.preserve), removed: names(plan.release), remainingExcess: plan.remainingExcess }).toMatchObject(expected);
  },
  shouldTerminateFailedMachine({ setup, expect: expected }) {
    const marks = { machine: orAbsent(setup.machineValue), node: orAbsent(setup.nodeValue), lastApplied: orAbsent(setup.lastApplied) };
    const value = effectiveValue(marks, setup.nodeExists);
    const decision = decidePreserve({ value, phase: 'Failed', expiryMs: inSeconds(setup.expiry), nowMs: NOW_MS, override: undefined });
    expect(decision.kind === 'stop').toBe(expected['terminate']);
  },
  selectMachinesToDelete({ setup, expect: expected }) {
    const machines = setup.machines.map((each) => ({ ...listed(each), value: each.expiry === undefined ? ('none' as const) : ('now' as const) }));
    expect(selectSurplus(machines, setup.diff, NOW_MS).map(({ name }) => name)).toEqual(expected['order']);
  },
  machineSetStatus({ setup, expect: expected }) {
    const machines = setup.machines.map((each) => ({ ...listed({ ...each, preserve: 'now' }), machineSet: 's' }));
    const world = new World({ machines, machineSets: [{ name: 's', namespace: 'shoot', uid: 'u', replicas: setup.replicas }] });
    const { views } = world.settle();
    const { automatic, preservedFailed } = world.machineSets[0]?.counts ?? { automatic: 0, preservedFailed: 0 };
    const failed = views.filter(({ phase }) => phase === 'Failed').map(({ name }) => name);
    const status = { preservedFailedReplicas: preservedFailed, autoPreserveFailedMachineCount: automatic };
    expect({ ...status, failedMachines: failed.length === 0 ? null : failed }).toEqual(expected);
  },
  deploymentAvailability({ setup, expect: expected }) {
    const facts = { name: 'd', namespace: 'shoot', uid: 'u', labels: {}, isHibernated: false, replicas: setup.replicas };
    const { minRequired, isAvailable, reason } = availability(
      { ...facts, maxUnavailable: setup.maxUnavailable, availableReplicas: setup.available },
      setup.preservedFailed,
    );
    expect({ minRequired, available: isAvailable ? 'True' : 'False', reason }).toEqual(expected);
  },
  canMarkFailed({ setup, expect: expected }) {
    const machines = setup.machines.map(listed);
    expect({ allowed: mayFail(machines), inProgress: replacementsIn(machines) }).toEqual(expected);
  },
  distributeOverZones({ setup, expect: expected }) {
    expect(distribute(setup.max, setup.zones)).toEqual(expected['perZone']);
  },
  preservedDrainOptions({ setup, expect: expected }) {
    const { isForced, timeoutMs, evictionRetriesMax } = drainOptions({
      ready: setup.readyStatus,
      readySinceMs: NOW_MS - setup.readySince * 1000,
      readOnlySinceMs: undefined,
      isForceLabelled: false,
      sinceMs: NOW_MS - setup.sinceStatusUpdate * 1000,
      timeoutMs: setup.drainTimeout * 1000,
      evictionRetriesMax: setup.maxEvictRetries,
      nowMs: NOW_MS,
    });
    expect({ force: isForced, timeout: timeoutMs / 1000, maxEvictRetries: evictionRetriesMax }).toEqual(expected);
  },
  /** We are not woken by filters: the same picture with the annotation in it asks for something else. */
  machineUpdateEvent({ setup, expect: expected }) {
    const { newPreserve } = setup as unknown as { newPreserve: string };
    const world = new World({ machines: [machine('m')], nodes: [node('node-of-m')] });
    expect(world.settle().actions).toEqual([]);
    world.editMachine('m', { annotations: { [PRESERVE]: newPreserve } });
    expect(world.decide().actions.length > 0).toBe(expected['enqueue']);
  },
  /** The autoscaler leaves a node alone whose annotation says so, and that is what we write. */
  caForceDelete({ expect: expected }) {
    const world = new World({ machines: [machine('m', { annotations: { [PRESERVE]: 'now' } })], nodes: [node('node-of-m')] });
    world.settle();
    const scalable = world.nodes.filter(({ annotations }) => annotations[SCALE_DOWN_DISABLED] !== 'true');
    expect(scalable).toEqual(expected['deleted']);
  },
  /** We own no VMs: with a Machine goes what backs it, and nothing else ever does. */
  orphanVm({ setup, expect: expected }) {
    const { phase, expiry } = setup.machine;
    const expiryMs = inSeconds(expiry);
    const annotations = { [PRESERVE]: 'when-failed' };
    const own = machine('m', { phase: phase ?? 'Failed', annotations, ...(expiryMs !== undefined && { expiryMs }) });
    const world = new World({ machines: [own], nodes: [node('node-of-m')] });
    world.settle();
    expect(world.kinds().includes('delete-machine')).toBe(expected['deleteVm']);
  },
};

describe('what MCM does, case by case', () => {
  const same = CASES.filter(({ id }) => !DIFFERENT.has(id));

  it.each(same.map((each) => [`${each.id} ${each.op}: ${each.title}`, each] as const))('%s', (_name, each) => {
    const run = RUN[each.op];
    if (run === undefined) throw new Error(`nothing runs ${each.op}`);
    run(each);
  });

  it('are 85, and those we differ in are among them', () => {
    expect(CASES).toHaveLength(85);
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(85);
    for (const id of DIFFERENT.keys()) expect(caseOf(id).id).toBe(id);
    const quirks = CASES.filter(({ quirk }) => quirk === true).map(({ id }) => id);
    expect(quirks.length).toBeGreaterThan(0);
    expect([...DIFFERENT.keys()]).toEqual(expect.arrayContaining(quirks));
  });
});

describe('where the guide or safety wins', () => {
  it.each([...DIFFERENT].map(([id, { ours, reason }]) => [`${id}: ${reason}`, id, ours] as const))('%s', (_name, id, ours) => {
    const each = caseOf(id);
    const run = RUN[each.op];
    if (run === undefined) throw new Error(`nothing runs ${each.op}`);
    expect(() => run(each)).toThrow();
    run({ ...each, expect: ours });
  });
});
