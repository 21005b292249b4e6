import type { Action, DecidedNodes } from './actions.ts';
import { keyOf } from './snapshot.ts';
import type { NodeFacts } from './snapshot.ts';

/** What is to be done about one object, in its order. */
export interface Chain {
  /** `Machine default/a`, with what is done to its request; or `MachineHealthCheck default/a`. */
  key: string;
  actions: readonly Action[];
  /** What was decided on its Node; absent: it did not matter. */
  decidedOn?: { node: NodeFacts | undefined };
}

/** Actions of a decision by what they are about. A request has the name of its Machine. */
export function chainsOf(actions: readonly Action[], nodes: DecidedNodes = new Map()): Chain[] {
  const chains = new Map<string, Action[]>();
  for (const action of actions) {
    const isOfCheck = action.kind === 'check-status' || action.kind === 'check-metadata';
    const key = `${isOfCheck ? 'MachineHealthCheck' : 'Machine'} ${keyOf(action.target)}`;
    const chain = chains.get(key);
    if (chain === undefined) chains.set(key, [action]);
    else chain.push(action);
  }
  return [...chains].map(([key, all]) => {
    const of = all.find(({ target }) => nodes.has(target.uid))?.target.uid;
    return { key, actions: all, ...(of !== undefined && { decidedOn: { node: nodes.get(of) } }) };
  });
}
