import { standardRegistry } from '../../../agents/registry.ts';
import { BareMetalOperator } from '../operators/baremetal-operator.ts';
import type { OperatorPace } from '../operators/baremetal-operator.ts';
import { BmcPower } from '../operators/host-power.ts';
import type { HostDevice } from '../operators/host-power.ts';
import { ApiClient } from '../../kube/client.ts';
import type { PowerAgent } from '../../ports/agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { connect } from './connection.ts';
import { obeyLines, readConfiguration, sayReady, traceTo } from './process-shell.ts';
import type { ServerConfiguration } from './process-shell.ts';

/** `agent`: what speaks to the BMCs; `devices` by node. The file holds passwords. */
type Configuration = ServerConfiguration & { agent: string; devices: Record<string, HostDevice>; pace: OperatorPace };

/** The baremetal-operator of the drill, as a process of its own: it minds BareMetalHosts by the BMCs of their machines. */
async function main(): Promise<void> {
  const configuration = readConfiguration<Configuration>(process.argv[2], ['server', 'caPem', 'token', 'trace', 'agent', 'devices', 'pace']);
  const clock = new SystemClock();
  const transport = connect(configuration);
  const trace = traceTo(configuration.trace);
  const agent = await powerAgent(configuration.agent, clock, new ApiClient({ transport }));
  const power = new BmcPower(agent, configuration.devices, { clock, trace });
  new BareMetalOperator({ transport, clock, random: new SystemRandom(), trace }, power, configuration.pace).start();
  obeyLines(() => undefined);
  sayReady();
}

async function powerAgent(name: string, clock: Clock, cluster: Cluster): Promise<PowerAgent> {
  const agent = await standardRegistry().find(name)?.create({ clock, cluster });
  if (agent?.kind !== 'power') throw new Error(`${name} is no agent that switches power`);
  return agent;
}

await main();
