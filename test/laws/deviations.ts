import type { JobResult, JournalEntry } from '../../src/domain/node-fence.ts';
import type { Walker } from './walker.ts';

/** Something out of the ordinary. `applies` says where it can happen. */
export interface Deviation {
  name: string;
  applies(walker: Walker): boolean;
  happen(walker: Walker): void;
}

function event(name: string, applies: (walker: Walker) => boolean, happen: (walker: Walker) => void): Deviation {
  return { name, applies, happen };
}

const fenced = ({ model }: Walker): boolean => model.fence?.status !== undefined;
const running = ({ model }: Walker): boolean => model.inFlight.size > 0;

const HOLD = { reason: 'storm', policy: 'max-unhealthy', message: 'too many nodes are unhealthy' };
const OBSERVE = { reason: 'observe', policy: 'observe', message: 'nothing is touched' };

/** What can happen around the automaton, at any time. */
export const EVENTS: readonly Deviation[] = [
  event(
    'a sign of life',
    ({ machine, model }) => machine.power === 'on' && model.node !== undefined,
    (walker) => walker.speak(),
  ),
  event(
    'Ready on the same boot',
    ({ machine, model }) => machine.power === 'on' && model.node !== undefined,
    (walker) => walker.speak('True'),
  ),
  event(
    'NotReady with a live kubelet',
    ({ machine, model }) => machine.power === 'on' && model.node !== undefined,
    (walker) => walker.speak('False'),
  ),
  event(
    'boots anew by itself',
    ({ model }) => model.node !== undefined,
    (walker) => walker.bootAnew(),
  ),
  event(
    'dies',
    ({ machine }) => machine.kubelet !== 'silent',
    (walker) => walker.die(),
  ),
  event(
    'a hold comes',
    ({ model }) => model.holds.length === 0,
    ({ model }) => (model.holds = [HOLD]),
  ),
  event(
    'a hold goes',
    ({ model }) => model.holds.length > 0,
    ({ model }) => (model.holds = []),
  ),
  event(
    'observe mode',
    ({ model }) => model.holds.length === 0,
    ({ model }) => (model.holds = [OBSERVE]),
  ),
  event(
    'a stop comes',
    ({ model }) => model.stop === undefined,
    ({ model }) => (model.stop = { by: 'NodeFenceStop x', reason: 'wait' }),
  ),
  event(
    'a stop goes',
    ({ model }) => model.stop !== undefined,
    ({ model }) => (model.stop = undefined),
  ),
  event('a take-over before the effect', fenced, (walker) => walker.crash(false)),
  event('a take-over after the effect', running, (walker) => walker.crash(true)),
  event(
    'this leader is deposed',
    ({ model }) => model.fence?.status?.epoch === model.epoch,
    ({ model }) => (model.epoch -= 1),
  ),
  event(
    'the Node is replaced',
    (walker) => fenced(walker) && walker.model.node !== undefined,
    ({ model, machine }) => {
      if (model.node !== undefined) model.node = { ...model.node, uid: 'uid-b' };
      // The new Node has none of our marks.
      [machine.tainted, machine.cordoned] = [false, false];
    },
  ),
  event(
    'the Node is deleted',
    (walker) => fenced(walker) && walker.model.node !== undefined,
    ({ model }) => (model.node = undefined),
  ),
  event(
    'the NodeFence is deleted by hand',
    ({ model }) => model.fence?.deleting === false,
    ({ model }) => {
      if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    },
  ),
  event(
    'a person pulls the plug and says so',
    (walker) => fenced(walker) && walker.model.acknowledgement === undefined,
    (walker) => {
      walker.powerOff();
      walker.acknowledge();
    },
  ),
  event(
    'a person says so of a machine that runs',
    (walker) => fenced(walker) && walker.model.acknowledgement === undefined,
    (walker) => walker.acknowledge(),
  ),
  event(
    'a volume that never detaches',
    ({ machine }) => !machine.stuckVolume,
    ({ machine }) => (machine.stuckVolume = true),
  ),
];

function guarded(name: string, guard: NonNullable<Walker['model']['preservation']>): Deviation {
  return event(
    name,
    ({ isPreservable, model }) => isPreservable && model.preservation?.kind !== guard.kind && model.preservation?.kind !== 'drop',
    ({ model }) => (model.preservation = guard),
  );
}

