import { Command, InvalidArgumentError, Option } from 'commander';
import { DAEMON_FAULTS } from '../drill/daemons/faults.ts';
import type { DaemonFault } from '../drill/daemons/faults.ts';
import { daemonSummary, runDaemonDrill, simulateDaemonDrill, simulatedFor, whyNoDaemonDrill } from '../drill/daemons/run.ts';
import { Display, SILENT } from '../drill/run/display.ts';
import { runDrill } from '../drill/run/drill-run.ts';
import { CLOUD_FAULTS, FAULTS } from '../drill/faults/names.ts';
import type { Fault } from '../drill/faults/names.ts';
import { needsOwnScene, sceneOf } from '../drill/faults/scenes.ts';
import { isGood, outcomeOf, runMatrix, tableOf } from '../drill/run/matrix.ts';
import { CLOUDS } from '../testbed/devices/cloud/kinds.ts';
import type { CloudName } from '../testbed/devices/cloud/kinds.ts';
import { AssetsMissing } from '../testbed/control-plane/assets.ts';
import { whyLine } from '../drill/run/why.ts';
import { ConfigurationRefused } from '../drill/operator/refusal.ts';
import { AGENTS, APIS, DEFAULT_OPTIONS, SHORT_SETTINGS } from '../drill/run/options.ts';
import type { Agent, Api, DrillOptions } from '../drill/run/options.ts';
import { summaryOf } from '../drill/run/summary.ts';
import { EXIT } from './commands/failure.ts';
import { usageExits } from './usage-exits.ts';

interface Flags {
  fault: Fault | DaemonFault;
  agent?: Agent;
  cloud?: CloudName;
  api: Api;
  replicas: number;
  nodes?: number;
  seed: number;
  json?: true;
  keep?: true;
  config?: string;
  set: Record<string, string>;
  matrix?: true;
  faults?: readonly Fault[];
  seeds: number;
  simulated?: true;
}

/** `nodefence drill`: a whole cluster on this machine, one node broken, the fence shown live and judged. */
export function drillCommand(): Command {
  return usageExits(new Command('drill'))
    .description('break a node of a test cluster on this machine, and watch its fence; exit 0 if it ended as it must and no law was violated')
    .addOption(new Option('--fault <fault>', 'fault to play').choices([...FAULTS, ...DAEMON_FAULTS]).default('panic'))
    .addOption(new Option('--agent <agent>', 'agent that fences the nodes (default: "redfish"; with --matrix both)').choices(AGENTS))
    .addOption(
      new Option('--cloud <cloud>', 'instances of an emulated cloud instead of machines with BMCs, and no configuration for any node').choices(
        CLOUDS,
      ),
    )
    .addOption(
      new Option(
        '--api <server>',
        'control plane; real: etcd, kube-apiserver and kube-controller-manager of KUBEBUILDER_ASSETS, else of ~/.cache/control-plane/<version>/bin',
      )
        .choices(APIS)
        .default('embedded'),
    )
    .option('--replicas <count>', 'number of controllers', wholeNumber(1, 5), DEFAULT_OPTIONS.replicas)
    .option('--nodes <count>', 'number of machines (default: as many as the fault needs, mostly 3)', wholeNumber(2, 50))
    .option('--seed <number>', 'seed that draws which node breaks, and when', wholeNumber(0, 2 ** 31), 1)
    .option('--json', 'print one JSON object to stdout and nothing else')
    .option('--keep', 'leave the cluster running until Ctrl-C')
    .option('--config <dir>', 'use your own ConfigMaps and Secrets from this folder')
    .option('--set <key=value>', 'set a key of fence-cluster-config, over the short delays of the drill; may be repeated', setting, {})
    .option('--matrix', 'play every fault with every agent and every seed, several at a time; those of node daemons are played alone')
    .option('--faults <a,b>', 'play only these faults of the matrix', faultList)
    .option('--simulated', 'play a fault of node daemons on a virtual clock, within seconds; without root and iproute2 it is played so anyway')
    .option('--seeds <count>', 'number of seeds of the matrix', wholeNumber(1, 10_000), 1)
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
        process.exitCode = failed(error);
      }
    });
}

