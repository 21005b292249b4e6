import type { LeaseSlot } from '../domain/node-daemon/storage-lease/layout.ts';

/** Slots of other nodes on the storage that this node shares with them. */
export interface StorageSlots {
  /** Undefined: nothing can be told of it now. Never rejects; has a deadline. */
  read(slot: number): Promise<LeaseSlot | undefined>;
}
