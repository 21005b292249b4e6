import { attestationName, parseAttestation } from '../../src/domain/node-daemon/attestation.ts';
import type { AgentContext, FabricAgent, Outcome, PortState, Reading, Target } from '../../src/ports/agents.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { CommandRunner, outcomeOf, saidBy } from '../shared/command/command-runner.ts';
import { demandElsewhere } from '../shared/command/other-host.ts';
import { fenceInput, persistArgv } from './commands.ts';
import { parseSettings, type ScsiSettings } from './parameters.ts';
import { portOf } from './reservation.ts';

/** SCSI-3 persistent reservations: a healthy host takes the node's registration away, and shows that it is gone. */
export class ScsiAgent implements FabricAgent {
  readonly kind = 'fabric';
  readonly mustBeSeenOpen = true;
  readonly #context: AgentContext;
  readonly #commands: CommandRunner;
  readonly #clusters: ConnectedClusters;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
    this.#commands = new CommandRunner(context.clock, addressCheckOf(context));
  }

  async read(target: Target): Promise<Reading<PortState>> {
    return this.#with(target, 'read the reservations', async (call, settings) => {
      const [whose, ports] = await Promise.all([this.#whose(target, settings.key), this.#portsOf(call, settings)]);
      const state = (['open', 'unknown', 'closed'] as const).find((one) => ports.some((port) => port.state === one)) ?? 'unknown';
      const doubt = whose === undefined ? [] : [whose];
      const detail = [...ports.map((port) => port.detail), ...doubt].join('; ');
      // Where its key is not, the node may be registered under another one, which stays.
      const isOpenInPart = state === 'open' && ports.some(({ isRegistered }) => isRegistered !== true);
      return { state, detail, identity: whose === undefined ? 'verified' : 'unverified', ...(isOpenInPart ? { isOpenInPart } : {}) };
    });
  }

  async set(target: Target, state: 'open' | 'closed'): Promise<Outcome> {
    return this.#with(target, `set ${state}`, async (call, settings) => {
      if (state === 'open')
        throw call.error('Refused', 'only the node itself can register its key again: its daemon does, in a new boot (--unfence-device)');
      const argv = [...settings.before, settings.fencePath];
      return outcomeOf(call, await this.#commands.run(call, settings.place, argv, { gate: () => target.beforeSend(), input: fenceInput(settings) }));
    });
  }

  async close(): Promise<void> {
    await this.#commands.close();
  }

  async #with<T>(target: Target, asked: string, work: (call: Call, settings: ScsiSettings) => Promise<T>): Promise<T> {
    const call = new Call(this.#context.clock, target, asked);
    try {
      const settings = parseSettings(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      await demandElsewhere(this.#context, this.#commands, call, { place: settings.place, mustShow: true });
      return await work(call, settings);
    } finally {
      call.release();
    }
  }

  /** Why nothing shows that the key is the node's; undefined: its daemon attests that it registers that one (`--unfence-key`). That it registers another one is `Misconfigured`. */
  async #whose(target: Target, key: string): Promise<string | undefined> {
    const { node } = target.identity;
    const asked = 'whose key it is';
    const { namespace } = this.#context;
    if (namespace === undefined) return 'nobody knows here what the daemon of the node attests';
    const attested = await ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, async (call) => {
      const lease = await call.get(LEASES, attestationName(node), namespace);
      const own = lease === undefined ? undefined : parseAttestation(lease)?.unfence?.key;
      if (own !== undefined && own !== key)
        throw call.error('Misconfigured', `the daemon of node ${node} registers key 0x${own}, not 0x${key}; nothing was sent`);
      return own;
    });
    return attested === undefined ? `nothing shows that key 0x${key} is of node ${node}: its daemon attests none (--unfence-key)` : undefined;
  }

  async #portsOf(call: Call, settings: ScsiSettings): Promise<ReturnType<typeof portOf>[]> {
    const ports: ReturnType<typeof portOf>[] = [];
    for (const device of settings.devices) ports.push(await this.#portOf(call, settings, device));
    return ports;
  }

  async #portOf(call: Call, settings: ScsiSettings, device: string): Promise<ReturnType<typeof portOf>> {
    const texts: string[] = [];
    for (const what of ['keys', 'reservation'] as const) {
      const answer = await this.#commands.run(call, settings.place, persistArgv(settings, device, what));
      if (answer.code !== 0) throw call.error('Unreachable', `${device}: ${saidBy(answer)}`);
      if (answer.isCut) return { state: 'unknown', detail: `${device}: more output than is read` };
      texts.push(answer.stdout);
    }
    const [keys = '', reservation = ''] = texts;
    return portOf(device, keys, reservation, settings.key);
  }
}
