import { Command, InvalidArgumentError, Option } from 'commander';
import { Display, SILENT } from '../drill/run/display.ts';
import { runDrill } from '../drill/run/drill-run.ts';
import { isGood, runMatrix, tableOf } from '../drill/run/matrix.ts';
import { ConfigurationRefused } from '../drill/run/operator/refusal.ts';
import { FAULTS, SHORT_SETTINGS } from '../drill/run/options.ts';
import type { DrillOptions, Fault } from '../drill/run/options.ts';
import { summaryOf } from '../drill/run/summary.ts';

interface Flags {
  fault: Fault;
  nodes: number;
  seed: number;
  json?: true;
  keep?: true;
  config?: string;
  set: Record<string, string>;
  matrix?: true;
  seeds: number;
}

/** `nodefence drill`: a whole cluster on this machine, one node broken, the fence shown live and judged. */
export function drillCommand(): Command {
  return new Command('drill')
    .description('break a node of a cluster on this machine and watch it being fenced; exit 0 when it ended as it must and no law was violated')
    .addOption(new Option('--fault <fault>', 'what breaks').choices(FAULTS).default('panic'))
    .option('--nodes <count>', 'machines in the cluster', wholeNumber(2, 50), 3)
    .option('--seed <number>', 'which node breaks, and when', wholeNumber(0, 2 ** 31), 1)
    .option('--json', 'print one JSON object to stdout and nothing else')
    .option('--keep', 'leave the cluster running until Ctrl-C')
    .option('--config <dir>', 'ConfigMaps and Secrets of your own instead of the drill’s')
    .option('--set <key=value>', 'a setting of fence-cluster-config, over the drill’s short ones; may be repeated', setting, {})
    .option('--matrix', 'every fault with every seed')
    .option('--seeds <count>', 'seeds of the matrix', wholeNumber(1, 10_000), 1)
    .addHelpText(
      'after',
      `\nDelays of the drill: ${Object.entries(SHORT_SETTINGS)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ')}`,
    )
    .action(async (flags: Flags) => {
      try {
        process.exitCode = await drill(flags);
      } catch (error) {
        if (!(error instanceof ConfigurationRefused)) throw error;
        process.stderr.write(`${error.message}\n`);
        process.exitCode = 1;
      }
    });
}

async function drill(flags: Flags): Promise<number> {
  const options: DrillOptions = {
    fault: flags.fault,
    nodes: flags.nodes,
    seed: flags.seed,
    agent: 'redfish',
    json: flags.json === true,
    keep: flags.keep === true,
    config: flags.config,
    settings: flags.set,
  };
  if (flags.matrix === true) return matrix(options, flags.seeds);
  const audience = options.json && !process.stderr.isTTY ? SILENT : new Display(process.stderr, options.fault);
  const result = await runDrill(options, audience, async (ended) => {
    process.stdout.write(options.json ? `${JSON.stringify(ended)}\n` : summaryOf(ended));
    if (options.keep) await untilInterrupted();
  });
  return result.expected ? 0 : 1;
}

async function matrix(options: DrillOptions, seeds: number): Promise<number> {
  const rows = await runMatrix(options, seeds, (row, done, of) => {
    process.stderr.write(
      `${done} of ${of}: ${row.fault} seed ${row.seed} ${isGood(row) ? 'as it must be' : (row.failure ?? row.result?.problems.join('; '))}\n`,
    );
  });
  process.stdout.write(options.json ? `${JSON.stringify(rows)}\n` : tableOf(rows));
  return rows.every(isGood) ? 0 : 1;
}

function untilInterrupted(): Promise<void> {
  process.stderr.write('the cluster is left running; Ctrl-C ends it\n');
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < minimum || number > maximum)
      throw new InvalidArgumentError(`must be a whole number from ${minimum} to ${maximum}.`);
    return number;
  };
}

function setting(text: string, before: Record<string, string>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('must be key=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
