/** What the elected leader may do, and until when (P5). */
export interface Leadership {
  /** leaseTransitions of the Lease when it was acquired; written into every intent. 0 while not leading. */
  readonly epoch: number;
  readonly isLeading: boolean;
  /**
   * May a set that takes at most `deadlineMs` begin now? Synchronous, so that it can be asked in the turn of the socket write.
   * `false` too when the process was suspended since the last renewal.
   */
  mayBegin(deadlineMs: number): boolean;
  /** Monotonic time before which this leader must not touch a device that a predecessor may still be calling. */
  readonly actsFromMs: number;
}

/** What earlier leaders have written, whatever became of their Lease. Rejects when it cannot be read. */
export interface LeadershipRecords {
  /** The highest epoch that stands anywhere; 0: none. */
  highestEpoch(): Promise<number>;
}
