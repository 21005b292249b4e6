import { createInterface } from 'node:readline';

import { BMC_REQUIRED, faultsOf, type BmcConfiguration, type BmcReady } from '../bmc/bmc-configuration.ts';
import { startBmcServer } from '../bmc/bmc-server.ts';
import { MachineProcess } from '../bmc/machine-process.ts';
import { RedfishDevice } from '../bmc/redfish-device.ts';
import { resourceTree } from '../bmc/tree.ts';
import { createAuthority, fingerprintSha256 } from '../certificates.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { readConfiguration, traceTo } from './process-shell.ts';

/** A line on stdin. `machine` passes its line on to the machine. */
type Command =
  | { command: 'machine'; line: unknown }
  | { command: 'panic' }
  | { command: 'power'; state: 'on' | 'off' }
  | { command: 'faults'; faults: BmcConfiguration['faults'] }
  | { command: 'stop' };

const SLEEPER = [process.execPath, '-e', 'process.stdin.resume()'];

/** One BMC and the machine that hangs on it, as a process of its own. See bmc-configuration.ts; prints one ready line, obeys lines on stdin. */
async function main(): Promise<void> {
  const configuration = readConfiguration<BmcConfiguration>(process.argv[2], BMC_REQUIRED);
  const { node } = configuration;
  const random = new SystemRandom();
  const clock = new SystemClock();
  const trace = traceTo(configuration.trace);
  const machine = new MachineProcess({
    command: configuration.machine?.command ?? SLEEPER,
    configuration: configuration.machine?.configuration ?? '',
    random,
    onPower: (state, cause) => trace({ kind: 'power', at: clock.wallMs(), node, state, cause }),
    onDeath: (bootID) => trace({ kind: 'node', at: clock.wallMs(), node, what: 'panic', bootID }),
  });
  const host = configuration.host ?? '127.0.0.1';
  const certificate = configuration.certificate ?? createAuthority(`BMC of ${node}`).issue({ commonName: node, hosts: [host] });
  const { serial } = configuration;
  const device = new RedfishDevice({
    clock,
    random,
    node,
    users: { [configuration.username]: configuration.password },
    tree: resourceTree({ uuid: configuration.uuid, hostName: node, ...(serial === undefined ? {} : { serial }), ...configuration.tree }),
    backend: machine,
    faults: faultsOf(configuration.faults),
    trace,
  });
  if (configuration.device !== undefined) device.name = configuration.device;
  const server = await startBmcServer(device, { host, ...(configuration.port === undefined ? {} : { port: configuration.port }), certificate });
  if (configuration.startsOn !== false) machine.on('start');
  obey(device, machine);
  const { url, port } = server;
  const ready: BmcReady = { ready: true, host, port, url, fingerprint: fingerprintSha256(certificate.certificatePem) };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

function obey(device: RedfishDevice, machine: MachineProcess): void {
  const leave = (): void => {
    machine.off('start');
    process.exit(0);
  };
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const command = JSON.parse(line) as Command;
    switch (command.command) {
      case 'machine':
        machine.tell(command.line);
        return;
      case 'panic':
        machine.panic();
        return;
      case 'power':
        machine[command.state]('restore');
        return;
      case 'faults':
        device.faults = faultsOf(command.faults);
        return;
      case 'stop':
        leave();
    }
  });
  lines.on('close', leave);
  process.on('SIGTERM', leave);
  process.on('SIGINT', leave);
}

await main();
