import { REMEDY_KINDS } from '../domain/remedy/configuration.ts';
import { REMEDY_PHASES } from '../domain/remedy/position.ts';
import { REMEDY_STATUS_LIMITS } from '../ports/remedies.ts';
import type { RemediesStatus } from '../ports/remedies.ts';
import { choice, flag, integer, list, object, optional, text, time, token } from './schema.ts';
import type { Schema } from './schema.ts';

type Position = NonNullable<RemediesStatus['positions']>[number];
type Phase = Position['phase'];

const PHASES: Readonly<Record<Phase, string>> = {
  waiting: 'for the next remedy',
  starting: 'a remedy is written down, and not begun yet',
  running: 'a remedy runs',
  cooling: 'all remedies were tried, the next attempt follows',
  recovered: 'the condition is over',
  fenced: 'a fence of the node took over',
  'handed-over': 'a person is asked',
};

const phase = (description: string): Schema<Phase> =>
  choice(description, Object.fromEntries(REMEDY_PHASES.map((each) => [each, PHASES[each]])) as Record<Phase, string>);
const threshold = token('Condition and status that it answers: KernelDeadlock=True.', { maxLength: 320 });
const remedy = token('Its name.');

const RUN = object<NonNullable<Position['run']>>('The remedy that is begun, or is to be begun.', {
  id: token('Names its Job; never used again.'),
  remedy,
  kind: choice('What it does.', Object.fromEntries(REMEDY_KINDS.map((kind) => [kind, ''])) as Record<(typeof REMEDY_KINDS)[number], string>),
  of: token('1 is remedy1; recovery.', { maxLength: 16 }),
});

const POSITION = object<Position>('Where the remedies of one condition are. Written before anything is done by it.', {
  threshold,
  episode: token('Fresh for each time that the condition begins to stand.'),
  phase: phase('What is done about it now.'),
  attempt: integer('Pass through all remedies, from 1.'),
  rung: integer('Number of the remedy that was begun last in this pass; 0: none.'),
  serial: integer('Remedies that were written down so far.'),
  run: optional(RUN),
  cleans: optional(integer('Number of the remedy whose clean-resource is to be done.')),
  podsUntil: optional(time('Pods that were created later are left: they have come since it began to evict.')),
  hasActed: flag('Something was begun: then the recovery follows when it is over.'),
  because: optional(choice('Why a person is asked.', { attempts: 'the condition stands after the last attempt', recovery: 'the recovery failed' })),
  fenced: optional(
    object<NonNullable<Position['fenced']>>('When a fence took over.', {
      from: phase('The phase before.'),
      bootID: optional(token('The boot then.')),
    }),
  ),
  since: time('When this phase was written.'),
  message: optional(text('What it waits for, or what a person must do.')),
});

export const REMEDIES_STATUS = object<RemediesStatus>('Where the remedies of this node are. A new leader goes on from it.', {
  nodeUID: optional(token('uid of the Node. One that is made anew under its name begins anew.')),
  bootID: optional(token('Boot in which that was seen.')),
  tripped: optional(
    list(
      'Conditions that stood for their whole period, and are not over.',
      object<NonNullable<RemediesStatus['tripped']>[number]>('One of them.', {
        threshold,
        bootID: optional(token('Boot in which it stood.')),
        since: time('When it was first seen.'),
      }),
      REMEDY_STATUS_LIMITS.tripped,
    ),
  ),
  positions: optional(list('Where the remedies are, by condition.', POSITION, REMEDY_STATUS_LIMITS.positions)),
  runs: optional(
    list(
      'Remedies that have ended, the newest last.',
      object<NonNullable<RemediesStatus['runs']>[number]>('One of them.', {
        threshold,
        remedy,
        of: token('1 is remedy1; recovery.', { maxLength: 16 }),
        result: choice('How it ended.', { succeeded: '', failed: '', lost: 'it was there and is gone' }),
        endedAt: time('When that was seen.'),
        message: optional(text('Why, and the end of what its pod wrote.', { maxLength: 4096 })),
        pod: optional(token('Its pod.', { maxLength: 253 })),
      }),
      REMEDY_STATUS_LIMITS.runs,
    ),
  ),
});
