import { Argument } from 'commander';
import type { Command } from 'commander';
import { voucher } from '../../ports/authorship.ts';
import { NODE_FENCE_STOPS } from '../../ports/resources.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { stopRow } from './fleet.ts';
import { forgive } from './forgive.ts';
import { nodeArgument } from './node-argument.ts';
import { describeStop } from './pages/fleet-page.ts';
import { personCommand, run } from './person-command.ts';
import { resumeRemedies } from './resume-remedies.ts';
import type { Session } from './person-command.ts';
import { concerns, scopeOf, describeScope } from './stop-scope.ts';
import type { Scope } from './stop-scope.ts';
import { print } from './terminal/console.ts';
import { harmless } from './terminal/text.ts';

interface ResumeFlags extends ClusterFlags {
  all?: true;
}

/** `nodefence resume <node>|--all`: exit 3 when another stop still holds. */
export function resumeCommand(): Command {
  return personCommand(
    'resume',
    'remove the stops of a node, or those of all nodes; also lets a node be fenced again that was fenced too often or without success, and its remedies go on that asked for a person',
  )
    .addArgument(new Argument('[node]', 'name of a Node').argParser(nodeArgument))
    .option('--all', 'remove stops of all nodes; stops of single nodes stay')
    .action((node: string | undefined, flags: ResumeFlags) => run(flags, (session) => resume(session, scopeOf('resume', node, flags.all === true))));
}

async function resume({ access, console }: Session, scope: Scope): Promise<ExitCode> {
  const { cluster, clock } = access;
  const { ink } = console;
  const [stops, vouches] = await Promise.all([cluster.list(NODE_FENCE_STOPS), voucher(cluster)]);
  const own = stops.filter((stop) => concerns(stop, scope));
  const forgiven = 'node' in scope ? await forgive(access, scope.node) : undefined;
  const remedies = 'node' in scope ? await resumeRemedies(access, scope.node) : [];
  if (own.length === 0 && forgiven === undefined && remedies.length === 0) console.print(`No stop names ${describeScope(scope)}.`);
  if (forgiven !== undefined) print(console, harmless(`RESUMED: ${describeScope(scope)}, which its own record held: ${forgiven}`), ink.good);
  for (const threshold of remedies)
    print(console, harmless(`RESUMED: the remedies of ${describeScope(scope)} for ${threshold}, which had asked for a person`), ink.good);
  for (const stop of own) {
    const { name, uid } = stop.metadata;
    const wasThere = await cluster.remove(NODE_FENCE_STOPS, name, uid === undefined ? {} : { uid });
    print(console, `${wasThere ? 'RESUMED' : 'Was gone'}: ${describeStop(stopRow(stop, vouches), clock.wallMs())}`, ink.good);
  }
  const others = stops.filter((stop) => !concerns(stop, scope));
  const holding = 'node' in scope ? others.filter((stop) => stop.spec.all === true) : [];
  for (const stop of others) {
    if ('node' in scope && stop.spec.all !== true) continue;
    print(console, `Still in effect: ${describeStop(stopRow(stop, vouches), clock.wallMs())}`, ink.warn);
  }
  if (holding.length === 0) return EXIT.done;
  print(console, `${describeScope(scope)} is still held, by the stop of all nodes: nodefence resume --all`, ink.bad);
  return EXIT.held;
}
