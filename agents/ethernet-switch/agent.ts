import type { FabricAgent, Outcome, PlugEntry, PortState, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { listPorts, readPort, setPort } from '../shared/interfaces/if-mib.ts';
import type { PortSearch } from '../shared/interfaces/if-mib.ts';
import { ownPortProblem } from '../shared/interfaces/own-port.ts';
import { fitToSet, identified, NO_PORT } from '../shared/interfaces/port-identity.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import { SnmpClients } from '../shared/interfaces/snmp-clients.ts';
import { SshConnections } from '../shared/ssh/connections.ts';
import { CommandLine } from './command-line.ts';
import { parseSettings, type SwitchSettings } from './parameters.ts';

/** Ports of Ethernet switches, by the IF-MIB over SNMP or by the command line over SSH. */
export class EthernetSwitchAgent implements FabricAgent {
  readonly kind = 'fabric';
  readonly #clock: Clock;
  readonly #snmp: SnmpClients;
  readonly #ssh: SshConnections;
  readonly #commandLine = new CommandLine();

  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#clock = clock;
    this.#snmp = new SnmpClients(clock, check);
    this.#ssh = new SshConnections(clock, check);
  }

  /** Configured and real state of the port, which is found anew by its name each time. */
  async read(target: Target): Promise<Reading<PortState>> {
    return this.#call(target, 'port state', async (settings, call) => {
      return identified(await this.#view(settings, call), settings.portAlias, call);
    });
  }

  /** Configures the port down or up, after its name and description were read over the same session. Sent once. */
  async set(target: Target, wanted: 'open' | 'closed'): Promise<Outcome> {
    return this.#call(target, `port ${wanted}`, async (settings, call) => {
      const beforeSend = (): void => target.beforeSend();
      if (settings.transport === 'snmp')
        return this.#snmp.run(settings.snmp, async (client) => {
          const port = await readPort(client, call, target.plug, searchOf(settings));
          fitToSet(port, settings.portAlias, call);
          return setPort(client, call, port, wanted, beforeSend);
        });
      const { dialect, enablePassword, ssh } = settings;
      return this.#ssh.run(call, ssh, async (connection) => {
        // Junos would configure a port that does not exist.
        fitToSet(await this.#commandLine.read(connection, call, dialect, target.plug), settings.portAlias, call);
        return this.#commandLine.set(connection, call, dialect, target.plug, { wanted, enablePassword, beforeSend });
      });
    });
  }

  /** Over SNMP only: a command line prints them in too many ways. */
  async list(target: Target): Promise<readonly PlugEntry[]> {
    return this.#call(target, 'list', async (settings, call) => {
      if (settings.transport !== 'snmp') throw call.error('Misconfigured', 'ports are listed over SNMP only: set transport=snmp');
      return this.#snmp.run(settings.snmp, (client) => listPorts(client, call));
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#snmp.close(), this.#ssh.close()]);
  }

  async #view(settings: SwitchSettings, call: Call): Promise<PortView> {
    const { plug } = call.target;
    if (settings.transport === 'snmp') return this.#snmp.run(settings.snmp, (client) => readPort(client, call, plug, searchOf(settings)));
    return this.#ssh.run(call, settings.ssh, (connection) => this.#commandLine.read(connection, call, settings.dialect, plug));
  }

  async #call<T>(target: Target, asked: string, work: (settings: SwitchSettings, call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    try {
      const settings = parseSettings(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      if (target.plug === '' && asked !== 'list') throw call.error('Misconfigured', NO_PORT);
      const own = asked === 'list' ? undefined : ownPortProblem(target.plug);
      if (own !== undefined) throw call.error('Misconfigured', own);
      return await work(settings, call);
    } finally {
      call.release();
    }
  }
}

function searchOf({ findBy, bootMaxMs }: Extract<SwitchSettings, { transport: 'snmp' }>): PortSearch {
  return { kind: findBy, bootMaxMs };
}
