import { Argument, InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { parseDuration } from '../../config/properties.ts';
import { machineFacts } from '../../controllers/preservation/machine-facts.ts';
import { DEFAULT_PRESERVE_TIMEOUT_MS } from '../../controllers/preservation/names.ts';
import { plainPhase } from '../../controllers/preservation/phase.ts';
import type { NodeFacts } from '../../controllers/preservation/snapshot.ts';
import { MACHINES } from '../../ports/machines.ts';
import { NODE_FENCES, NODES } from '../../ports/resources.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { listMachines } from '../preservation/listed-machines.ts';
import { reachMachines, withMachineOptions } from '../preservation/machine-flags.ts';
import type { MachineFlags, MachineReach } from '../preservation/machine-flags.ts';
import { pictureOf } from '../preservation/picture.ts';
import type { PreservationPicture } from '../preservation/picture.ts';
import { EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { leaderOf } from './leader.ts';
import { paragraph } from './pages/sections.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';
import { WISHES, writesFor, valueOf } from './preserve/order.ts';
import type { Order, PreserveWrite, Wish } from './preserve/order.ts';
import { findTarget, targetNameOf } from './preserve/target.ts';
import type { Target, TargetName } from './preserve/target.ts';
import { outlook, describeTarget, nothingToStop } from './preserve/words.ts';
import { readLease } from './read-lease.ts';
import { requesterOf } from './requester.ts';
import { reasonArgument } from './stop-scope.ts';
import { harmless } from './terminal/text.ts';

interface PreserveFlags extends ClusterFlags, MachineFlags {
  for?: number;
  reason?: string;
}

const FOR_MAX_MS = 366 * 86_400_000;

/** `nodefence preserve <node|machine> now|when-failed|never|stop`. */
export function preserveCommand(): Command {
  return withMachineOptions(personCommand('preserve', 'preserve a machine for debugging: now, when it fails, or never; or end its preservation'))
    .addArgument(
      new Argument('<name>', 'name of a Node or a Machine; node/NAME, machine/NAME or machine/NAMESPACE/NAME if it is both').argParser(
        targetArgument,
      ),
    )
    .addArgument(
      new Argument('<what>', 'now: from now on; when-failed: when it fails; never: not even automatically; stop: end the preservation').choices(
        WISHES,
      ),
    )
    .addOption(
      new Option('--for <duration>', 'preserve for this long, such as 24h or 3d; default: machinePreserveTimeout of its pool').argParser(forArgument),
    )
    .addOption(new Option('--reason <text>', 'reason, shown to others; written to the object').argParser(reasonArgument))
    .action((name: TargetName, wish: Wish, flags: PreserveFlags) => run(flags, (session) => preserve(session, name, wish, flags)));
}

async function preserve(session: Session, name: TargetName, wish: Wish, flags: PreserveFlags): Promise<ExitCode> {
  const reach = await reachMachines(flags, session.access);
  try {
    return await carryOut(session, reach, name, wish, flags);
  } finally {
    reach.close();
  }
}

async function carryOut({ access, console }: Session, reach: MachineReach, name: TargetName, wish: Wish, flags: PreserveFlags): Promise<ExitCode> {
  const { cluster, clock } = access;
  const [nodes, fences, read] = await Promise.all([cluster.list(NODES), cluster.list(NODE_FENCES), readLease(access, LEADER_LEASE)]);
  const nowMs = clock.wallMs();
  const leader = leaderOf(read.lease, nowMs, read.unread);
  const seen = await listMachines(access, reach, leader.preservation ?? 'auto', nodes);
  const machines = [...seen.machines.all()];
  const target = findTarget(name, { nodes, machines, where: describeWhere(access.server, reach, seen.notes) });
  const listed = {
    mode: seen.mode,
    machines,
    machineSets: seen.machineSets.all(),
    machineDeployments: seen.machineDeployments.all(),
    pools: seen.pools,
  };
  const standing = stateOf(target, pictureOf({ ...listed, nodes, fences, nowMs }), nowMs);
  const order: Order = {
    target,
    wish,
    forMs: flags.for,
    reason: flags.reason,
    by: await requesterOf(access),
    mode: seen.mode,
    phase: standing.phase,
    nowMs,
  };
  const before = valueOf(target);
  const writes = writesFor(order);
  const sheet = { ink: console.ink, width: console.width, nowMs };
  console.print(console.ink.bold(harmless(`${describeTarget(target)}: ${standing.words}`)));
  if (writes.length === 0 && (wish === 'stop' || before === (wish === 'never' ? 'false' : wish))) {
    console.print(paragraph(sheet, harmless(wish === 'stop' ? nothingToStop(target) : 'It is annotated so already: nothing was written.')));
    if (wish === 'stop') return EXIT.done;
  }
  for (const write of writes) await carry(write, { access, reach, console }, writes);
  for (const line of outlook({ ...order, before, ...standing, timeoutMs: timeoutOf(target, seen.pools, standing.pool), leader })) {
    console.print(paragraph(sheet, harmless(line.replaceAll('…', describeName(name)))));
  }
  return EXIT.done;
}

/** Writes one patch; what was written before it stands, and is told. */
async function carry(
  write: PreserveWrite,
  { access, reach, console }: Session & { reach: MachineReach },
  all: readonly PreserveWrite[],
): Promise<void> {
  const { on, name, namespace, subresource, patch, what } = write;
  const options = { ...(namespace !== undefined && { namespace }), ...(subresource !== undefined && { subresource }) };
  try {
    await (on === 'Node' ? access.cluster.mergePatch(NODES, name, patch, options) : reach.cluster.mergePatch(MACHINES, name, patch, options));
  } catch (error) {
    if (write !== all[0]) console.say(console.ink.warn('The writes before this one are done; this was not written:'));
    throw error;
  }
  console.print(console.ink.good(harmless(`  ✓ ${on} ${namespace === undefined ? '' : `${namespace}/`}${name}: ${what}`)));
}

interface PreserveState {
  phase: Order['phase'];
  isPreserved: boolean;
  pool: string | undefined;
  words: string;
}

/** How the controller sees it now. */
function stateOf({ node, machine }: Target, picture: PreservationPicture | undefined, nowMs: number): PreserveState {
  const key = machine === undefined ? { kind: 'Node', name: node?.metadata.name } : { kind: 'Machine', name: machine.metadata.name };
  const namespace = machine?.metadata.namespace;
  const view = picture?.decision.views.find((each) => each.kind === key.kind && each.name === key.name && each.namespace === namespace);
  const facts: NodeFacts | undefined = picture?.snapshot.nodes.find(({ name }) => name === node?.metadata.name);
  const bare = machine === undefined ? (facts === undefined ? '' : plainPhase(facts, nowMs).phase) : machineFacts(machine).phase;
  const phase = view === undefined ? bare : (view.phase.replace(/:Preserved$/, '') as Order['phase']);
  const until = view?.isPreserved === true && view.expiryMs !== undefined ? ` until ${new Date(view.expiryMs).toISOString()}` : '';
  return { phase, isPreserved: view?.isPreserved === true, pool: view?.pool, words: `${view?.phase ?? phase}${until}` };
}

function timeoutOf({ machine }: Target, pools: Parameters<typeof pictureOf>[0]['pools'], pool: string | undefined): number {
  const own = machine === undefined ? undefined : machineFacts(machine).preserveTimeoutMs;
  return own ?? (pool === undefined ? undefined : pools.get(pool)?.preserveTimeoutMs) ?? DEFAULT_PRESERVE_TIMEOUT_MS;
}

function describeWhere(server: string, reach: MachineReach, notes: readonly string[]): string {
  const machines = reach.server === server ? '' : `, nor among the Machines at ${reach.server}`;
  const inside = reach.namespace === undefined ? '' : ` (Machines of namespace ${reach.namespace})`;
  const unread = notes.length === 0 ? '' : `; you may not read ${notes.join(', ')}`;
  return `in the cluster at ${server}${machines}${inside}${unread}`;
}

function describeName({ kind, namespace, name }: TargetName): string {
  return [kind?.toLowerCase(), namespace, name].filter((part) => part !== undefined).join('/');
}

function targetArgument(text: string): TargetName {
  const name = targetNameOf(text);
  if (name === undefined) throw new InvalidArgumentError('must be NAME, node/NAME, machine/NAME or machine/NAMESPACE/NAME.');
  return name;
}

function forArgument(text: string): number {
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? undefined : parseDuration(text);
  if (ms === undefined || ms < 1_000 || ms > FOR_MAX_MS)
    throw new InvalidArgumentError('must be a duration such as 24h, 90m or 3d, of a year at most.');
  return ms;
}
