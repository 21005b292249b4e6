import { dirname } from 'node:path';

import { BMC_REQUIRED, faultsOf, type BmcConfiguration } from '../devices/bmc/bmc-configuration.ts';
import type { BmcService, BmcServiceOptions } from '../devices/bmc/bmc-service.ts';
import { MachineProcess } from '../devices/bmc/machine-process.ts';
import { wire } from '../devices/bmc/wiring.ts';
import type { Feed } from '../devices/bmc/wiring.ts';
import { startRedfishService } from '../devices/bmc/redfish-service.ts';
import { startIpmiService } from '../devices/ipmi/ipmi-service.ts';
import { BMC_PROTOCOLS, type BmcProtocol } from '../devices/ipmi/protocol.ts';
import { startIpmiSimService } from '../devices/ipmi/sim/ipmi-sim-service.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { obeyLines, readConfiguration, traceTo } from './process-shell.ts';

/** A line on stdin. `machine` passes its line on to the machine; `device` counts the machine's devices from 0, the one of a lone BMC. */
type Command =
  | { command: 'machine'; line: unknown }
  | { command: 'panic' }
  | { command: 'power'; state: 'on' | 'off' }
  | { command: 'faults'; faults: BmcConfiguration['faults']; device?: number }
  | { command: 'password'; password: string }
  | { command: 'stop' };

const SLEEPER = [process.execPath, '-e', 'process.stdin.resume()'];
const SERVICES: Readonly<Record<BmcProtocol, (options: BmcServiceOptions) => Promise<BmcService>>> = {
  redfish: startRedfishService,
  ipmi: startIpmiService,
  'ipmi-sim': startIpmiSimService,
};

/** One machine and what switches it, mostly one BMC, as a process of its own. See bmc-configuration.ts; prints one ready line, obeys lines on stdin. */
async function main(): Promise<void> {
  const path = process.argv[2];
  const configuration = readConfiguration<BmcConfiguration>(path, BMC_REQUIRED);
  const { node, protocol = 'redfish' } = configuration;
  const random = new SystemRandom();
  const clock = new SystemClock();
  const trace = traceTo(configuration.trace);
  if (!(protocol in SERVICES)) throw new Error(`${path}: protocol ${protocol} is unknown: one of ${BMC_PROTOCOLS.join(', ')}`);
  let tellPower = (): void => undefined;
  const machine = new MachineProcess({
    command: configuration.machine?.command ?? SLEEPER,
    configuration: configuration.machine?.configuration ?? '',
    random,
    onPower: (state, cause) => {
      trace({ kind: 'power', at: clock.wallMs(), node, state, cause });
      tellPower();
    },
    onDeath: (bootID) => trace({ kind: 'node', at: clock.wallMs(), node, what: 'panic', bootID }),
  });
  const feeds = wire(configuration.wiring ?? 'bmc', machine, () => tellPower());
  const services: BmcService[] = [];
  for (const backend of feeds) services.push(await SERVICES[protocol]({ configuration, folder: dirname(path ?? ''), clock, random, backend, trace }));
  const powering = new Powering(services, feeds);
  tellPower = () => powering.changed();
  if (configuration.startsOn !== false) machine.on('start');
  obey(services, machine);
  const [ready, ...others] = services.map((service) => service.ready);
  process.stdout.write(`${JSON.stringify(others.length === 0 ? ready : { ...ready, others })}\n`);
}

/** What devices make of it when power comes and goes: one without power is silent, and comes back as good as new. */
class Powering {
  readonly #services: readonly BmcService[];
  readonly #feeds: readonly Feed[];
  readonly #dead = new Set<BmcService>();

  constructor(services: readonly BmcService[], feeds: readonly Feed[]) {
    this.#services = services;
    this.#feeds = feeds;
  }

  changed(): void {
    for (const [index, service] of this.#services.entries()) {
      const isAlive = this.#feeds[index]?.isAlive() === true;
      if (!isAlive && !this.#dead.has(service)) {
        this.#dead.add(service);
        service.setFaults({ isSilent: true });
      } else if (isAlive && this.#dead.delete(service)) service.setFaults({});
      service.powerChanged();
    }
  }
}

function obey(services: readonly BmcService[], machine: MachineProcess): void {
  const leave = (): void => {
    machine.off('start');
    process.exit(0);
  };
  obeyLines((line) => {
    const command = line as Command;
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
        deviceOf(services, command.device).setFaults(faultsOf(command.faults));
        return;
      case 'password':
        for (const service of services) void service.setPassword(command.password);
        return;
      case 'stop':
        leave();
    }
  }, leave);
}

function deviceOf(services: readonly BmcService[], device = 0): BmcService {
  const service = services[device];
  if (service === undefined) throw new Error(`there is no device ${device}: there are ${services.length}`);
  return service;
}

await main();
