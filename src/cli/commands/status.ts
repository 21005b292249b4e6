import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { ClusterFlags } from '../cluster-access.ts';
import { noSuchNode } from './explain.ts';
import { CommandFailure, EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
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
import { listFleet } from './watched-cluster.ts';
import type { FleetListers } from './watched-cluster.ts';

export interface StatusFlags extends ClusterFlags {
  watch?: true;
  all?: true;
  output: 'text' | 'wide' | 'json' | 'yaml';
}

/** `nodefence status [node]`. */
export function statusCommand(): Command {
  return personCommand('status', 'nodes and their fences, the stops that stand, and who leads; with a node all about its fence')
    .addArgument(new Argument('[node]', 'name of a Node').argParser(nodeArgument))
    .option('-w, --watch', 'go on showing it; on a terminal in place, elsewhere a line for each change')
    .option('--all', 'list every node, however many are quiet')
    .addOption(new Option('-o, --output <format>', 'how it is printed').choices(['text', 'wide', 'json', 'yaml']).default('text'))
    .action((node: string | undefined, flags: StatusFlags) => run(flags, (session) => status(session, node, flags)));
}

async function status(session: Session, node: string | undefined, flags: StatusFlags): Promise<ExitCode> {
  const isText = flags.output === 'text' || flags.output === 'wide';
  if (flags.watch === true && !isText) throw new CommandFailure(`-w shows text, not ${flags.output}: leave out -o ${flags.output}`, EXIT.usage);
  const { access, console } = session;
  const listers = await listFleet(access);
  const nowMs = access.clock.wallMs();
  if (node !== undefined && listers.nodes.get(node) === undefined && fenceOf({ fences: listers.fences.all() }, node) === undefined)
    throw noSuchNode(node, access);
  if (flags.watch === true) return watchStatus(session, (current, sheet) => statusText(current, node, flags, access.server, sheet), node);
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
  if (node === undefined) return fleetPage(fleet, { server, wide: flags.output === 'wide', all: flags.all === true }, sheet);
  return fencePage(nodeFacts(fleet, listers, node), sheet);
}

/** What concerns one node; also the shape of `status NODE -o json`. */
function nodeFacts({ leader, stops, nodes }: FleetStatus, listers: FleetListers, node: string): FencePage {
  const row = nodes.find((candidate) => candidate.node === node) ?? { node, ready: 'gone' as const, cordoned: false, problems: [] };
  return {
    row,
    leader,
    stops: stops.filter((stop) => stop.node === undefined || stop.node === node),
    fence: fenceOf({ fences: listers.fences.all() }, node),
    acknowledgements: [...listers.acknowledgements.all()].filter((word) => word.spec.node === node),
  };
}
