import type { Outcome } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import type { ExecAnswer, SshConnection } from '../shared/ssh/connection.ts';
import { deviceMessage, plainText } from '../shared/ssh/words.ts';
import { isPersistentlyDisabled, nameOfPortShow, portOfSwitchShow, stateOfFos } from './fabric-os-answers.ts';
import { brocadePort } from './ports.ts';

const REFUSAL = /denied|error|invalid|failed|not (?:found|a valid|supported|allowed|present)|unknown|usage:/i;

/** Brocade Fabric OS by its commands over SSH, each run by exec. */
export class FabricOs {
  readonly #connection: SshConnection;
  readonly #call: Call<CallTarget>;
  readonly #virtualFabric: number | undefined;

  constructor(connection: SshConnection, call: Call<CallTarget>, virtualFabric: number | undefined) {
    this.#connection = connection;
    this.#call = call;
    this.#virtualFabric = virtualFabric;
  }

  /** The running and the persistent state; the name of the port where it is wanted. Rejects with `AgentError` or `SshFailure`. */
  async read(plug: string, withName: boolean): Promise<PortView> {
    const port = this.#checked(plug);
    const shown = await this.#lines('switchshow');
    const row = portOfSwitchShow(shown, port);
    const isPersistent = isPersistentlyDisabled(await this.#lines(`portcfgshow ${port}`));
    const description = withName ? nameOfPortShow(await this.#lines(`portshow ${port}`)) : undefined;
    const persistent = isPersistent === undefined ? 'not shown' : isPersistent ? 'ON' : 'OFF';
    return {
      name: port,
      description,
      state: stateOfFos(row, isPersistent),
      hasLink: row?.link === 'Online',
      detail: `port ${port} ${row === undefined ? `not in switchshow (${this.#describe(shown.join(' '))})` : row.row}, Persistent Disable ${persistent}`,
    };
  }

  /** Persistently: a plain portdisable does not outlive a restart of the switch. Sent once. */
  async set(plug: string, wanted: 'open' | 'closed', beforeSend: () => void): Promise<Outcome> {
    const command = `portcfgpersistent${wanted === 'closed' ? 'disable' : 'enable'} ${this.#checked(plug)}`;
    const answer = await this.#connection.exec(this.#call, this.#envelope(command), { gate: beforeSend });
    const said = this.#describe(`${answer.stdout} ${answer.stderr}`);
    if (REFUSAL.test(said) || (answer.code !== 0 && said !== '')) throw this.#call.error('Refused', `the switch answered ${said} to ${command}`);
    return { result: answer.code === 0 ? 'accepted' : 'unclear', detail: `${command}${said === '' ? '' : `: ${said}`}` };
  }

  async #lines(command: string): Promise<readonly string[]> {
    const answer: ExecAnswer = await this.#connection.exec(this.#call, this.#envelope(command));
    const text = plainText(answer.stdout);
    if (text.trim() === '' || answer.isCut)
      throw this.#call.error('Unreachable', `no complete answer to ${command}: ${this.#describe(answer.stderr) || `code ${answer.code ?? 'none'}`}`);
    if (/^(?:rbash|RBAC|.*permission denied)/i.test(text.trim()))
      throw this.#call.error('Refused', `the switch answered ${this.#describe(text)} to ${command}`);
    return text.split('\n');
  }

  #envelope(command: string): string {
    return this.#virtualFabric === undefined ? command : `fosexec --fid ${this.#virtualFabric} -cmd "${command}"`;
  }

  #checked(plug: string): string {
    const problem = brocadePort(plug);
    if (problem !== undefined) throw this.#call.error('Misconfigured', problem);
    return plug;
  }

  #describe(text: string): string {
    return deviceMessage(text, this.#connection.secrets);
  }
}
