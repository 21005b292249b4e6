import type { Outcome, PlugEntry } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import type { Reach } from '../shared/cloud/instance-agent.ts';
import type { CloudAccount, InstanceView, MachineFacts } from '../shared/cloud/instance.ts';
import type { KeptSession } from '../shared/cloud/kept-session.ts';
import { repeated, sentOnce, Throttled } from '../shared/cloud/repeat.ts';
import { listAt, textAt, type WebAnswer } from '../shared/web/web-client.ts';
import { exchanged, NotKnown, refusal, wordsOf, type EngineRequest, type Session } from './engine.ts';
import { HOSTS_MAX, unheardHost } from './hosts.ts';
import { isId, namingProblem, providedId, type OvirtSettings } from './parameters.ts';
import { missingPermits, PERMISSIONS } from './permits.ts';
import { keptSession } from './sessions.ts';
import { machineIn, type VirtualMachine } from './virtual-machine.ts';

const LIST_MAX = 1_000;
const SAID_MAX = 256;

/** One engine, as one user. */
export class OvirtAccount implements CloudAccount {
  readonly #sessions: KeptSession<Session>;
  readonly #clock: Clock;
  /** Why the last set of a machine was not done, in the engine's words; oldest first. */
  readonly #said = new Map<string, { wanted: 'on' | 'off'; words: string }>();

  constructor(settings: OvirtSettings, reach: Reach) {
    this.#sessions = keptSession(settings, reach);
    this.#clock = reach.clock;
  }

  async read(call: Call): Promise<InstanceView> {
    const machine = await this.#machine(call);
    const isProbe = call.target.isProbe === true;
    // Where an off is to be proven, and where a probe tells whether it ever could be.
    const unheard = machine.hasLease && (machine.state === 'off' || isProbe) ? await this.#unheard(call, machine) : undefined;
    const wouldRefuse = isProbe ? [await this.#lacking(call, machine), unheard].filter((one) => one !== undefined) : [];
    const said = this.#said.get(machine.id);
    const remarks = [machine.detail, unheard, said === undefined || said.wanted === machine.state ? undefined : said.words];
    return {
      id: machine.id,
      state: machine.state === 'off' && unheard !== undefined ? 'unknown' : machine.state,
      detail: remarks.filter((remark) => remark !== undefined).join('; '),
      machine: factsOf(call, machine),
      ...(wouldRefuse.length === 0 ? {} : { wouldRefuse: wouldRefuse.join('; ') }),
    };
  }

  async set(call: Call, { id }: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const action = state === 'off' ? 'stop' : 'start';
    const { node } = call.target.identity;
    // `force`: also while a backup of it runs.
    const body = state === 'off' ? { async: 'false', force: 'true', reason: `nodefence: fence of node ${node}` } : { async: 'false' };
    const request: EngineRequest = { method: 'POST', path: `/vms/${id}/${action}`, body, gate: () => call.target.beforeSend() };
    this.#said.delete(id);
    return sentOnce(call, async () => {
      const { answer, session } = await this.#ask(call, request);
      const words = wordsOf(answer, session.secrets);
      const { status } = answer;
      if (status === 200 || status === 202) return acceptedOr(answer, `${action}: ${words}`);
      // Something else holds the machine: nothing was begun.
      if (status === 409 && /\btry again (?:later|in)\b/i.test(words)) throw new Throttled(words);
      // Why it was not done, which may be because it is done already, or that it broke on its way: reads decide.
      if (status === 400 || status === 409 || status >= 500) {
        this.#remember(id, state, `${action} was answered with ${words}`);
        return { result: 'unclear', detail: words };
      }
      throw refusal(call, answer, session);
    });
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const { answer, session } = await this.#read(call, { path: `/vms?max=${LIST_MAX}` });
    if (answer.status !== 200) throw refusal(call, answer, session);
    const machines = listAt(answer.body, 'vm').flatMap((one) => machineIn(one) ?? []);
    return machines.slice(0, LIST_MAX).map(({ id, name, state, hasLease }) => ({
      plug: id,
      ...(name === undefined ? {} : { alias: name }),
      state: hasLease && state === 'off' ? 'unknown' : state,
    }));
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  /** By its id, or by a name that exactly one bears. */
  async #machine(call: Call): Promise<VirtualMachine> {
    const plug = call.target.plug.trim();
    const problem = namingProblem(plug);
    if (problem !== undefined) throw call.error('Misconfigured', problem);
    if (!isId(plug)) return this.#named(call, plug);
    const id = plug.toLowerCase();
    const { answer, session } = await this.#read(call, { path: `/vms/${id}` });
    if (answer.status !== 200) throw refusal(call, answer, session);
    const machine = machineIn(answer.body);
    if (machine === undefined) throw call.error('Unreachable', 'no answer of the oVirt API: it shows no virtual machine');
    if (machine.id !== id) throw call.error('Unreachable', `asked for ${id}, and was shown ${machine.id}`);
    return machine;
  }

  /** The search may find more than what is named so: only an equal name counts. */
  async #named(call: Call, name: string): Promise<VirtualMachine> {
    const { answer, session } = await this.#read(call, { path: `/vms?search=${encodeURIComponent(`name="${name}"`)}` });
    if (answer.status !== 200) throw refusal(call, answer, session);
    if (typeof answer.body !== 'object' || answer.body === null) throw call.error('Unreachable', 'no answer of the oVirt API: it shows no list');
    const found = listAt(answer.body, 'vm')
      .filter((one) => textAt(one, 'name') === name)
      .flatMap((one) => machineIn(one) ?? []);
    const [machine] = found;
    if (machine === undefined)
      throw call.error('Misconfigured', `there is no machine ${name}, or ${session.username} may not see it: what is not found is not off`);
    if (found.length > 1)
      throw call.error('Misconfigured', `${found.length} machines are ${name} (${found.map(({ id }) => id).join(', ')}): name one by its id`);
    return machine;
  }

