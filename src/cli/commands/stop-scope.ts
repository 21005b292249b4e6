import { InvalidArgumentError } from 'commander';
import type { NodeFenceStop } from '../../ports/resources.ts';
import { CommandFailure, EXIT } from './failure.ts';

/** What a stop is about: one node, or all of them. */
export type Scope = { node: string } | { all: true };

const NAME_MAX = 253;
const REASON_MAX = 1_024;

/** Exactly one of a node and `--all`. */
export function scopeOf(command: string, node: string | undefined, all: boolean): Scope {
  if (node !== undefined && all)
    throw new CommandFailure(`name a node or --all, not both: nodefence ${command} ${node}, or nodefence ${command} --all`, EXIT.usage);
  if (node !== undefined) return { node };
  if (all) return { all: true };
  throw new CommandFailure(`which node? nodefence ${command} NODE, or nodefence ${command} --all for every node`, EXIT.usage);
}

/** The name that `nodefence stop` gives: one for each node, and `stop-all`. */
export function stopName(scope: Scope): string {
  const name = 'node' in scope ? `stop-${scope.node}` : 'stop-all';
  return name.length <= NAME_MAX ? name : name.slice(0, NAME_MAX).replace(/[.-]+$/u, '');
}

export function concerns({ spec }: NodeFenceStop, scope: Scope): boolean {
  return 'node' in scope ? spec.node === scope.node : spec.all === true;
}

export function describeScope(scope: Scope): string {
  return 'node' in scope ? `node ${scope.node}` : 'ALL nodes';
}

/** Why, for those who find it. */
export function reasonArgument(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('say why, for those who find it.');
  if (reason.length > REASON_MAX) throw new InvalidArgumentError(`is ${reason.length} characters long, at most ${REASON_MAX} are kept.`);
  return reason;
}
