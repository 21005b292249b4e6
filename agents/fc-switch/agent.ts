import type { FabricAgent, Outcome, PortState, Reading, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { readPort, setPort, type FoundPort } from '../shared/interfaces/if-mib.ts';
import { fitToSet, identified, NO_PORT } from '../shared/interfaces/port-identity.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import { SnmpClients } from '../shared/interfaces/snmp-clients.ts';
import { SshConnections } from '../shared/ssh/connections.ts';
import { FabricOs } from './fabric-os.ts';
import { FosRest } from './fos-rest.ts';
import { NxApi } from './nx-api.ts';
import { parseSettings, type FcSwitchSettings, type WebSettings } from './parameters.ts';
import { Web } from './web.ts';

/** What one protocol can do with one port, within one session. */
interface Port {
  read(): Promise<PortView>;
  set(wanted: 'open' | 'closed'): Promise<Outcome>;
}

/** Ports of Fibre Channel switches: Brocade by SSH and REST, Cisco MDS by SNMP and NX-API. */
export class FcSwitchAgent implements FabricAgent {
  readonly kind = 'fabric';
  readonly #clock: Clock;
  readonly #check: AddressCheck;
  readonly #snmp: SnmpClients;
  readonly #ssh: SshConnections;
  readonly #web = new Set<Web>();

  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#clock = clock;
    this.#check = check;
    this.#snmp = new SnmpClients(clock, check);
    this.#ssh = new SshConnections(clock, check);
  }

  /** The running state of the port and, at Brocade's, the persistent one. */
  async read(target: Target): Promise<Reading<PortState>> {
    return this.#call(target, 'port state', async (port, settings, call) => identified(await port.read(), settings.portAlias, call));
  }

  /** Closes or opens the port, after its name was read over the same session. Sent once. */
  async set(target: Target, wanted: 'open' | 'closed'): Promise<Outcome> {
    return this.#call(target, `port ${wanted}`, async (port, settings, call) => {
      fitToSet(await port.read(), settings.portAlias, call);
      return port.set(wanted);
    });
  }

  async close(): Promise<void> {
    for (const web of this.#web) web.close();
    await Promise.all([this.#snmp.close(), this.#ssh.close()]);
  }

  async #call<T>(target: Target, asked: string, work: (port: Port, settings: FcSwitchSettings, call: Call) => Promise<T>): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    try {
      const settings = parseSettings(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      if (target.plug === '') throw call.error('Misconfigured', NO_PORT);
      return await this.#session(settings, call, (port) => work(port, settings, call));
    } finally {
      call.release();
    }
  }

  #session<T>(settings: FcSwitchSettings, call: Call, work: (port: Port) => Promise<T>): Promise<T> {
    const { plug } = call.target;
    const beforeSend = (): void => call.target.beforeSend();
    const { virtualFabric } = settings;
    switch (settings.transport) {
      case 'ssh':
        return this.#ssh.run(call, settings.ssh, (connection) => {
          const switched = new FabricOs(connection, call, virtualFabric);
          const withName = settings.portAlias !== undefined;
          return work({ read: () => switched.read(plug, withName), set: (wanted) => switched.set(plug, wanted, beforeSend) });
        });
      case 'rest':
        return this.#overWeb(settings.web, call, (web) => {
          const switched = new FosRest(web, call, this.#clock, virtualFabric);
          return switched.session((token) =>
            work({ read: () => switched.read(token, plug), set: (wanted) => switched.set(token, plug, wanted, beforeSend) }),
          );
        });
      case 'nxapi':
        return this.#overWeb(settings.web, call, (web) => {
          const switched = new NxApi(web, call);
          return work({ read: () => switched.read(plug), set: (wanted) => switched.set(plug, wanted, beforeSend) });
        });
      case 'snmp':
        return this.#snmp.run(settings.snmp, (client) => {
          let found: FoundPort | undefined;
          const { bootMaxMs } = settings;
          const read = async (): Promise<FoundPort> => (found = await readPort(client, call, plug, { kind: 'ifname', bootMaxMs }));
          return work({ read, set: async (wanted) => setPort(client, call, found ?? (await read()), wanted, beforeSend) });
        });
    }
  }

  async #overWeb<T>(settings: WebSettings, call: Call, work: (web: Web) => Promise<T>): Promise<T> {
    const web = new Web(settings, call, { clock: this.#clock, check: this.#check });
    this.#web.add(web);
    try {
      return await work(web);
    } finally {
      this.#web.delete(web);
      web.close();
    }
  }
}
