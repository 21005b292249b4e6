import type { RemedyStage } from '../domain/policies/remedied.ts';
import type { ActiveHold } from '../domain/snapshot.ts';

/** The storm policies, and the preservation of its machine, that stand against isolating or switching off this node, or deleting it, as of now; never against an on. Of a node that is not known no policy does. */
export type StormHolds = (node: string) => readonly ActiveHold[];

/** The same against the begin of a remedy on this node, where these nodes have remedies; the grace of a new leader too. */
export type RemedyHolds = (node: string, stages: ReadonlyMap<string, RemedyStage>) => readonly ActiveHold[];
