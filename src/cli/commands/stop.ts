import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { REQUESTED_BY, voucher } from '../../ports/authorship.ts';
import { NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { ClusterAccess, ClusterFlags } from '../cluster-access.ts';
import { noSuchNode } from './explain.ts';
import { CommandFailure, EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { stopRow } from './fleet.ts';
import { nodeArgument } from './node-argument.ts';
import { describeRestore } from './pages/fence-page.ts';
import { describeStop } from './pages/fleet-page.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';
import { requesterOf } from './requester.ts';
import { concerns, reasonArgument, scopeOf, describeScope, stopName } from './stop-scope.ts';
import type { Scope } from './stop-scope.ts';
import { print } from './terminal/console.ts';
import { harmless } from './terminal/text.ts';

interface StopFlags extends ClusterFlags {
  all?: true;
  reason: string;
}

/** `nodefence stop <node>|--all --reason TEXT`. */
export function stopCommand(): Command {
  return personCommand('stop', 'stop all actions on a node, or on all nodes, until nodefence resume; a step that runs is finished, nothing is undone')
    .addArgument(new Argument('[node]', 'name of a Node').argParser(nodeArgument))
    .option('--all', 'stop all nodes: halts nodefence in this cluster')
    .addOption(new Option('--reason <text>', 'reason, shown to others').argParser(reasonArgument).makeOptionMandatory())
    .action((node: string | undefined, flags: StopFlags) =>
      run(flags, (session) => stop(session, scopeOf('stop', node, flags.all === true), flags.reason)),
    );
}

async function stop({ access, console }: Session, scope: Scope, reason: string): Promise<ExitCode> {
  const { cluster } = access;
  const { ink } = console;
  await demandNode(access, scope);
  const name = stopName(scope);
  const annotations = { [REQUESTED_BY]: await requesterOf(access) };
  try {
    await cluster.create(NODE_FENCE_STOPS, { metadata: { name, annotations }, spec: { ...scope, reason } });
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status !== 409) throw error;
    const standing = await cluster.get(NODE_FENCE_STOPS, name);
    if (standing === undefined) throw error;
    const words = describeStop(stopRow(standing, await voucher(cluster)), access.clock.wallMs());
    if (!concerns(standing, scope)) throw taken(words);
    print(console, `It is stopped already. ${words}`, ink.warn);
    return EXIT.done;
  }
  print(console, `STOPPED: ${describeScope(scope)} (NodeFenceStop ${name})`, ink.warn);
  print(
    console,
    'No isolation, off or release begins any more; what was sent already is finished, within 2 s. Nothing is undone, and nothing is switched on.',
  );
  console.print(`It is in effect until: nodefence resume ${'node' in scope ? scope.node : '--all'}`);
  for (const fence of await cluster.list(NODE_FENCES)) if (!('node' in scope) || fence.spec.node === scope.node) warn(fence, console);
  return EXIT.done;
}

/** A typing error must not look like a stop that holds. */
async function demandNode(access: ClusterAccess, scope: Scope): Promise<void> {
  if (!('node' in scope) || (await access.cluster.get(NODES, scope.node)) !== undefined) return;
  const fences = await access.cluster.list(NODE_FENCES);
  if (!fences.some((fence) => fence.spec.node === scope.node)) throw noSuchNode(scope.node, access);
}

function taken(stop: string): CommandFailure {
  return new CommandFailure(
    `nothing was stopped: the name is taken by another stop (${stop}). Create one of another name with kubectl, or take that one back`,
  );
}

/** A fence that is stopped in its middle leaves its node as it is. */
function warn({ spec, status }: NodeFence, console: Session['console']): void {
  if (status === undefined || status.state === 'final') return;
  const standing = describeRestore(status.restore ?? {});
  if (standing.length === 0) return;
  const message = `${spec.node} stays as its fence left it: ${standing.join(', ')}.`;
  const isOff = status.restore?.edges?.some((edge) => edge.state === 'off') === true;
  if (isOff) print(console, harmless(`LeftOff: ${message} The machine is OFF until you resume, or switch it on by hand.`), console.ink.bad);
  else print(console, harmless(message), console.ink.warn);
}
