import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { Kubelet } from '../cluster/kubelet.ts';
import { SHORT_KUBELET } from '../cluster/options.ts';
import type { KubeletOptions } from '../cluster/options.ts';
import { WorldApi } from '../cluster/api.ts';
import { ProblemDetector } from '../cluster/problem-detector.ts';
import type { DetectorOptions } from '../cluster/problem-detector.ts';
import { connect } from './connection.ts';
import { FileDisk } from './file-disk.ts';
import { obeyLines, readConfiguration, sayReady, traceTo } from './process-shell.ts';
import type { ServerConfiguration } from './process-shell.ts';

interface Configuration extends ServerConfiguration {
  node: string;
  /** Folder of the disk that all machines share. */
  disk: string;
  systemUUID?: string;
  providerID?: string;
  address?: string;
  labels?: Record<string, string>;
  /** From power on to the kubelet's first request; 1 s when absent. */
  bootDelayMs?: number;
  /** A node-problem-detector runs on it. */
  detector?: Omit<DetectorOptions, 'node'>;
  /** Changes single parameters; the drill's short ones stand otherwise. */
  options?: Partial<Pick<KubeletOptions, 'renewMs' | 'heartbeatMs' | 'leaseDurationSeconds' | 'startDelayMs' | 'writeMs'>>;
}

/** A line on stdin; the first one is `boot`. */
type Command =
  | { command: 'boot'; bootID: string }
  | { command: 'hang' | 'partition' | 'heal' }
  /** Its disk. */
  | { command: 'fill'; isFull: boolean }
  /** Its node-problem-detector: finds a problem, is started anew, or dies. */
  | { command: 'find'; condition: string }
  | { command: 'detector'; what: 'restart' | 'die' };

const BOOT_DELAY_MS = 1_000;

/** One boot of one machine: kubelet and workload. Its BMC starts this process at power on and kills it at power off. */
function main(): void {
  const configuration = readConfiguration<Configuration>(process.argv[2], ['server', 'caPem', 'token', 'trace', 'node', 'disk']);
  const { node, systemUUID, providerID, address, labels } = configuration;
  const clock = new SystemClock();
  const trace = traceTo(configuration.trace);
  const dependencies = { transport: connect(configuration), clock, random: new SystemRandom(), trace, disk: new FileDisk(configuration.disk) };
  const identity = { node, systemUUID, providerID, address, labels };
  let kubelet: Kubelet | undefined;
  const { detector: detects } = configuration;
  const random = dependencies.random;
  const detector = detects && new ProblemDetector(new WorldApi(dependencies.transport), clock, random, { ...detects, node });
  const boot = (bootID: string): void => {
    trace({ kind: 'node', at: clock.wallMs(), node, what: 'boot', bootID });
    clock.after(configuration.bootDelayMs ?? BOOT_DELAY_MS, () => {
      kubelet = new Kubelet(dependencies, { ...SHORT_KUBELET, ...configuration.options, ...identity, bootID });
      kubelet.start();
      detector?.start();
    });
  };
  obeyLines((line) => {
    const command = line as Command;
    switch (command.command) {
      case 'boot':
        boot(command.bootID);
        break;
      case 'fill':
        kubelet?.fill(command.isFull);
        break;
      case 'find':
        detector?.find(command.condition);
        break;
      case 'detector':
        if (command.what === 'restart') detector?.start();
        else detector?.stop();
        break;
      default:
        kubelet?.[command.command]();
    }
  });
  sayReady();
}

main();
