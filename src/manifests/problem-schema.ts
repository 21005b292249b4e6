import { REMEDY_LIMITS } from '../domain/remedy/configuration.ts';
import { COUNTED_EVENTS_MAX } from '../domain/remedy/counted-events.ts';
import { ALARMS_MAX } from '../domain/remedy/judge-node.ts';
import { COUNTED_MAX } from '../domain/remedy/problem-counters.ts';
import type { CountedProblems, ProblemRecord, ToldAlarm } from '../domain/remedy/problem-record.ts';
import { integer, list, milliseconds, object, optional, time, token } from './schema.ts';

const workload = optional(token('Kind, namespace and name of whose pods ran there; absent: the node itself.', { maxLength: 600 }));
/** Of an Event: the API server refuses a longer one. */
const reason = token('What happened.', { maxLength: 128 });

export const PROBLEM_COUNTS = object<ProblemRecord>('How often what alarms name happened; what is older than their windows is forgotten.', {
  counted: list(
    'What was counted, the one with the latest problem last.',
    object<CountedProblems>('One reason.', {
      reason,
      workload,
      times: list('When, the latest of them.', time('Time.'), REMEDY_LIMITS.alarmCount),
    }),
    COUNTED_MAX,
  ),
  events: optional(
    list(
      'How far Events about the node were counted.',
      object<NonNullable<ProblemRecord['events']>[number]>('One Event.', {
        uid: token('Its uid.'),
        count: integer('How often it was written then.'),
        last: time('When it was written last.'),
      }),
      COUNTED_EVENTS_MAX,
    ),
  ),
  alarms: optional(
    list(
      'Alarms that were told and are not cleared.',
      object<ToldAlarm>('One alarm.', { reason, workload, count: integer('So many ask for it.'), windowMs: milliseconds('Within this time.') }),
      ALARMS_MAX + REMEDY_LIMITS.alarms,
    ),
  ),
});
