import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { problemRows } from '../../domain/remedy/problem-rows.ts';
import { NODE_FENCE_REPORTS } from '../../ports/resources.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { nodeArgument } from './node-argument.ts';
import { problemsPage } from './pages/problems-page.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';

interface ProblemFlags extends ClusterFlags {
  output: 'text' | 'json' | 'yaml';
}

/** `nodefence problems [node]`: what the NodeFenceReports keep of problems, also of nodes that are gone. */
export function problemsCommand(): Command {
  return personCommand('problems', 'list problems that were counted of nodes and of the workloads that ran there, those with an alarm first')
    .addArgument(new Argument('[node]', 'name of a Node').argParser(nodeArgument))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'yaml']).default('text'))
    .action((node: string | undefined, flags: ProblemFlags) => run(flags, (session) => problems(session, node, flags)));
}

/** All reports are read, also for one node: what its workloads did elsewhere stands in those of other nodes. */
async function problems({ access, console }: Session, node: string | undefined, { output }: ProblemFlags): Promise<ExitCode> {
  const { cluster, clock, server } = access;
  const reports = await cluster.list(NODE_FENCE_REPORTS);
  const rows = problemRows(
    reports.map(({ metadata, status }) => ({ node: metadata.name, record: status?.problemCounts })),
    node,
  );
  const nowMs = clock.wallMs();
  if (output === 'text') {
    console.print(problemsPage(rows, node, { ink: console.ink, width: console.width, nowMs }));
    return EXIT.done;
  }
  const data = { server, at: new Date(nowMs).toISOString(), problems: rows };
  console.print(output === 'json' ? JSON.stringify(data, null, 2) : (await import('yaml')).stringify(data).trimEnd());
  return EXIT.done;
}
