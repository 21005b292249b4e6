import type { CloudFaults } from '../devices/cloud/faults.ts';
import type { CloudMachine } from '../devices/cloud/emulated-instance.ts';
import { CLOUD_KINDS } from '../devices/cloud/kinds.ts';
import type { CloudName } from '../devices/cloud/kinds.ts';
import { MachineProcess } from '../devices/bmc/machine-process.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { obeyLines, readConfiguration, sayReady, traceTo } from './process-shell.ts';

interface Configuration {
  cloud: CloudName;
  host: string;
  trace: string;
  machines: readonly {
    node: string;
    uuid: string;
    address: string;
    /** As traces name it: as the agent's calls do. */
    device: string;
    plug: string;
    machine: { command: string[]; configuration: string };
  }[];
}

/** A line on stdin, to one machine or to the cloud. */
type Command =
  | { command: 'machine'; node: string; line: unknown }
  | { command: 'panic'; node: string }
  | { command: 'power'; node: string; state: 'on' | 'off' }
  | { command: 'faults'; faults: CloudFaults }
  | { command: 'stop' };

/** One cloud with all its machines, as a process of its own; prints one ready line, obeys lines on stdin. */
async function main(): Promise<void> {
  const configuration = readConfiguration<Configuration>(process.argv[2], ['cloud', 'host', 'trace', 'machines']);
  const clock = new SystemClock();
  const random = new SystemRandom();
  const trace = traceTo(configuration.trace);
  const machines = new Map<string, MachineProcess>();
  const described = configuration.machines.map(({ node, uuid, address, device, plug, machine }): CloudMachine => {
    const power = new MachineProcess({
      ...machine,
      random,
      onPower: (state, cause) => trace({ kind: 'power', at: clock.wallMs(), node, state, cause }),
      onDeath: (bootID) => trace({ kind: 'node', at: clock.wallMs(), node, what: 'panic', bootID }),
    });
    machines.set(node, power);
    const event = { kind: 'device', device, plug, node, session: '' } as const;
    return {
      node,
      uuid,
      address,
      power,
      onEvent: (seen) => {
        const at = clock.wallMs();
        if (seen.action === 'set') {
          trace({ ...event, at, action: 'set', want: seen.want, answer: 'accepted' });
          return;
        }
        trace({ ...event, at, action: 'identity', answer: plug });
        trace({ ...event, at, action: 'read', shown: seen.shown, answer: seen.shown });
      },
    };
  });
  const kind = await CLOUD_KINDS[configuration.cloud]();
  const service = await kind.start({ host: configuration.host, machines: described, clock, random });
  for (const machine of machines.values()) machine.on('start');
  const machineOf = (node: string): MachineProcess => {
    const machine = machines.get(node);
    if (machine === undefined) throw new Error(`there is no machine ${node}`);
    return machine;
  };
  const leave = (): void => {
    for (const machine of machines.values()) machine.off('start');
    process.exit(0);
  };
  obeyLines((line) => {
    const command = line as Command;
    switch (command.command) {
      case 'machine':
        machineOf(command.node).tell(command.line);
        return;
      case 'panic':
        machineOf(command.node).panic();
        return;
      case 'power':
        machineOf(command.node)[command.state]('restore');
        return;
      case 'faults':
        service.setFaults(command.faults);
        return;
      case 'stop':
        leave();
    }
  }, leave);
  const { url, variables, files, settings } = service;
  sayReady({ url, variables, files, settings });
}

await main();
