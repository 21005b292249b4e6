import { Command, InvalidArgumentError, Option } from 'commander';
import { standardRegistry } from '../../agents/registry.ts';
import type { AgentRegistry } from '../ports/agents.ts';
import type { Cluster } from '../ports/cluster.ts';
import { hostEnvironment } from '../runtime/host-environment.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { connectCluster } from './connect-cluster.ts';
import { accessCluster, withClusterOptions } from './cluster-access.ts';
import type { ClusterAccess, ClusterFlags } from './cluster-access.ts';
import { CommandFailure, EXIT, failureOf } from './commands/failure.ts';
import { nodeArgument } from './commands/node-argument.ts';
import { usageExits } from './usage-exits.ts';
import { processConsole } from './commands/terminal/console.ts';
import { withMachineOptions } from './preservation/machine-flags.ts';
import type { MachineFlags } from './preservation/machine-flags.ts';
import { programFolder, rightsOfValidate } from './program-rights.ts';
import type { ProgramFlags } from './program-rights.ts';
import { HostSecrets } from './secrets/stores.ts';
import type { SecretFlags } from './secrets/stores.ts';
import { inputFromCluster } from './validate/cluster.ts';
import { loginOf } from './validate/login.ts';
import { inputFromFiles } from './validate/files.ts';
import { probe } from './validate/probe.ts';
import { probeProblems } from './validate/probe-problems.ts';
import { countOf, reportObject } from './validate/report.ts';
import type { Report } from './validate/report.ts';
import { reportText } from './validate/report-text.ts';
import { ordered, validate } from './validate/validation.ts';
import type { Validation } from './validate/validation.ts';
import type { Input } from './validate/input.ts';

interface Flags extends ClusterFlags, MachineFlags, ProgramFlags, SecretFlags {
  filename: string[];
  node: string[];
  output: 'text' | 'json';
  probe?: true;
  probeTimeout: number;
}

const EXIT_CODES =
  '\nExit codes: 0 no errors (warnings are allowed), 1 errors, 2 it could not be checked: wrong usage, unreadable files, no cluster.';
/** Devices that are read at the same time. */
const PROBES_MAX = 16;
/** A shorter work says nothing of its progress. */
const PATIENCE_MS = 2_000;
const PROGRESS_EVERY_MS = 1_000;

/** `nodefence validate`: the plan of every node, and what is wrong, before a node fails. */
export function validateCommand(): Command {
  const command = usageExits(new Command('validate'))
    .description("resolve every node's plan as the controller does, and list errors with ConfigMap, key and line; changes nothing")
    .option(
      '-f, --filename <path>',
      'file or folder of ConfigMaps, Secrets and Nodes, or - for stdin; may be repeated; default: read the cluster',
      listed,
      [],
    )
    .option('--node <name>', 'check only this node; may be repeated', (text: string, before: string[]) => [...before, nodeArgument(text)], [])
    .addOption(new Option('-o, --output <format>', 'output format; json: one object on stdout').choices(['text', 'json']).default('text'))
    .option('--probe', 'read the state and identity of every device too; never switches one')
    .option('--programs <dir>', 'this machine runs the controller, and this is the folder of its --programs', programFolder)
    .option('--secret-files <dir>', 'this machine runs the controller, and this is the folder of its --secret-files', programFolder)
    .option('--allow-programs', 'run these programs too: to read their metadata, and with --probe to read devices')
    .option('--probe-timeout <seconds>', 'timeout for one read of one device', seconds, 10)
    .addHelpText('after', EXIT_CODES);
  return withMachineOptions(withClusterOptions(command)).action(async (flags: Flags) => {
    // From the environment they are there for all commands.
    const isOfCluster = ['kubeconfig', 'context', 'machinesKubeconfig', 'machinesNamespace'].some(
      (name) => command.getOptionValueSource(name) === 'cli',
    );
    process.exitCode = await run(flags, isOfCluster);
  });
}

