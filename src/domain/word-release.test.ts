import { describe, expect, it } from 'vitest';
import { acknowledge } from './advance.ts';
import type { JournalEntry, Released } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { begun, failing, isolated, lives } from './testing/course.ts';
import type { Answer } from './testing/course.ts';
import { method } from './testing/model.ts';
import type { Model } from './testing/model.ts';
import { accepted, givenUp, weighed, WORD } from './testing/word.ts';
import type { Context } from './transition.ts';

const AT = '2026-01-01T00:00:00.000Z';

function batch(number: number, left: number, by: Released['by'] = 'delete-pods'): { released: Released } {
  return { released: { by, at: AT, pods: number, evidence: 'x', batch: number, left } };
}

/** Each look at the devices shows that nothing reads on; each release comes to the next of these answers. */
function weighing(model: Model, ...answers: Answer[]): (entry: JournalEntry) => Answer | undefined {
  return ({ action }) => {
    if (action === 'acknowledge') return ['succeeded', weighed(model)];
    return action === 'release' ? answers.shift() : undefined;
  };
}

function wordFor(plan: Partial<Plan> = {}): Model {
  const model = givenUp(plan);
  accepted(model);
  return model;
}

describe('a release on a person’s word', () => {
  it('ends after step_retries, and says what failed last', () => {
    const model = wordFor({ stepRetries: 1 });
    const answers: Answer[] = [
      ['failed', { message: 'webhook a' }],
      ['failed', { message: 'webhook b' }],
    ];
    expect(begun(model, 9, weighing(model, ...answers))).toEqual(['release', 'acknowledge', 'release']);
    expect(model.status).toMatchObject({ state: 'error', message: expect.stringContaining('webhook b') as string });
  });

  it('ends at once where the API server refuses it, and says why', () => {
    const model = wordFor({ stepRetries: 5 });
    expect(begun(model, 9, weighing(model, ['refused', { message: 'it is forbidden' }]))).toEqual(['release']);
    expect(model.status).toMatchObject({ state: 'error', message: expect.stringContaining('it is forbidden') as string });
  });

  it('is begun anew where one on our own proof was refused before', () => {
    const model = isolated({ maxRestarts: 0, stepRetries: 0 });
    expect([model.next(), model.next('refused')]).toEqual(['off:off', 'release:release']);
    model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
    accepted(model);
    expect(begun(model, 9, weighing(model))).toEqual(['release', 'release-end']);
    expect(model.status.state).toBe('done');
  });

  it('is begun where isolation had failed on its last level: the word is of the machine, whatever had come of that', () => {
    const cordons = ['first', 'second'].map((name, index) => ({ level: index + 1, methods: [method(name, 'cordon', 'run')] }));
    const model = failing({ isolation: cordons, maxRestarts: 0, stepRetries: 0 });
    expect([model.next('refused'), model.next('refused')]).toEqual(['run:first', 'run:second']);
    model.runUntil(() => model.status.state === 'error' && model.status.outcome === 'failed');
    accepted(model);
    expect(begun(model, 9, weighing(model))).toEqual(['release', 'release-end']);
  });

  it('goes at the pace of the plan, and the word is weighed anew before each batch', () => {
    const model = wordFor({ release: 'delete-pods', podsPerMinute: 6 });
    expect(model.next('succeeded', batch(1, 1))).toBe('release:release');
    const begunAtMs = model.nowMs;
    model.step();
    model.step();
    model.runUntil(() => model.inFlight.size > 0);
    expect([model.dispatched.at(-1)?.entry.operation, model.nowMs - begunAtMs]).toEqual(['acknowledge', 10_000]);
    model.finish('succeeded', weighed(model));
    expect(model.next('succeeded', batch(2, 0))).toBe('release:release');
  });

  it('gives up what a budget keeps, release_timeout after it began', () => {
    const model = wordFor({ release: 'evict' });
    const begunAtMs = model.nowMs;
    let number = 0;
    const operations = begun(model, 60, ({ action }) => {
      if (action === 'acknowledge') return ['succeeded', weighed(model)];
      number += 1;
      return action === 'release' ? ['succeeded', batch(number, 1, 'evict')] : undefined;
    });
    expect(operations.at(-1)).toBe('release-end');
    expect(operations.filter((operation) => operation === 'release').length).toBeGreaterThan(3);
    expect(model.nowMs - begunAtMs).toBeGreaterThanOrEqual(model.plan.timing.releaseTimeoutMs);
    expect(model.status.message).toContain('The workload is not completely released on an acknowledgement.');
  });

  it('is none of a node that came back before a successor has looked, which says of no release that there was one', () => {
    const model = wordFor();
    model.step();
    model.takeOver();
    const after = lives(model, 'boot-2', 4);
    expect(after).toEqual([]);
    expect(model.status.released).toBeUndefined();
    const said = 'The node came back before its workload was let go on an acknowledgement: nothing is released.';
    expect([model.status.state, model.status.message, model.words.at(-1)]).toEqual(['done', said, said]);
  });

  it('is followed by a recovery as any other is, once the node is healthy on a new boot', () => {
    const model = wordFor();
    expect(begun(model, 9, weighing(model))).toEqual(['release', 'release-end']);
    expect(lives(model, 'boot-2')).toEqual(['run:uncordon']);
    expect(model.status).toMatchObject({ state: 'final', outcome: 'recovered' });
    expect(model.status.restore).toBeUndefined();
  });
});

