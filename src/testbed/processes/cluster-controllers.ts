import { HostMachines } from '../operators/host-machines.ts';
import { MachineControllers } from '../operators/machine-controllers.ts';
import { MachineManager } from '../operators/machine-manager.ts';
import type { ManagerOptions } from '../operators/machine-manager.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { ClusterControllers } from '../cluster/cluster-controllers.ts';
import { JobController } from '../cluster/jobs/job-controller.ts';
import { SHORT_CLUSTER } from '../cluster/options.ts';
import type { ClusterOptions } from '../cluster/options.ts';
import { connect } from './connection.ts';
import { obeyLines, readConfiguration, sayReady, traceTo } from './process-shell.ts';
import type { ServerConfiguration } from './process-shell.ts';

/** `options` changes single parameters; the drill's short ones stand otherwise. `hasMachines`: Machines of MCM's kinds stand for the nodes, `hasHosts`: those of Cluster API; `manager`: an MCM is at work; `hasJobs`: Jobs are run. */
type Configuration = ServerConfiguration & {
  options?: Partial<ClusterOptions>;
  hasMachines?: boolean;
  hasHosts?: boolean;
  manager?: ManagerOptions;
  hasJobs?: boolean;
};

/** kube-controller-manager, kube-scheduler and the CSI attacher of the drill, as a process of their own. */
function main(): void {
  const configuration = readConfiguration<Configuration>(process.argv[2], ['server', 'caPem', 'token', 'trace']);
  const clock = new SystemClock();
  const dependencies = { transport: connect(configuration), clock, random: new SystemRandom(), trace: traceTo(configuration.trace) };
  new ClusterControllers(dependencies, { ...SHORT_CLUSTER, ...configuration.options }).start();
  if (configuration.hasMachines === true) new MachineControllers(dependencies).start();
  if (configuration.hasHosts === true) new HostMachines(dependencies).start();
  if (configuration.manager !== undefined) new MachineManager(dependencies, configuration.manager).start();
  if (configuration.hasJobs === true) new JobController(dependencies).start();
  obeyLines(() => undefined);
  sayReady();
}

main();
