import { expect, it } from 'vitest';
import type { RemedyDecision } from '../../domain/remedy/decide.ts';
import { eventsOf } from './events.ts';

it('asks a person by a command that can be copied: it names the node', () => {
  const decision = {
    threshold: 'DiskSick=True',
    row: 'attempts-over',
    isChanged: true,
    state: { position: { phase: 'handed-over' } },
  } as unknown as RemedyDecision;
  expect(eventsOf('worker-1', decision, undefined, undefined)).toEqual([
    {
      type: 'Warning',
      reason: 'PersonAsked',
      message: 'DiskSick=True stands after the last attempt: look at the node, then nodefence resume worker-1.',
    },
  ]);
});
