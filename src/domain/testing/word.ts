import type { Plan } from '../plan.ts';
import type { JobReport } from '../snapshot.ts';
import { isolated } from './course.ts';
import type { Model } from './model.ts';

export const WORD = { name: 'ack-a', uid: 'word-1' };

/** The device did not answer, and the fence has failed: it waits for a person. */
export function givenUp(plan: Partial<Plan> = {}): Model {
  const model = isolated({ maxRestarts: 0, stepRetries: 0, ...plan });
  const isOver = (): boolean => model.status.state === 'error' && model.status.outcome === 'failed';
  for (let runs = 0; runs < 9; runs += 1) {
    model.runUntil(() => model.inFlight.size > 0 || isOver());
    if (isOver()) return model;
    model.finish('unreachable', { message: 'no route' });
  }
  throw new Error('it has not given up');
}

/** What the look at the devices comes to, where none of them reads on. */
export function weighed(model: Model): Partial<JobReport> {
  model.proofs.set([...model.inFlight][0] ?? '', model.nowMs);
  const observedAt = new Date(1_700_000_000_000 + model.nowMs).toISOString();
  return { evidence: { kind: 'ack', grade: 'person', detail: 'looked', observedAt, bootID: 'boot-1' }, evidenceAtMs: model.nowMs };
}

/** The word is weighed, and counts. */
export function accepted(model: Model, word = WORD): void {
  model.acknowledgement = word;
  model.runUntil(() => model.inFlight.size > 0);
  const entry = model.dispatched.at(-1)?.entry;
  if (entry?.action !== 'acknowledge' || entry.plug !== word.uid)
    throw new Error(`${entry?.operation ?? 'nothing'} was begun, not the look for ${word.name}`);
  model.finish('succeeded', weighed(model));
  model.acknowledgement = undefined;
}
