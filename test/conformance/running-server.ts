import type { ConformanceTarget } from './case.ts';

/** A server that the cases run against, embedded or real. */
export interface RunningServer {
  target: ConformanceTarget;
  minor: number;
  url: string;
  caPem: string;
  /** Of a user in `system:masters`. */
  adminToken: string;
  stop(): Promise<void>;
}