/** Says why nothing was played, in the last line; the exit code. */
function failed(error: unknown): number {
  const isUsage = error instanceof WrongUsage;
  if (isUsage || error instanceof ConfigurationRefused) process.stderr.write(`${error.message}\n`);
  else if (error instanceof AssetsMissing) process.stderr.write(`${error.message}; without --api real the embedded server serves\n`);
  else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${whyLine(error)}\n`);
  return isUsage ? EXIT.usage : EXIT.failed;
}

/** Words of the command line that contradict each other. */
class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

async function drill(flags: Flags): Promise<number> {
  const daemonFault = DAEMON_FAULTS.find((name) => name === flags.fault);
  return daemonFault === undefined ? clusterDrill(flags, flags.fault as Fault) : daemonDrill(flags, daemonFault);
}

/** Five node daemons, each on a network of its own: by real processes where this machine can have them, else simulated. */
async function daemonDrill(flags: Flags, fault: DaemonFault): Promise<number> {
  const { seed, json, simulated } = flags;
  const others = optionsBeside(flags);
  if (others.length > 0) throw new WrongUsage(`error: --fault ${fault} is played on five nodes of its own; leave ${others.join(', ')} away`);
  const problem = simulated === true ? undefined : whyNoDaemonDrill();
  const says = (line: string): void => void process.stderr.write(`${line}\n`);
  const why = simulated === true ? '--simulated is given' : problem;
  if (why !== undefined) says(simulatedFor(why));
  const result = await (why === undefined ? runDaemonDrill : simulateDaemonDrill)(fault, seed, says);
  process.stdout.write(json === true ? `${JSON.stringify(result)}\n` : daemonSummary(result));
  return result.expected ? 0 : 1;
}

/** What such a drill would pass over in silence. */
function optionsBeside({ agent, cloud, api, replicas, nodes, keep, config, set, matrix, faults, seeds }: Flags): string[] {
  const given = {
    '--agent': agent !== undefined,
    '--cloud': cloud !== undefined,
    '--api': api !== DEFAULT_OPTIONS.api,
    '--replicas': replicas !== DEFAULT_OPTIONS.replicas,
    '--nodes': nodes !== undefined,
    '--keep': keep === true,
    '--config': config !== undefined,
    '--set': Object.keys(set).length > 0,
    '--matrix': matrix === true,
    '--faults': faults !== undefined,
    '--seeds': seeds !== 1,
  };
  return Object.entries(given).flatMap(([name, isGiven]) => (isGiven ? [name] : []));
}

async function clusterDrill(flags: Flags, fault: Fault): Promise<number> {
  const options: DrillOptions = {
    fault,
    nodes: flags.nodes,
    seed: flags.seed,
    agent: flags.agent ?? 'redfish',
    api: flags.api,
    replicas: flags.replicas,
    json: flags.json === true,
    keep: flags.keep === true,
    config: flags.config,
    settings: flags.set,
    ...(flags.cloud === undefined ? {} : { cloud: flags.cloud }),
  };
  checkTogether(options, flags.faults ?? []);
  checkCloud(flags, fault);
  if (flags.simulated === true) throw new WrongUsage(`error: --simulated plays ${DAEMON_FAULTS.join(', ')}; --fault ${fault} is played by processes`);
  if (flags.matrix === true) return matrix(options, flags);
  const audience = options.json && !process.stderr.isTTY ? SILENT : new Display(process.stderr, fault);
  const result = await runDrill(options, audience, async (ended) => {
    process.stdout.write(options.json ? `${JSON.stringify(ended)}\n` : summaryOf(ended, options.keep));
    if (options.keep) await untilInterrupted();
  });
  return result.expected ? 0 : 1;
}

/** Throws `WrongUsage` for words that contradict each other. */
function checkTogether({ config, agent, fault, replicas, nodes }: DrillOptions, faults: readonly Fault[]): void {
  const wanted = [fault, ...faults];
  const refused: string[] = [];
  if (config !== undefined && agent === 'ipmi')
    refused.push('--agent ipmi: the configuration of --config says which agent fences; leave --agent away');
  if (config !== undefined && wanted.includes('config-edit'))
    refused.push('--fault config-edit edits the drill’s own configuration; leave --config away');
  for (const name of new Set(wanted)) {
    const { nodes: least } = sceneOf(name);
    if (config !== undefined && needsOwnScene(name)) refused.push(`--fault ${name} is played on a cluster of the drill’s own; leave --config away`);
    else if (nodes !== undefined && nodes < least && needsOwnScene(name)) refused.push(`--fault ${name} is played on ${least} nodes or more`);
  }
  if (replicas < 2 && wanted.some((name) => name === 'leader-pause'))
    refused.push('--fault leader-pause needs a second replica: --replicas 2 or more');
  if (refused.length > 0) throw new WrongUsage(refused.map((line) => `error: ${line}`).join('\n'));
}

/** What is played with BMCs alone. */
function checkCloud({ cloud, agent, config, matrix: isMatrix }: Flags, fault: Fault): void {
  if (cloud === undefined) return;
  const refused: string[] = [];
  if (agent !== undefined) refused.push(`--agent ${agent}: --cloud says what fences; leave --agent away`);
  if (config !== undefined) refused.push('--config describes machines with BMCs; leave --cloud away');
  if (isMatrix === true) refused.push('--matrix plays machines with BMCs; leave --cloud away');
  if (!CLOUD_FAULTS.includes(fault)) refused.push(`--fault ${fault} is played with BMCs; with --cloud one of ${CLOUD_FAULTS.join(', ')}`);
  if (refused.length > 0) throw new WrongUsage(refused.map((line) => `error: ${line}`).join('\n'));
}

async function matrix(options: DrillOptions, flags: Flags): Promise<number> {
  const chosen = { faults: flags.faults ?? FAULTS, agents: flags.agent === undefined && flags.config === undefined ? AGENTS : [options.agent] };
  const rows = await runMatrix(options, { ...chosen, seeds: flags.seeds }, (row, done, of) => {
    process.stderr.write(`${done} of ${of}: ${row.fault} by ${row.agent}, seed ${row.seed}: ${outcomeOf(row)}\n`);
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

function faultList(text: string): readonly Fault[] {
  return text.split(',').map((name) => {
    const fault = FAULTS.find((known) => known === name.trim());
    if (fault === undefined) throw new InvalidArgumentError(`"${name}" is none of ${FAULTS.join(', ')}.`);
    return fault;
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
