import type { Outcome } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { portOfNxos } from '../shared/interfaces/nxos.ts';
import type { PortView } from '../shared/interfaces/port-view.ts';
import { member, type WebAnswer } from '../shared/web/web-client.ts';
import type { Web } from './web.ts';
import { mdsPort } from './ports.ts';

/** Cisco MDS by NX-API: commands of its command line in JSON, with the login in each request. */
export class NxApi {
  readonly #web: Web;
  readonly #call: Call<CallTarget>;

  constructor(web: Web, call: Call<CallTarget>) {
    this.#web = web;
    this.#call = call;
  }

  async read(plug: string): Promise<PortView> {
    const name = this.#nameOf(plug);
    const answer = await this.#ask('cli_show_ascii', `show interface ${name}`);
    const [output, ...others] = outputsOf(answer);
    this.#accepted(answer, `show interface ${name}`);
    const text = member(output, 'body');
    const view = others.length > 0 || typeof text !== 'string' ? undefined : portOfNxos(text.split(/\r?\n/));
    if (view === undefined)
      return { name, description: undefined, state: 'unknown', detail: `no state of ${name} in: ${this.#web.describe(answer)}` };
    if (view.name.toLowerCase() !== name.toLowerCase()) throw this.#call.error('Unreachable', `asked for ${name}, the switch shows ${view.name}`);
    return view;
  }

  /** Sent once. */
  async set(plug: string, wanted: 'open' | 'closed', beforeSend: () => void): Promise<Outcome> {
    const line = wanted === 'closed' ? 'shutdown' : 'no shutdown';
    const answer = await this.#ask('cli_conf', `interface ${this.#nameOf(plug)} ; ${line}`, beforeSend);
    if (answer.status >= 500 || outputsOf(answer).length === 0) {
      if (answer.status < 500 && answer.status >= 300) this.#accepted(answer, line);
      return { result: 'unclear', detail: `${line}: ${this.#web.describe(answer)}` };
    }
    this.#accepted(answer, line);
    return { result: 'accepted', detail: `${line}: ${this.#web.describe(answer)}` };
  }

  #ask(type: string, input: string, gate?: () => void): Promise<WebAnswer> {
    const request = { ins_api: { version: '1.0', type, chunk: '0', sid: '1', input, output_format: 'json' } };
    return this.#web.exchange({
      method: 'POST',
      path: '/ins',
      headers: { Authorization: this.#web.basic, 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(request),
      ...(gate === undefined ? {} : { gate }),
    });
  }

  /** Every command must have its own code 200; anything else is said in the words of the switch. */
  #accepted(answer: WebAnswer, asked: string): void {
    const message = `${asked}: ${this.#web.describe(answer)}`;
    if (answer.status >= 500 || answer.status === 429 || answer.status === 408) throw this.#call.error('Unreachable', message);
    if (answer.status >= 300) throw this.#call.error('Refused', message);
    const outputs = outputsOf(answer);
    if (outputs.length === 0) throw this.#call.error('Unreachable', `no answer of NX-API: ${message}`);
    if (outputs.some((output) => String(member(output, 'code')) !== '200')) throw this.#call.error('Refused', message);
  }

  #nameOf(plug: string): string {
    const problem = mdsPort(plug);
    if (problem !== undefined) throw this.#call.error('Misconfigured', problem);
    return plug.replace(' ', '');
  }
}

function outputsOf(answer: WebAnswer): readonly unknown[] {
  const output = member(member(member(answer.body, 'ins_api'), 'outputs'), 'output');
  if (output === undefined) return [];
  return Array.isArray(output) ? (output as unknown[]) : [output];
}
