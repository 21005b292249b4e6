import type { ActionAgent, Outcome, Target } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../shared/address/address-check.ts';
import { Call } from '../shared/call.ts';
import type { ExecAnswer, SshConnection } from '../shared/ssh/connection.ts';
import { SshConnections } from '../shared/ssh/connections.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { parseSettings, type SshCommandSettings } from './parameters.ts';

/** One command on a machine over SSH: a soft fence, a restart of the kubelet. Whatever it answers is proof of nothing. */
export class SshAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #clock: Clock;
  readonly #connections: SshConnections;

  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#clock = clock;
    this.#connections = new SshConnections(clock, check);
  }

  /** Runs `command` once. Code 0 is `accepted`, and `confirm_command`, where there is one, must say so too; any other code is `Refused`. */
  async run(target: Target): Promise<Outcome> {
    return this.#call(target, 'command', async (settings, connection, call) => {
      const answer = await connection.exec(call, settings.command, { gate: () => target.beforeSend() });
      const message = describeAnswer(answer, connection);
      if (answer.code === undefined && answer.signal === undefined) return { result: 'unclear', detail: `no code was told: ${message}` };
      if (answer.code !== 0) throw call.error('Refused', message);
      if (settings.confirmCommand === undefined) return { result: 'accepted', detail: `${message}; not read back` };
      const confirmation = await connection.exec(call, settings.confirmCommand);
      if (isConfirmed(settings, confirmation))
        return { result: 'accepted', detail: `${message}; read back: ${describeAnswer(confirmation, connection)}` };
      throw call.error('Unreachable', `${message}, and confirm_command says it is not done: ${describeAnswer(confirmation, connection)}`);
    });
  }

  /** Runs `confirm_command`; without one nothing is known, and nothing is claimed. */
  async confirm(target: Target): Promise<boolean> {
    return this.#call(target, 'confirm_command', async (settings, connection, call) => {
      if (settings.confirmCommand === undefined) return false;
      return isConfirmed(settings, await connection.exec(call, settings.confirmCommand));
    });
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async #call<T>(
    target: Target,
    asked: string,
    work: (settings: SshCommandSettings, connection: SshConnection, call: Call) => Promise<T>,
  ): Promise<T> {
    const call = new Call(this.#clock, target, asked);
    try {
      const settings = parseSettings(target.parameters);
      if ('problems' in settings) throw call.error('Misconfigured', settings.problems.join('; '));
      return await this.#connections.run(call, settings.ssh, (connection) => work(settings, connection, call));
    } finally {
      call.release();
    }
  }
}

function isConfirmed({ confirmOutput }: SshCommandSettings, { code, stdout, isCut }: ExecAnswer): boolean {
  if (code !== 0) return false;
  if (confirmOutput === undefined) return true;
  return !isCut && stdout.split(/\r?\n/).some((line) => confirmOutput.test(line));
}

function describeAnswer({ code, signal, stdout, stderr }: ExecAnswer, connection: SshConnection): string {
  const end = signal === undefined ? `code ${code ?? 'none'}` : `ended by ${signal}`;
  const said = deviceMessage(stderr.trim() === '' ? stdout : stderr, connection.secrets);
  return said === '' ? end : `${end}: ${said}`;
}
