import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { NODE_FENCE_REPORTS } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { nodeArgument } from './node-argument.ts';
import { historyPage } from './pages/history-page.ts';
import type { PastFence } from './pages/history-page.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';

interface HistoryFlags extends ClusterFlags {
  output: 'text' | 'wide' | 'json' | 'yaml';
}

/** `nodefence history [node]`: what the NodeFenceReports keep, also of NodeFences that are gone. */
export function historyCommand(): Command {
  return personCommand('history', 'list past fences, the newest first: when, how they ended, by which proof, and what held them')
    .addArgument(new Argument('[node]', 'name of a Node').argParser(nodeArgument))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'wide', 'json', 'yaml']).default('text'))
    .action((node: string | undefined, flags: HistoryFlags) => run(flags, (session) => history(session, node, flags)));
}

async function history({ access, console }: Session, node: string | undefined, { output }: HistoryFlags): Promise<ExitCode> {
  const { cluster, clock, server } = access;
  const one = node === undefined ? undefined : await cluster.get(NODE_FENCE_REPORTS, node);
  const reports = node === undefined ? await cluster.list(NODE_FENCE_REPORTS) : one === undefined ? [] : [one];
  const fences = pastFences(reports);
  const nowMs = clock.wallMs();
  if (output === 'text' || output === 'wide') {
    console.print(historyPage(fences, { node, wide: output === 'wide' || node !== undefined }, { ink: console.ink, width: console.width, nowMs }));
    return EXIT.done;
  }
  const data = { server, at: new Date(nowMs).toISOString(), fences };
  console.print(output === 'json' ? JSON.stringify(data, null, 2) : (await import('yaml')).stringify(data).trimEnd());
  return EXIT.done;
}

/** All fences on record, the newest first. */
export function pastFences(reports: readonly NodeFenceReport[]): PastFence[] {
  return reports
    .flatMap(({ metadata, status }) => (status?.incidents ?? []).map((entry) => ({ node: metadata.name, ...entry })))
    .sort((left, right) => Date.parse(right.startedAt) - Date.parse(left.startedAt) || left.node.localeCompare(right.node));
}