describe('a person’s word', () => {
  it('is weighed anew by its own name, and counted by itself, where another one was refused before', () => {
    const model = givenUp();
    model.acknowledgement = WORD;
    expect(model.next('refused', { message: 'bmc reads on' })).toBe('acknowledge:ack-a');
    accepted(model, { name: 'ack-b', uid: 'word-2' });
    model.nowMs += 5_000;
    model.runUntil(() => model.inFlight.size > 0);
    const looks = model.status.journal.filter(({ action }) => action === 'acknowledge');
    expect(looks.map(({ method, plug, attempt }) => [method, plug, attempt])).toEqual([
      ['ack-a', 'word-1', 1],
      ['ack-b', 'word-2', 1],
      ['ack-b', 'word-2', 2],
    ]);
  });

  it('leaves what a person must do in sight while it is weighed, and says that it is weighed where nothing else was said', () => {
    const model = givenUp();
    const before = model.status.message;
    expect(before).toContain('An operator must act');
    model.acknowledgement = WORD;
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.status.message).toBe(before);
    const { message: _said, ...unsaid } = model.status;
    const context = { status: unsaid, plan: model.plan, snapshot: model.snapshot(), node: model.node } as unknown as Context;
    expect(acknowledge(context, WORD).status?.message).toBe('acknowledge by kubernetes, attempt 2.');
  });
});

describe('a person’s word once a release was begun on our own proof', () => {
  const hasGivenUp = (model: Model) => (): boolean => model.status.state === 'error' && model.status.outcome === 'failed';

  /** A first batch is let go on a proof of its own; so many pods are left. */
  function halfReleased(plan: Partial<Plan> = {}, left = 1): Model {
    const model = isolated({ maxRestarts: 0, stepRetries: 0, release: 'delete-pods', ...plan });
    expect([model.next(), model.next('succeeded', batch(1, left))]).toEqual(['off:off', 'release:release']);
    return model;
  }

  function silentAgain(model: Model): void {
    model.fail();
    model.workload = { pods: 2, terminating: 0, volumeAttachments: 1 };
    model.nowMs += 60_000;
  }

  it.each([
    ['in the middle', 1],
    ['behind the last', 0],
  ])('lets go what waits where the proof was lost %s of it, and the node is silent again', (_where, left) => {
    const model = halfReleased({}, left);
    model.nowMs += 1_000;
    model.live();
    begun(model, 9);
    model.runUntil(hasGivenUp(model));
    expect(model.status.released?.voidedAt).toBeDefined();
    expect(model.status.message).toContain('nodefence ack');
    silentAgain(model);
    accepted(model);
    expect(begun(model, 9, weighing(model))).toEqual(['release', 'release-end']);
    expect(model.status).toMatchObject({ state: 'done', released: { by: 'out-of-service' } });
    expect(model.status.released).not.toHaveProperty('voidedAt');
  });

  it('lets go the rest where the device fell silent between two batches', () => {
    const model = halfReleased();
    model.nowMs += 5_000;
    begun(model, 9, ({ action }) => (action === 'confirm' ? ['unreachable', { message: 'no route' }] : undefined));
    model.runUntil(hasGivenUp(model));
    expect(model.status.released).toMatchObject({ left: 1 });
    silentAgain(model);
    accepted(model);
    expect(begun(model, 9, weighing(model))).toEqual(['release', 'release-end']);
    expect(model.status.state).toBe('done');
  });

  it('that is refused says nothing against what was let go on that proof', () => {
    const model = halfReleased({ maxRestarts: 1 });
    model.nowMs += 5_000;
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('unreachable', { message: 'no route' });
    model.runUntil(() => model.status.state === 'error');
    model.acknowledgement = WORD;
    expect(model.next('refused', { message: 'bmc reads on' })).toBe('acknowledge:ack-a');
    model.step();
    expect(model.status.released).not.toHaveProperty('voidedAt');
  });

  it('counts for a node that recovered and failed again, whose restarts are used up', () => {
    const model = isolated({ maxRestarts: 0, stepRetries: 0 });
    begun(model, 9);
    expect(lives(model, 'boot-2')).toEqual(['run:uncordon']);
    expect(model.status).toMatchObject({ state: 'final', outcome: 'recovered', released: { by: 'out-of-service' } });
    model.fail();
    model.nowMs += 60_000;
    model.runUntil(hasGivenUp(model));
    expect(model.status.message).toContain('Nothing was released: its pods and volumes still wait');
    model.workload = { pods: 2, terminating: 0, volumeAttachments: 1 };
    accepted(model);
    expect(begun(model, 9, weighing(model))).toEqual(['release', 'release-end']);
  });
});
