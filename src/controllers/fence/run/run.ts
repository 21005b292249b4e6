import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import type { Dispatch } from '../../../domain/transition.ts';
import { AgentError } from '../../../ports/agents.ts';
import type { NodeFence } from '../../../ports/resources.ts';

/** One operation on its way, as it was decided; its intent is written and acknowledged. */
export interface Run extends Dispatch {
  node: string;
  fence: NodeFence;
  status: NodeFenceStatus;
  /** Monotonic time before the intent was written. */
  intentAtMs: number;
}

export type RunOutcome = Omit<JobReport, 'id' | 'finishedAt'>;

/** Nothing of this run was sent: it is decided afresh. */
export function notSent({ device, plug, action }: JournalEntry, answered: string): AgentError {
  return new AgentError('NotSent', { device, plug, asked: action, answered });
}

/** Why a run sends nothing whose NodeFence was taken away by force. */
export const UNRECORDED = 'its NodeFence is gone, or another has its name: nothing records this any more';
