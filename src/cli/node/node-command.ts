import { hostname } from 'node:os';
import { Command, Option } from 'commander';
import { bindAddress } from '../bind-address-option.ts';
import { parseBindAddress } from '../../http/bind-address.ts';
import type { BindAddress } from '../../http/bind-address.ts';
import { jsonLog } from '../../node/shell/json-log.ts';
import type { Level } from '../../node/shell/json-log.ts';
import { usageExits } from '../usage-exits.ts';
import { VERSION } from '../version.ts';
import { addCheckCommands } from './checks.ts';
import { applyConfigFile, configFileOf } from './config-file.ts';
import type { ConfigLines } from './config-file.ts';
import { fileSystemsOf, fileSystemsOptions } from './file-systems-options.ts';
import type { FileSystemsFlags } from './file-systems-options.ts';
import { kdumpSetupCommand } from './kdump-setup.ts';
import { renewTokenCommand } from './renew-token-command.ts';
import { softFenceOf, softFenceOptions } from './soft-fence-options.ts';
import type { SoftFenceFlags } from './soft-fence-options.ts';
import { storageLeaseCommand } from './storage-lease-command.ts';
import { storageLeaseOf, storageLeaseOptions } from './storage-lease-options.ts';
import type { StorageLeaseFlags } from './storage-lease-options.ts';
import { storageOf, storageOptions } from './storage-options.ts';
import type { StorageFlags } from './storage-options.ts';
import { statusCommand } from './status-command.ts';
import { timeOptions, writtenTimes } from './time-options.ts';
import { unfenceOf, unfenceOptions } from './unfence-options.ts';
import type { UnfenceFlags } from './unfence-options.ts';
import { keepMemoryOutOfDumps } from '../../runtime/core-dumps.ts';

interface Flags extends StorageFlags, StorageLeaseFlags, UnfenceFlags, SoftFenceFlags, FileSystemsFlags {
  config?: string;
  nodeName: string;
  fenceNamespace: string;
  kubeconfig?: string;
  listen: BindAddress;
  address?: string;
  stateDir: string;
  runDir: string;
  watchdog?: string;
  watchdogBesideKdump: boolean;
  selfFence: boolean;
  hostRoot?: string;
  conditions: boolean;
  metricsAddress?: BindAddress;
  logLevel: Level;
}

/** `nodefence node`: the daemon of one node; `nodefence node status` asks it, `nodefence node check` does without it. */
export function nodeCommand(): Command {
  const option = (flags: string, variable: string, description: string): Option => new Option(flags, description).env(`NODEFENCE_NODE_${variable}`);
  const node = usageExits(new Command('node'))
    .description('run the daemon of this node: heartbeat, attestation, watchdog, self-fence')
    .addOption(
      option(
        '--config <path>',
        'CONFIG',
        'file of key=value lines, by the names of these flags (isolation_timeout=60s), or a folder with one for each node; a flag wins',
      ),
    )
    .addOption(option('--node-name <name>', 'NAME', 'name of the Node that this machine is').default(hostname().toLowerCase(), 'the host name'))
    .addOption(
      option('--fence-namespace <name>', 'FENCE_NAMESPACE', 'namespace of the Leases and of the ConfigMap of the controllers').default(
        'nodefence-system',
      ),
    )
    .addOption(option('--kubeconfig <path>', 'KUBECONFIG', "kubeconfig with a token that is bound to this Node; default: KUBECONFIG, or the pod's"))
    .addOption(
      option('--listen <host:port>', 'LISTEN', 'UDP address that it listens on').argParser(bindAddress).default(parseBindAddress(':7411'), ':7411'),
    )
    .addOption(
      option(
        '--address <address>',
        'ADDRESS',
        'IP address, or with its port, that others reach; default: the one that the API server is reached from',
      ),
    )
    .addOption(option('--state-dir <path>', 'STATE_DIR', 'what outlives the boot: promises').default('/var/lib/nodefence'))
    .addOption(option('--run-dir <path>', 'RUN_DIR', 'what outlives the process only: must be in memory').default('/run/nodefence'))
    .addOption(option('--watchdog <device>', 'WATCHDOG', 'watchdog device, or none; default: the first one, hardware before software'))
    .addOption(option('--watchdog-beside-kdump', 'WATCHDOG_BESIDE_KDUMP', 'arm it although a crash kernel is loaded').default(false))
    .addOption(option('--self-fence', 'SELF_FENCE', 'take this node down when nobody keeps it up any more').default(false))
    .addOption(
      option('--conditions', 'CONDITIONS', 'post what the checks find as conditions of the Node (config/node-daemon-conditions)').default(false),
    )
    .addOption(
      option('--metrics-address <host:port>', 'METRICS_ADDRESS', 'serve metrics there, such as 127.0.0.1:9411; default: nowhere').argParser(
        bindAddress,
      ),
    )
    .addOption(option('--log-level <level>', 'LOG_LEVEL', 'lowest level that is logged').choices(['info', 'warn', 'error']).default('info'))
    .addCommand(statusCommand())
    .addCommand(kdumpSetupCommand())
    .addCommand(storageLeaseCommand())
    .addCommand(renewTokenCommand())
    .action(run);
  const storage = [...storageOptions(option), ...storageLeaseOptions(option), ...fileSystemsOptions(option)];
  const added = [...timeOptions(option), ...storage, ...unfenceOptions(option), ...softFenceOptions(option)];
  for (const one of added) node.addOption(one);
  addCheckCommands(node);
  return node;
}

