import type { JournalEntry } from '../node-fence.ts';
import type { Plan, PlanMethod } from '../plan.ts';
import type { JobReport } from '../snapshot.ts';
import { method, Model, planOf } from './model.ts';

const BMC = { device: 'bmc' };
export const OFF = method('off', 'redfish', 'off', BMC);
export const ON = method('on', 'redfish', 'on', BMC);
/** A program on the machine. */
export const SSH = method('ssh', 'ssh', 'run', { kind: 'action', device: 'host' });

/** Power-management with these levels. */
export function levels(...own: readonly (readonly PlanMethod[])[]): Pick<Plan, 'powerManagement'> {
  return { powerManagement: own.map((methods, index) => ({ level: index + 1, methods })) };
}

/** A fence whose node has failed; nothing is begun yet. */
export function failing(plan: Partial<Plan> = {}): Model {
  const model = new Model(planOf(plan));
  model.fail();
  return model;
}

/** The same, isolated. */
export function isolated(plan: Partial<Plan> = {}): Model {
  const model = failing(plan);
  const first = model.next();
  if (first !== 'run:cordon') throw new Error(`${first} was begun, not its cordon`);
  return model;
}

export type Answer = readonly [JobReport['result'], Partial<JobReport>?];

/** What is begun until its state is one of rest, or so many times; each is answered, with success where nothing else is said. What is let go is gone at once, where nothing is left. */
export function begun(model: Model, most: number, answer: (entry: JournalEntry) => Answer | undefined = () => undefined): string[] {
  const operations: string[] = [];
  const rests = (): boolean => ['done', 'error', 'final'].includes(model.fence?.status?.state ?? '');
  // What a fence in a state of rest has just been told counts first.
  if (model.inFlight.size === 0) model.step();
  while (operations.length < most) {
    model.runUntil(() => model.inFlight.size > 0 || rests());
    const entry = model.dispatched.at(-1)?.entry;
    if (model.inFlight.size === 0 || entry === undefined) return operations;
    operations.push(entry.action === 'confirm' ? `confirm ${entry.operation}` : entry.operation);
    const [result, report] = answer(entry) ?? (['succeeded'] as const);
    const left = report?.released?.left ?? report?.storageRelease?.left ?? 0;
    if (entry.action === 'release' && left === 0) model.drained();
    model.finish(result, report);
  }
  return operations;
}

/** It is Ready on this boot for so many beats of five seconds; what is begun meanwhile goes well. */
export function lives(model: Model, bootID: string, beats = 12): string[] {
  const before = model.dispatched.length;
  for (let beat = 0; beat < beats && model.fence !== undefined; beat += 1) {
    model.nowMs += 5_000;
    model.live({ ready: 'True', bootID });
    model.step();
    if (model.inFlight.size > 0) model.finish('succeeded');
  }
  return model.dispatched.slice(before).map(({ entry }) => entry.operation);
}
