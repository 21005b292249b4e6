import { Agent } from 'node:https';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { linkedAbort } from '../../../runtime/linked-abort.ts';
import { httpsCall, textOf } from '../../wire/https-call.ts';
import type { BmcAddress, BmcClient } from './bmc-client.ts';

const SYSTEMS = '/redfish/v1/Systems';
const RESET_TYPES = { on: 'On', off: 'ForceOff' } as const;

interface ComputerSystem {
  PowerState?: string;
  Actions?: { '#ComputerSystem.Reset'?: { target?: string } };
}

/** The first ComputerSystem of a Redfish service (DMTF DSP0266), reached as Ironic reaches one: by its user's name and password. */
export class RedfishPower implements BmcClient {
  readonly #root: string;
  readonly #agent: Agent;
  readonly #authorization: string;
  readonly #deadlineMs: number;
  readonly #clock = new SystemClock();

  constructor({ host, port, username, password, caPem }: BmcAddress, deadlineMs: number) {
    this.#root = `https://${host}:${String(port)}`;
    this.#agent = new Agent({ ca: caPem });
    this.#authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    this.#deadlineMs = deadlineMs;
  }

  async read(): Promise<'on' | 'off' | 'unknown'> {
    const { PowerState: state } = await this.#system();
    return state === 'On' ? 'on' : state === 'Off' ? 'off' : 'unknown';
  }

  async set(state: 'on' | 'off'): Promise<string> {
    const target = (await this.#system()).Actions?.['#ComputerSystem.Reset']?.target;
    if (target === undefined) throw new Error(`${this.#root} offers no reset`);
    return (await this.#call('POST', target, { ResetType: RESET_TYPES[state] })).status;
  }

  async #system(): Promise<ComputerSystem> {
    const { body } = await this.#call('GET', SYSTEMS);
    const path = (body as { Members?: { '@odata.id': string }[] }).Members?.[0]?.['@odata.id'];
    if (path === undefined) throw new Error(`${this.#root} has no system`);
    return (await this.#call('GET', path)).body as ComputerSystem;
  }

  async #call(method: 'GET' | 'POST', path: string, body?: object): Promise<{ status: string; body: unknown }> {
    const reason = (): Error => new Error(`${method} ${this.#root}${path}: no answer within ${String(this.#deadlineMs)} ms`);
    const linked = linkedAbort([], { clock: this.#clock, delayMs: this.#deadlineMs, reason });
    try {
      const headers = { authorization: this.#authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
      const text = body === undefined ? undefined : JSON.stringify(body);
      const answer = await httpsCall({
        url: new URL(`${this.#root}${path}`),
        agent: this.#agent,
        method,
        headers,
        body: text,
        signal: linked.signal,
      });
      const content = await textOf(answer);
      const status = String(answer.statusCode);
      if (!status.startsWith('2')) throw new Error(`${method} ${this.#root}${path}: HTTP ${status}`);
      return { status, body: content === '' ? undefined : (JSON.parse(content) as unknown) };
    } catch (error) {
      throw linked.signal.aborted ? linked.signal.reason : error;
    } finally {
      linked.release();
    }
  }
}
