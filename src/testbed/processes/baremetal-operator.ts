import { BareMetalOperator } from '../operators/baremetal-operator.ts';
import type { OperatorPace } from '../operators/baremetal-operator.ts';
import { BmcPower } from '../operators/power/host-power.ts';
import type { HostDevice } from '../operators/power/host-power.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { connect } from './connection.ts';
import { obeyLines, readConfiguration, sayReady, traceTo } from './process-shell.ts';
import type { ServerConfiguration } from './process-shell.ts';

/** `devices` by node. The file holds passwords. */
type Configuration = ServerConfiguration & { devices: Record<string, HostDevice>; pace: OperatorPace };

/** The baremetal-operator of the drill, as a process of its own: it minds BareMetalHosts by the BMCs of their machines. */
function main(): void {
  const configuration = readConfiguration<Configuration>(process.argv[2], ['server', 'caPem', 'token', 'trace', 'devices', 'pace']);
  const clock = new SystemClock();
  const trace = traceTo(configuration.trace);
  const power = new BmcPower(configuration.devices, { clock, trace });
  new BareMetalOperator({ transport: connect(configuration), clock, random: new SystemRandom(), trace }, power, configuration.pace).start();
  obeyLines(() => undefined);
  sayReady();
}

main();
