import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { authorOf, NOBODY_VOUCHES } from '../../ports/authorship.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { noSuchNode } from './explain.ts';
import { CommandFailure, EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { holdersOf } from '../node-ownership/node-ownership.ts';
import { listNodeOwnership } from '../node-ownership/listed-ownership.ts';
import { fenceOf, fleetStatus } from './fleet.ts';
import type { FleetStatus } from './fleet.ts';
import { nodeArgument } from './node-argument.ts';
import { fencePage } from './pages/fence-page.ts';
import type { FencePage } from './pages/fence-page.ts';
import { fleetPage } from './pages/fleet-page.ts';
import type { Sheet } from './pages/sections.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';
import { watchStatus } from './status-watch.ts';
import { leaderOf } from './leader.ts';
import { healthCheckDrivers } from '../health-checks/drivers.ts';
import { listMachines } from '../preservation/listed-machines.ts';
import { reachMachines, withMachineOptions } from '../preservation/machine-flags.ts';
import type { MachineFlags, MachineReach } from '../preservation/machine-flags.ts';
import { listFleet } from './watched-cluster.ts';
import type { FleetListers } from './watched-cluster.ts';

export interface StatusFlags extends ClusterFlags, MachineFlags {
  watch?: true;
  all?: true;
  output: 'text' | 'wide' | 'json' | 'yaml';
}

/** `nodefence status [node]`. */
export function statusCommand(): Command {
  return withMachineOptions(personCommand('status', 'show nodes, fences, stops, preserved machines and the leader; with a node: all about its fence'))
    .addArgument(new Argument('[node]', 'name of a Node').argParser(nodeArgument))
    .option('-w, --watch', 'watch for changes: refresh the table on a terminal, else print a line per change')
    .option('--all', 'list every node, healthy ones too')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'wide', 'json', 'yaml']).default('text'))
    .action((node: string | undefined, flags: StatusFlags) => run(flags, (session) => status(session, node, flags)));
}

async function status(session: Session, node: string | undefined, flags: StatusFlags): Promise<ExitCode> {
  const reach = await reachMachines(flags, session.access);
  try {
    return await show(session, node, flags, reach);
  } finally {
    reach.close();
  }
}

async function show(session: Session, node: string | undefined, flags: StatusFlags, reach: MachineReach): Promise<ExitCode> {
  const isText = flags.output === 'text' || flags.output === 'wide';
  if (flags.watch === true && !isText) throw new CommandFailure(`-w shows text, not ${flags.output}: leave out -o ${flags.output}`, EXIT.usage);
  const { access, console } = session;
  const [listers, found] = await Promise.all([listFleet(access), listNodeOwnership(access)]);
  const nowMs = access.clock.wallMs();
  const [lease] = listers.leaders.all();
  const { unreadLeases } = listers;
  const leader = leaderOf(lease, nowMs, unreadLeases);
  const nodeOwnership = { ...found, drivers: await healthCheckDrivers(access, leader) };
  listers.nodeOwnership = nodeOwnership;
  const kept = await listMachines(access, reach, leader.preservation ?? 'auto', listers.nodes.all());
  listers.preservation = kept;
  if (node !== undefined && listers.nodes.get(node) === undefined && fenceOf(listers.fences, node) === undefined) throw noSuchNode(node, access);
  if (flags.watch === true) {
    const pageOf = (current: FleetListers, sheet: Sheet): string => statusText(current, node, flags, access.server, sheet);
    return watchStatus(session, pageOf, { node, kept, machines: reach, nodeOwnership, unreadLeases });
  }
  if (isText) {
    console.print(statusText(listers, node, flags, access.server, { ink: console.ink, width: console.width, nowMs }));
    return EXIT.done;
  }
  const fleet = fleetStatus(listers, nowMs);
  const facts = node === undefined ? fleet : nodeFacts(fleet, listers, node);
  const data = { server: access.server, at: new Date(nowMs).toISOString(), ...facts };
  console.print(
    flags.output === 'json' ? JSON.stringify(data, null, 2) : (await import('yaml')).stringify(JSON.parse(JSON.stringify(data))).trimEnd(),
  );
  return EXIT.done;
}

function statusText(listers: FleetListers, node: string | undefined, flags: StatusFlags, server: string, sheet: Sheet): string {
  const fleet = fleetStatus(listers, sheet.nowMs);
  if (node === undefined)
    return fleetPage(fleet, { server, wide: flags.output === 'wide', all: flags.all === true, namespace: flags.fenceNamespace }, sheet);
  return fencePage(nodeFacts(fleet, listers, node), sheet);
}

/** What concerns one node; also the shape of `status NODE -o json`. */
function nodeFacts({ leader, stops, nodes, preservation, nodeOwnership }: FleetStatus, listers: FleetListers, node: string): FencePage {
  const row = nodes.find((candidate) => candidate.node === node) ?? { node, ready: 'gone' as const, cordoned: false, problems: [] };
  const preserved = preservation?.machines.find((machine) => machine.node === node);
  const fence = fenceOf(listers.fences, node);
  const acknowledgements = [...listers.acknowledgements.all()].filter((word) => word.spec.node === node);
  return {
    row,
    leader,
    stops: stops.filter((stop) => stop.node === undefined || stop.node === node),
    ...(preserved !== undefined && { preserved }),
    ...(nodeOwnership !== undefined && { holders: holdersOf(nodeOwnership, fence, node) }),
    fence,
    acknowledgements,
    authors: Object.fromEntries(acknowledgements.map((word) => [word.metadata.name, authorOf(word, listers.vouches ?? NOBODY_VOUCHES)])),
  };
}
