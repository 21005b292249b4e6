import { newPosition } from './position.ts';
import type { RemedyRow } from './row.ts';
import { FENCE_ROWS } from './rows-fence.ts';
import { RUN_ROWS } from './rows-run.ts';
import { WAITING_ROWS } from './rows-waiting.ts';

const BEGIN_ROWS: readonly RemedyRow[] = [
  {
    id: 'none',
    from: 'none',
    when: 'the condition does not stand',
    does: 'nothing',
    to: '–',
    applies: ({ state, view }) => state === undefined && view.phase !== 'standing',
    next: ({ view }) => ({ dueMs: view.dueMs }),
  },
  {
    id: 'none-fenced',
    from: 'none',
    when: 'a fence of the node is open',
    does: 'wait',
    to: '–',
    applies: ({ state, fence }) => state === undefined && fence !== undefined,
    next: () => ({ says: 'its fence is open: remedies wait' }),
  },
  {
    id: 'noticed',
    from: 'none',
    when: 'the condition stands',
    does: 'write it down',
    to: 'waiting',
    applies: ({ state }) => state === undefined,
    next: (facts) => ({ position: newPosition(facts) }),
  },
];

/** The first row that applies decides. docs/remedies-table.md is printed from it. */
export const REMEDY_ROWS: readonly RemedyRow[] = [...FENCE_ROWS, ...BEGIN_ROWS, ...RUN_ROWS, ...WAITING_ROWS];
