import type { NodeFence } from './resources.ts';

/** `atMs`: monotonic time of the last read that bears the proof out. `doubt`: why nothing may rest on it now, in words. */
export type ProofRead = { atMs: number } | { doubt: string };

/** Reads what proved a fence once more, at its device: nobody does where the fence is over. Implemented by src/controllers/fence. */
export interface ProofReader {
  readAnew(fence: NodeFence): Promise<ProofRead>;
}
