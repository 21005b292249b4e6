import type { Outcome, PlugEntry } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { CloudAccount, InstanceView, MachineFacts } from '../shared/cloud/instance.ts';
import type { Cloud, Reach } from '../shared/cloud/instance-agent.ts';
import { repeated, sentOnce, Throttled, waitOf } from '../shared/cloud/repeat.ts';
import { TokenKeeper, type Token } from '../shared/cloud/tokens.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, textAt, WebClient, WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { endIn, failureIn, machineIn, type AzureMachine } from './answers.ts';
import { AzureCredentials } from './credentials.ts';
import { azureInstance, azureSettings, plugProblem, type AzureSettings } from './parameters.ts';
import { missingActions } from './permissions.ts';

const COMPUTE = 'api-version=2024-03-01';
const AUTHORIZATION = 'api-version=2022-04-01';
const SOCKETS_MAX = 16;
const LISTED_MAX = 1_000;
const OPERATIONS_MAX = 256;

export const azureCloud: Cloud<AzureSettings> = {
  isPublic: true,
  settingsOf: azureSettings,
  open: (settings, reach) => new AzureAccount(settings, reach),
};

interface Operation {
  name: string;
  wanted: 'on' | 'off';
  url: string;
  /** How it failed; kept until the next set. */
  failed?: string;
}

/** Machines of one resource group, by Azure Resource Manager. */
class AzureAccount implements CloudAccount {
  readonly #settings: AzureSettings;
  readonly #reach: Reach;
  readonly #client: WebClient;
  readonly #credentials: AzureCredentials;
  readonly #tokens: TokenKeeper<Token>;
  readonly #endpoint: string;
  /** The last operation of each machine, oldest first. */
  readonly #operations = new Map<string, Operation>();
  #source = '';

  constructor(settings: AzureSettings, reach: Reach) {
    this.#settings = settings;
    this.#reach = reach;
    this.#client = new WebClient(settings.trust, reach, SOCKETS_MAX);
    this.#credentials = new AzureCredentials(settings, reach);
    this.#tokens = new TokenKeeper(reach.clock);
    this.#endpoint = (settings.endpoint ?? reach.host.variable('NODEFENCE_AZURE_ENDPOINT') ?? settings.cloudEndpoint).replace(/\/$/, '');
  }

  async read(call: Call): Promise<InstanceView> {
    const id = this.#idOf(call);
    const machine = await this.#machine(call, id);
    const failed = await this.#failed(call, id, machine);
    const wouldRefuse = call.target.isProbe === true ? await this.#wouldRefuse(call, id) : undefined;
    return {
      id,
      state: machine.state,
      detail: failed === undefined ? machine.detail : `${machine.detail}; ${failed}`,
      machine: factsOf(call, id, machine),
      ...(wouldRefuse === undefined ? {} : { wouldRefuse }),
    };
  }

  async set(call: Call, { id }: InstanceView, state: 'on' | 'off'): Promise<Outcome> {
    const name = this.#actionFor(state);
    const gate = (): void => call.target.beforeSend();
    this.#operations.delete(id);
    return sentOnce(call, async () => {
      const answer = await this.#ask(call, 'POST', `${id}/${name}?${name === 'powerOff' ? 'skipShutdown=true&' : ''}${COMPUTE}`, gate);
      const { status, headers } = answer;
      if (status === 200 || status === 202)
        return { result: 'accepted', detail: `HTTP ${status}${this.#remember(id, { name, wanted: state }, headers)}` };
      const failure = failureIn(answer.body);
      // What is in conflict with another operation may be there already, and what broke inside may have been done: reads decide.
      if (status >= 500 || (status === 409 && failure?.code !== 'ScopeLocked'))
        return { result: 'unclear', detail: `HTTP ${status}: ${failure?.words ?? deviceMessage(answer.text, [])}` };
      throw this.#refusal(call, answer);
    });
  }