  async #unheard(call: Call, machine: VirtualMachine): Promise<string | undefined> {
    const { answer, session } = await this.#read(call, { path: `/hosts?max=${HOSTS_MAX}` });
    if (answer.status === 403) return unheardHost(machine, undefined);
    if (answer.status !== 200) throw refusal(call, answer, session);
    return unheardHost(machine, answer.body);
  }

  async #lacking(call: Call, { id }: VirtualMachine): Promise<string | undefined> {
    const { answer, session } = await this.#read(call, { path: `/vms/${id}/${PERMISSIONS}`, isFiltered: true });
    const missing = answer.status === 200 ? (missingPermits(answer.body) ?? []) : [];
    return missing.length === 0 ? undefined : `no role of ${session.username} has the permit ${missing.join(', ')} on this machine`;
  }

  #read(call: Call, request: Omit<EngineRequest, 'method'>): Promise<{ answer: WebAnswer; session: Session }> {
    return repeated(call, () => this.#ask(call, { method: 'GET', ...request }));
  }

  /** With a new token once, where the one in use is not taken any more. */
  async #ask(call: Call, request: EngineRequest): Promise<{ answer: WebAnswer; session: Session }> {
    const session = await this.#sessions.get(call);
    try {
      return { answer: await exchanged(call, this.#clock, session, request), session };
    } catch (error) {
      if (!(error instanceof NotKnown)) throw error;
      this.#sessions.drop(session);
    }
    const renewed = await this.#sessions.get(call);
    try {
      return { answer: await exchanged(call, this.#clock, renewed, request), session: renewed };
    } catch (error) {
      if (error instanceof NotKnown) throw call.error('Refused', `${error.message}: ${renewed.username} is not let in, check username and password`);
      throw error;
    }
  }

  #remember(id: string, wanted: 'on' | 'off', words: string): void {
    const [oldest] = this.#said.keys();
    if (this.#said.size >= SAID_MAX && oldest !== undefined) this.#said.delete(oldest);
    this.#said.set(id, { wanted, words });
  }
}

/** An action that was done, or is being done; anything else proves nothing. */
function acceptedOr({ body }: WebAnswer, words: string): Outcome {
  const status = textAt(body, 'status');
  return { result: status === 'complete' || status === 'in_progress' || status === 'pending' ? 'accepted' : 'unclear', detail: words };
}

/** The firmware of a machine shows its id as its UUID, whatever its `serial_number` policy is (oVirt's LibvirtVmXmlBuilder: `uuid` of `sysinfo`). */
function factsOf(call: Call, { id }: VirtualMachine): MachineFacts {
  const provided = providedId(call.target.identity.providerID);
  return { providerID: provided === undefined ? 'unknown' : provided === id ? 'same' : 'other', uuid: id };
}