async function run(given: Flags, command: Command): Promise<void> {
  const lines = given.config === undefined ? undefined : readConfig(command, given.config, given.nodeName);
  const flags = command.opts<Flags>();
  const log = jsonLog(flags.logLevel, (line) => void process.stderr.write(line));
  const dumps = keepMemoryOutOfDumps();
  if (dumps !== undefined) log.warn('a core dump would hold keys: set the limit of core dumps to 0', { reason: dumps });
  if (lines !== undefined) log.info(lines.isThere ? 'read settings of this node' : 'no settings of this node alone', { file: lines.file });
  try {
    // A check by node-problem-detector must start fast, and needs none of this.
    const { runNodeDaemon } = await import('../../node/shell/run.ts');
    const daemon = await runNodeDaemon({
      node: flags.nodeName,
      namespace: flags.fenceNamespace,
      ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
      listen: flags.listen,
      ...(flags.address === undefined ? {} : { address: flags.address }),
      stateDir: flags.stateDir,
      runDir: flags.runDir,
      ...(flags.watchdog === undefined ? {} : { watchdog: flags.watchdog }),
      times: writtenTimes(command.opts()),
      ...(flags.metricsAddress === undefined ? {} : { metricsAddress: flags.metricsAddress }),
      isArmedBesideCrashKernel: flags.watchdogBesideKdump,
      fencesItself: flags.selfFence,
      ...storageOf(flags),
      ...unfenceOf(flags, command),
      ...softFenceOf(flags),
      ...storageLeaseOf(flags),
      ...fileSystemsOf(flags),
      ...(flags.hostRoot === undefined ? {} : { hostRoot: flags.hostRoot }),
      postsConditions: flags.conditions,
      version: VERSION,
      root: '/',
      environment: process.env,
      log,
    });
    const stop = (signal: string): void => {
      log.info('stopping', { signal });
      daemon.close().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error('the stop failed', { error: String(error) });
          process.exit(1);
        },
      );
    };
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, stop);
  } catch (error) {
    log.error('the node daemon cannot run', { error: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  }
}

function readConfig(command: Command, path: string, node: string): ConfigLines {
  try {
    const lines = configFileOf(path, node);
    if (lines.isThere) applyConfigFile(command, lines.file);
    return lines;
  } catch (error) {
    return command.error(`error: --config ${error instanceof Error ? error.message : String(error)}`);
  }
}
