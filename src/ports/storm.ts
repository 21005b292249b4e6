import type { ActiveHold } from '../domain/snapshot.ts';

/** The storm policies that stand against isolating or switching off this node, or deleting it, as of now; never against an on. Of a node that is not known: none. */
export type StormHolds = (node: string) => readonly ActiveHold[];