  async list(call: Call): Promise<readonly PlugEntry[]> {
    const { vmss } = this.#settings;
    const kind = vmss === undefined ? 'virtualMachines' : `virtualMachineScaleSets/${encodeURIComponent(vmss)}/virtualMachines`;
    const found: PlugEntry[] = [];
    let next: string | undefined = `${this.#groupOf(call)}/${kind}?${COMPUTE}`;
    while (next !== undefined && found.length < LISTED_MAX) {
      const path: string = next;
      const answer = await repeated(call, () => this.#ask(call, 'GET', path));
      if (answer.status !== 200) throw this.#refusal(call, answer);
      for (const one of listAt(answer.body, 'value')) {
        const [plug, alias] = [textAt(one, vmss === undefined ? 'name' : 'instanceId'), textAt(one, 'name')];
        if (plug !== undefined) found.push({ plug, ...(vmss === undefined || alias === undefined ? {} : { alias }) });
      }
      const link = textAt(answer.body, 'nextLink');
      next = link === undefined ? undefined : this.#ownPath(link);
    }
    return found.slice(0, LISTED_MAX);
  }

  close(): Promise<void> {
    this.#client.close();
    this.#credentials.close();
    return Promise.resolve();
  }

  #groupOf(call: Call): string {
    const { subscriptionId, resourceGroup } = this.#settings;
    if (subscriptionId === undefined || resourceGroup === undefined)
      throw call.error(
        'Misconfigured',
        `no ${subscriptionId === undefined ? 'subscriptionId' : 'resourceGroup'}: neither written nor in the providerID`,
      );
    return `/subscriptions/${subscriptionId}/resourceGroups/${encodeURIComponent(resourceGroup)}/providers/Microsoft.Compute`;
  }