/** What becomes of the machine besides: only in worlds that are about it. A deletion is never taken back. */
const GUARDS: readonly Deviation[] = [
  guarded('its machine is preserved', { kind: 'isolate-and-hold', cause: 'user' }),
  guarded('it is called healthy, and preserved by now', { kind: 'never-fence', cause: 'user' }),
  guarded('nobody can tell whether it is preserved', { kind: 'unknown' }),
  guarded('its Machine is being deleted', { kind: 'drop' }),
  event(
    'the preservation is over',
    ({ isPreservable, model }) => isPreservable && model.preservation !== undefined && model.preservation.kind !== 'drop',
    ({ model }) => (model.preservation = undefined),
  ),
  event(
    'somebody asks for it to end in off',
    ({ isPreservable, model }) => isPreservable && model.fence?.deleting === false && model.fence.spec.ending === undefined,
    (walker) => walker.ask(true, { ending: 'off' }),
  ),
];

const WRONG = { step: 'power-management', severity: 'error', where: 'ConfigMap fence-config-a', message: 'no agent redfsh' } as const;

/** What people ask for and write while a fence is open. */
const WISHES: readonly Deviation[] = [
  event(
    'somebody asks for the fence',
    ({ model }) => model.fence?.deleting === false && model.fence.spec.requestedBy === undefined,
    (walker) => walker.ask(true),
  ),
  event(
    'somebody asks for isolation only',
    ({ isLimitable, model }) => isLimitable && model.fence?.deleting === false && model.fence.spec.lastStep === undefined,
    (walker) => walker.ask(true, { lastStep: 'isolation' }),
  ),
  event(
    'the request is withdrawn',
    ({ model }) => model.fence?.spec.requestedBy !== undefined,
    (walker) => walker.ask(false),
  ),
  event(
    'the configuration becomes wrong',
    (walker) => fenced(walker) && walker.model.plan.problems.length === 0,
    ({ model }) => (model.plan = { ...model.plan, problems: [WRONG] }),
  ),
  event(
    'the configuration is mended',
    ({ model }) => model.plan.problems.length > 0,
    ({ model }) => (model.plan = { ...model.plan, problems: [] }),
  ),
];

const NOTHING: readonly JobResult[] = ['not-sent', 'interrupted'];
const DEVICE: readonly JobResult[] = ['timeout', 'refused', 'unreachable', 'misconfigured'];

/** Results that a run can have beside the honest one. */
export function resultsOf(entry: JournalEntry, kind: 'run' | 'recover'): readonly JobResult[] {
  if (kind === 'recover') return ['unreachable', 'interrupted'];
  switch (entry.action) {
    case 'off':
    case 'on':
      return [...DEVICE, ...NOTHING];
    case 'confirm':
      return ['unreachable', 'found-not-done', 'misconfigured'];
    case 'release':
      return ['voided', 'failed', ...NOTHING];
    case 'release-end':
      return ['failed', 'interrupted'];
    default:
      return ['refused', 'failed', ...NOTHING];
  }
}

/** The deviations that are possible in this world now. */
export function deviationsIn(walker: Walker): Deviation[] {
  const possible = [...EVENTS, ...WISHES, ...GUARDS].filter((deviation) => deviation.applies(walker));
  const entry = walker.entry;
  if (entry === undefined) return possible;
  const kind = walker.model.dispatched.at(-1)?.kind ?? 'run';
  const results = resultsOf(entry, kind).map((result) =>
    event(
      `${kind} ${entry.operation} ends as ${result}`,
      () => true,
      (one) => one.finish(result),
    ),
  );
  const late = event(
    `${entry.operation} takes effect after its timeout`,
    () => true,
    (one) => {
      one.finish('timeout', one.takeEffect(entry));
    },
  );
  const lying = event(
    `${entry.operation} is read back, and the node lives on`,
    () => true,
    (one) => {
      // A port that is closed says nothing of the node's life; a machine that is off has none.
      if (one.model.isFabric(entry)) one.finish();
      else one.finish('succeeded');
      one.model.nowMs += 1;
      one.speak();
    },
  );
  const terminated = event(
    `${entry.operation} finds the instance terminated`,
    () => true,
    (one) => {
      one.finish();
      one.model.reports = one.model.reports.map((report) =>
        report.evidence === undefined ? report : { ...report, evidence: { ...report.evidence, kind: 'instance-stopped', terminated: true } },
      );
    },
  );
  if (kind !== 'run' || entry.action !== 'off') return [...possible, ...results];
  return [...possible, ...results, late, lying, ...(walker.model.isFabric(entry) ? [] : [terminated])];
}
