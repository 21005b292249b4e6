import type { AgentContext, FabricAgent, Outcome, Parameters, PortState, Reading, Target } from '../../src/ports/agents.ts';
import { NODES } from '../../src/ports/resources.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { ConnectedClusters } from '../shared/cluster/connected-clusters.ts';
import { ObjectCall } from '../shared/cluster/object-call.ts';
import { CommandRunner, outcomeOf, saidBy } from '../shared/command/command-runner.ts';
import { canonical } from '../shared/parameter-schema.ts';
import type { ProgramFolder } from '../shared/process/program-folder.ts';
import type { AddressRange } from './address-range.ts';
import { blocklistArguments, portOf as blocklistPort } from './blocklist.ts';
import { localArguments } from './local-arguments.ts';
import { closePort, fenceNameOf, NETWORK_FENCES, openPort, portOf as fencePort } from './network-fence.ts';
import { doubtOf } from './own-addresses.ts';
import { cephParameters, parseSettings, type BlocklistSettings, type CephSettings } from './parameters.ts';

/** Ceph's blocklist: no client at these addresses can write any more. By csi-addons, or by the `ceph` program. */
export class CephAgent implements FabricAgent {
  readonly kind = 'fabric';
  /** A NetworkFence keeps what csi-addons did once: whoever took the address off the list since, by `ceph` itself, is not written there. The list itself is read by `exec`. */
  readonly mustBeSeenOpen = (parameters: Parameters): boolean => canonical(cephParameters, parameters)['via'] !== 'exec';
  readonly #context: AgentContext;
  readonly #clusters: ConnectedClusters;
  readonly #programs: ProgramFolder;
  readonly #commands: CommandRunner;

  constructor(context: AgentContext, programs: ProgramFolder) {
    this.#context = context;
    this.#clusters = new ConnectedClusters(context);
    this.#programs = programs;
    this.#commands = new CommandRunner(context.clock, addressCheckOf(context), programs);
  }

  async read(target: Target): Promise<Reading<PortState>> {
    const asked = 'read the blocklist';
    return this.#with(target, asked, async (call, settings) => {
      const [doubt, port] = await Promise.all([this.#doubt(target, asked, settings.ranges), this.#port(call, settings)]);
      const identity = doubt === undefined && settings.ranges.every(({ isHost }) => isHost) ? 'verified' : 'unverified';
      return { ...port, identity, ...(doubt === undefined ? {} : { detail: `${port.detail}; ${doubt}` }) };
    });
  }

  async set(target: Target, state: 'open' | 'closed'): Promise<Outcome> {
    const asked = `set ${state}`;
    return this.#with(target, asked, async (call, settings) => {
      if (settings.via === 'exec') return this.#program(call, settings, state);
      return state === 'closed' ? closePort(call, settings) : openPort(call, settings);
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#clusters.close(), this.#commands.close()]);
  }

  #with<T>(target: Target, asked: string, work: (call: ObjectCall, settings: CephSettings) => Promise<T>): Promise<T> {
    const settings = parseSettings(target.parameters, target.plug);
    const kubeconfig = canonical(cephParameters, target.parameters)['kubeconfig'];
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig }, async (call) => {
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      return work(call, settings);
    });
  }

  /** By what the Node itself shows. A storage network of its own is not among that. */
  #doubt(target: Target, asked: string, ranges: readonly AddressRange[]): Promise<string | undefined> {
    const { node } = target.identity;
    return ObjectCall.run(this.#clusters, this.#context.clock, target, { asked, kubeconfig: undefined }, async (own) =>
      doubtOf(ranges, node, await own.get(NODES, node)),
    );
  }

  async #port(call: ObjectCall, settings: CephSettings): Promise<Omit<Reading<PortState>, 'identity'>> {
    if (settings.via === 'networkfence') return fencePort(await call.get(NETWORK_FENCES, fenceNameOf(call.target.identity.node, settings)), settings);
    const answer = await this.#run(call, 'read the blocklist', settings, ['osd', 'blocklist', 'ls', '--format=json']);
    if (answer.code !== 0) throw call.error('Unreachable', saidBy(answer));
    if (answer.isCut) return { state: 'unknown', detail: 'the blocklist is longer than is read' };
    return blocklistPort(answer.stdout, settings.ranges, this.#context.clock.wallMs());
  }

  /** One command for each address. Its exit code is an answer and no proof; its words are not looked at, since success too is told on stderr. */
  async #program(call: ObjectCall, settings: BlocklistSettings & { ranges: readonly AddressRange[] }, state: 'open' | 'closed'): Promise<Outcome> {
    const unclear: string[] = [];
    for (const range of settings.ranges) {
      const words = blocklistArguments(range, state, settings.expiryMs);
      const answer = await this.#run(call, `set ${state}`, settings, words, () => call.target.beforeSend());
      const { result, detail } = outcomeOf(call, answer, `${words.join(' ')}: `);
      if (result === 'unclear') unclear.push(detail);
    }
    if (unclear.length > 0) return { result: 'unclear', detail: unclear.join(', ') };
    return {
      result: 'accepted',
      detail: `${settings.ranges.map(({ cidr }) => cidr).join(', ')} ${state === 'closed' ? 'put on' : 'taken off'} the blocklist`,
    };
  }

  async #run(
    { target }: ObjectCall,
    asked: string,
    { argv, place }: BlocklistSettings,
    words: readonly string[],
    gate?: () => void,
  ): ReturnType<CommandRunner['run']> {
    const call = new Call(this.#context.clock, target, asked);
    try {
      const [program = '', ...given] = argv;
      const first = place === undefined ? localArguments(given, this.#programs, true) : given;
      if ('message' in first) throw call.error('Misconfigured', `${first.parameter} ${first.message}`);
      return await this.#commands.run(call, place, [program, ...first, ...words], gate === undefined ? {} : { gate });
    } finally {
      call.release();
    }
  }
}