  #idOf(call: Call): string {
    const { plug } = call.target;
    const problem = plugProblem(plug);
    if (problem !== undefined) throw call.error('Misconfigured', problem);
    const [first = '', number] = plug.split('/');
    const set = number === undefined ? this.#settings.vmss : first;
    const machine = `virtualMachines/${encodeURIComponent(number ?? first)}`;
    return `${this.#groupOf(call)}/${set === undefined ? '' : `virtualMachineScaleSets/${encodeURIComponent(set)}/`}${machine}`;
  }

  async #machine(call: Call, id: string): Promise<AzureMachine> {
    const answer = await repeated(call, () => this.#ask(call, 'GET', `${id}?$expand=instanceView&${COMPUTE}`));
    if (answer.status !== 200) throw this.#refusal(call, answer);
    const machine = machineIn(answer.body);
    if (machine === undefined) throw call.error('Unreachable', `an answer that is no machine of Azure: ${deviceMessage(answer.text, [])}`);
    if (encodeURI(machine.id).toLowerCase() !== id.toLowerCase())
      throw call.error('Unreachable', `asked for ${id}, and was shown ${deviceMessage(machine.id, [])}`);
    return machine;
  }

  /** Where the last operation was accepted and failed since: Azure's words. Not asked for where the state is the wished one. */
  async #failed(call: Call, id: string, { state }: AzureMachine): Promise<string | undefined> {
    const operation = this.#operations.get(id);
    if (operation === undefined || state === operation.wanted) return undefined;
    if (operation.failed !== undefined) return operation.failed;
    try {
      const end = endIn(await this.#ask(call, 'GET', operation.url));
      if (end === 'done') this.#operations.delete(id);
      else if (end !== undefined) operation.failed = `the accepted ${operation.name} ended in an error: ${end.failed}`;
    } catch (error) {
      // The state was read; that nobody tells of the operation takes nothing from it.
      if (!(error instanceof WebFailure || error instanceof Throttled)) throw error;
    }
    return operation.failed;
  }

  /** The token goes to no other host than ours, whatever a header says. */
  #remember(id: string, operation: Omit<Operation, 'url'>, headers: WebAnswer['headers']): string {
    const link = headers['azure-asyncoperation'] ?? headers['location'];
    if (link === undefined) return '';
    const path = this.#ownPath(link);
    if (path === undefined) return '; its operation is at another host, which is not asked';
    const [oldest] = this.#operations.keys();
    if (this.#operations.size >= OPERATIONS_MAX && oldest !== undefined) this.#operations.delete(oldest);
    this.#operations.set(id, { ...operation, url: path });
    return '';
  }

  #ownPath(link: string): string | undefined {
    const url = URL.canParse(link) ? new URL(link) : undefined;
    return url?.origin === new URL(this.#endpoint).origin ? `${url.pathname}${url.search}` : undefined;
  }

  async #wouldRefuse(call: Call, id: string): Promise<string | undefined> {
    const answer = await repeated(call, () => this.#ask(call, 'GET', `${id}/providers/Microsoft.Authorization/permissions?${AUTHORIZATION}`));
    const kind = `Microsoft.Compute/${id.includes('/virtualMachineScaleSets/') ? 'virtualMachineScaleSets/' : ''}virtualMachines`;
    const wanted = [`${kind}/read`, `${kind}/${this.#actionFor('off')}/action`, `${kind}/start/action`];
    const missing = answer.status === 200 ? (missingActions(answer.body, wanted) ?? []) : [];
    return missing.length === 0 ? undefined : `no role allows ${missing.join(', ')} (credentials: ${this.#source})`;
  }

  #actionFor(state: 'on' | 'off'): 'start' | 'deallocate' | 'powerOff' {
    if (state === 'on') return 'start';
    return this.#settings.deallocates ? 'deallocate' : 'powerOff';
  }

  /** With a new token once, where the one in use is not taken any more. Rejects `Throttled` where nothing was taken up. */
  async #ask(call: Call, method: 'GET' | 'POST', path: string, gate?: () => void): Promise<WebAnswer> {
    const token = await this.#token(call);
    let answer = await this.#send(call, method, path, token, gate);
    if (answer.status === 401) {
      this.#tokens.drop(token);
      answer = await this.#send(call, method, path, await this.#token(call), gate);
    }
    if (answer.status === 429 || (answer.status === 503 && method === 'GET'))
      throw new Throttled(`HTTP ${answer.status}: ${failureIn(answer.body)?.words ?? ''}`, waitOf(answer, this.#reach.clock));
    return answer;
  }

  #send(call: Call, method: 'GET' | 'POST', path: string, { text }: Token, gate?: () => void): Promise<WebAnswer> {
    const headers = { Authorization: `Bearer ${text}`, Accept: 'application/json' };
    return this.#client.exchange(call, { method, url: `${this.#endpoint}${path}`, headers, gate, secrets: [text] });
  }

  #token(call: Call): Promise<Token> {
    return this.#tokens.get(async () => {
      const { credentials, source } = await this.#credentials.find(call);
      this.#source = source;
      return credentials;
    });
  }

  #refusal(call: Call, { status, body, text }: WebAnswer): Error {
    const failure = failureIn(body);
    const words = `HTTP ${status}: ${failure?.words ?? deviceMessage(text, [])} (credentials: ${this.#source})`;
    if (status === 404)
      return call.error('Misconfigured', `${words}: look for the right subscription and resource group; it is no proof that it is off`);
    if (status === 401) return call.error('Misconfigured', words);
    if (failure?.code === 'ScopeLocked') return call.error('Refused', `${words}: a lock of the resource, its group or its subscription forbids it`);
    return call.error(status >= 500 ? 'Unreachable' : 'Refused', words);
  }
}

/** Another machine may be given the same name later: the vmId tells them apart. */
function factsOf(call: Call, id: string, { vmId }: AzureMachine): MachineFacts {
  const { providerID } = call.target.identity;
  if (providerID?.toLowerCase().startsWith('azure://') !== true) return { providerID: 'unknown', uuid: vmId };
  const isNamed = azureInstance(providerID) !== undefined && providerID.slice('azure://'.length).toLowerCase() === decodeURI(id).toLowerCase();
  return { providerID: isNamed ? 'named' : 'other', uuid: vmId };
}
