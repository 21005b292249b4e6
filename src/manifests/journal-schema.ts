import { LIMITS } from '../domain/node-fence.ts';
import type { JobResult, JournalEntry } from '../domain/node-fence.ts';
import { step } from './plan-schema.ts';
import { flag, choice, integer, list, milliseconds, NAME_LENGTH_MAX, object, optional, text, time, token } from './schema.ts';

export const JOURNAL_ENTRY = object<JournalEntry>('One run. startedAt without finishedAt: it may have happened.', {
  id: token('Id of the run: <method>-<uuid>.', { maxLength: 320 }),
  step: step('Step that it belongs to.'),
  level: integer('Fallback level of the step.', 1),
  operation: token("Position in the step's program.", { maxLength: 320 }),
  method: token('Method that was run.', { maxLength: NAME_LENGTH_MAX }),
  agent: token('Its agent.'),
  device: token('Its device.', { maxLength: 512 }),
  plug: token('Its plug.', { maxLength: 512 }),
  action: choice<JournalEntry['action']>('What was asked.', {
    on: '',
    off: '',
    reboot: '',
    delete: 'the machine is deleted for good',
    diag: 'the kernel is made to dump',
    run: '',
    release: 'the workload is released',
    'release-end': 'the release is taken back, read back',
    confirm: 'an effect is looked for',
    acknowledge: 'an acknowledgement is checked against what the devices show',
  }),
  attempt: integer('1 for the first run of this operation in this incident and restart.', 1),
  restart: integer('Restart of the fence that it belongs to.'),
  runner: choice<JournalEntry['runner']>('Where it ran.', { 'in-process': '', child: 'a child process', job: 'a Kubernetes Job' }),
  epoch: integer('Term of the leader that ran it.'),
  startedAt: time('When its intent was written.'),
  deadlineMs: milliseconds('How long a set begun under this intent may take, counted from when a successor first sees it.'),
  bootID: optional(token("The node's boot ID when the intent was written.")),
  edgeUnseen: optional(flag('The device showed the wanted state before the set: what the set does may still come.')),
  offSent: optional(flag('An off of this run has left, for sure; false: none has, for sure, nor has a program begun.')),
  restarted: optional(
    list(
      'Methods whose device restarted between an off and its proof.',
      token('Name of the method.', { maxLength: NAME_LENGTH_MAX }),
      LIMITS.restarted,
    ),
  ),
  finishedAt: optional(time('When its result was written.')),
  result: optional(
    choice<JobResult>('How it ended.', {
      succeeded: 'the effect was read back',
      refused: 'the device said no',
      unreachable: 'no answer',
      timeout: 'no effect in time',
      misconfigured: 'the configuration does not fit',
      'not-sent': 'nothing was sent',
      stopped: 'a stop exists; nothing was sent',
      voided: 'a sign of life came meanwhile',
      failed: 'for another reason',
      interrupted: 'the API server did not answer; it is done again',
      'found-done': 'after a crash its effect was found',
      'found-not-done': 'after a crash its effect was not found',
    }),
  ),
  message: optional(text('What the device answered, or why it failed.', { maxLength: LIMITS.message })),
});