async function run(flags: Flags, isOfCluster: boolean): Promise<number> {
  const console = processConsole();
  let access: ClusterAccess | undefined;
  try {
    const isOfFiles = flags.filename.length > 0;
    if (isOfFiles && isOfCluster)
      throw new CommandFailure(
        '--filename checks files; --kubeconfig, --context and --machines-kubeconfig name a cluster: give one of them',
        EXIT.usage,
      );
    if (flags.allowPrograms === true && flags.programs === undefined)
      throw new CommandFailure('--allow-programs needs --programs DIR: the folder that the controller’s flag of that name names', EXIT.usage);
    access = isOfFiles ? undefined : await accessCluster(flags);
    const read = access === undefined ? inputFromFiles(flags.filename, flags.fenceNamespace) : await inputFromCluster(access, flags);
    const rights = rightsOfValidate(flags, read.programs);
    const isHere = flags.secretFiles !== undefined || flags.programs !== undefined;
    const input = isHere ? { ...read, stores: new HostSecrets({ files: flags.secretFiles, programs: rights, clock: new SystemClock() }) } : read;
    const registry = standardRegistry(rights);
    const validation = validate(input, registry, flags.node);
    const report = flags.probe === true ? await probed({ validation, registry }, input, access?.cluster ?? NO_CLUSTER, flags) : validation.report;
    console.print(flags.output === 'json' ? JSON.stringify(reportObject(report)) : reportText(report, console.ink));
    if (report.isInterrupted) return 130;
    return countOf(report, 'error') > 0 ? EXIT.failed : EXIT.done;
  } catch (error) {
    const { words } = failureOf(error, access?.server);
    console.say(`nodefence: ${words}`);
    if (flags.output === 'json') console.print(JSON.stringify({ valid: false, failure: words }));
    return EXIT.usage;
  } finally {
    access?.close();
  }
}

interface Asked {
  validation: Validation;
  registry: AgentRegistry;
}

/** The report with what every device says; Ctrl-C ends it with what is known by then. */
async function probed({ validation, registry }: Asked, input: Input, cluster: Cluster, flags: Flags): Promise<Report> {
  const { report } = validation;
  const clock = new SystemClock();
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const progress = new Progress(clock);
  try {
    const devices = await probe(report.nodes, {
      registry,
      context: {
        cluster,
        clock,
        namespace: flags.fenceNamespace,
        connect: (kubeconfig) => connectCluster(kubeconfig, clock),
        host: hostEnvironment(process.env),
        ...(input.addresses === undefined ? {} : { addresses: input.addresses }),
      },
      resolve: async (node, method) => {
        const login = await loginOf(node, method, input.stores);
        return login !== undefined && 'problem' in login ? login : validation.resolve(node, method, login?.keys);
      },
      concurrency: PROBES_MAX,
      deadlineMs: flags.probeTimeout * 1000,
      signal: interruption.signal,
      onProgress: (done, of) => progress.at(done, of),
    });
    const nodes = report.nodes.map((node) => ({ ...node, devices: devices.get(node.facts.name) ?? [] }));
    const problems = ordered([...report.problems, ...probeProblems(nodes, input.nodes, clock.wallMs())]);
    return { ...report, nodes, problems, isInterrupted: interruption.signal.aborted };
  } finally {
    progress.end();
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/** Says on stderr how far the probe is, once it takes long. */
class Progress {
  readonly #clock: SystemClock;
  #cancel: () => void;
  #said = '';
  #text = '';

  constructor(clock: SystemClock) {
    this.#clock = clock;
    this.#cancel = clock.after(PATIENCE_MS, () => this.#say());
  }

  at(done: number, of: number): void {
    this.#text = `${done} of ${of} devices read`;
  }

  end(): void {
    this.#cancel();
  }

  #say(): void {
    if (this.#text !== this.#said) process.stderr.write(`${this.#text}\n`);
    this.#said = this.#text;
    this.#cancel = this.#clock.after(PROGRESS_EVERY_MS, () => this.#say());
  }
}

const noCluster = (): Promise<never> => Promise.reject(new Error('files are validated: there is no cluster to ask'));
/** Devices are read without a cluster. */
const NO_CLUSTER: Cluster = {
  get: noCluster,
  list: noCluster,
  create: noCluster,
  replace: noCluster,
  replaceStatus: noCluster,
  mergePatch: noCluster,
  remove: noCluster,
  evict: noCluster,
};

function listed(path: string, before: string[]): string[] {
  return [...before, path];
}

function seconds(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 600)) throw new InvalidArgumentError('must be a number of seconds, at most 600.');
  return number;
}
