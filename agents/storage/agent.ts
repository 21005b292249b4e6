import type { AgentContext, FabricAgent, Outcome, PortState, Reading, Target } from '../../src/ports/agents.ts';
import { addressCheckOf } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import { CommandRunner, outcomeOf, saidBy } from '../shared/command/command-runner.ts';
import { demandElsewhere } from '../shared/command/other-host.ts';
import type { ProgramFolder } from '../shared/process/program-folder.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { parseSettings, type StorageSettings } from './parameters.ts';
import { filled, hasLine, PlaceholderProblem, argumentsOf, type Placeholders } from './template.ts';
import { whyAnonymous } from './whose.ts';

interface Order {
  call: Call;
  settings: StorageSettings;
  placeholders: Placeholders;
}

/** Any storage that a command can shut a node out of, and another one can show that it did. */
export class StorageAgent implements FabricAgent {
  readonly kind = 'fabric';
  readonly mustBeSeenOpen = true;
  readonly #context: AgentContext;
  readonly #commands: CommandRunner;

  constructor(context: AgentContext, programs: ProgramFolder) {
    this.#context = context;
    this.#commands = new CommandRunner(context.clock, addressCheckOf(context), programs);
  }

  async read(target: Target): Promise<Reading<PortState>> {
    return this.#with(target, 'read the state', async ({ call, settings, placeholders }) => {
      const answer = await this.#commands.run(call, settings.place, argvOf(settings.state, placeholders));
      if (answer.code !== 0) throw call.error('Unreachable', saidBy(answer));
      const detail = deviceMessage(answer.stdout, [settings.place?.password]) || '(no output)';
      if (answer.isCut) return { state: 'unknown', detail: `more output than is read: ${detail}`, identity: 'unverified' };
      const isOpen = hasLine(answer.stdout, settings.openMatch, placeholders);
      const isClosed = hasLine(answer.stdout, settings.closedMatch, placeholders);
      if (!isOpen && !isClosed) return { state: 'unknown', detail: `neither line is in: ${detail}`, identity: 'unverified' };
      const doubt = whyAnonymous(settings, placeholders, target.identity);
      const state = isOpen ? 'open' : 'closed';
      return doubt === undefined ? { state, detail, identity: 'verified' } : { state, detail: `${detail}; ${doubt}`, identity: 'unverified' };
    });
  }

  async set(target: Target, state: 'open' | 'closed'): Promise<Outcome> {
    return this.#with(target, `set ${state}`, async ({ call, settings, placeholders }) => {
      const command = state === 'closed' ? settings.close : settings.open;
      if (command === undefined) throw call.error('Refused', 'open_command is not given: open the access of the node by hand');
      return outcomeOf(call, await this.#commands.run(call, settings.place, argvOf(command, placeholders), { gate: () => target.beforeSend() }));
    });
  }

  async close(): Promise<void> {
    await this.#commands.close();
  }

  async #with<T>(target: Target, asked: string, work: (order: Order) => Promise<T>): Promise<T> {
    const call = new Call(this.#context.clock, target, asked);
    try {
      const settings = parseSettings(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      const { place } = settings;
      if (place !== undefined) await demandElsewhere(this.#context, this.#commands, call, { place, mustShow: false });
      const placeholders = { plug: target.plug, client: settings.client, target: settings.target, node: target.identity.node };
      return await work({ call, settings, placeholders });
    } catch (error) {
      if (error instanceof PlaceholderProblem) throw call.error('Misconfigured', error.message);
      throw error;
    } finally {
      call.release();
    }
  }
}

/** A value stays within its word, whatever it holds. */
function argvOf(template: string, placeholders: Placeholders): string[] {
  const words = argumentsOf(template);
  if (typeof words === 'string') throw new PlaceholderProblem(`the command ${words}`);
  return words.map((word) => filled(word, placeholders));
}
