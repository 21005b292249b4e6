import type { CloudAnswer, CloudProtocol, CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import { EmulatedInstance, type InstancePhase } from './emulated-instance.ts';
import { ServedCloud } from './served-cloud.ts';

/**
 * Azure Resource Manager with Microsoft.Compute 2024-03-01, the token endpoint and the metadata service, written from Microsoft's REST API reference
 * ("Virtual Machines", "Track asynchronous Azure operations", "How to use managed identities to acquire an access token"). No real one was compared.
 */
export const SUBSCRIPTION = '11111111-2222-4333-8444-555555555555';
export const GROUP = 'Emulated-Group';
export const TENANT = '99999999-2222-4333-8444-555555555555';
export const CLIENT = '77777777-2222-4333-8444-555555555555';
const COMPUTE = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.Compute`;
/** Its instance 0 is the machine `vm-0`, and so on. */
export const SCALE_SET = 'emulated-set';
const MACHINE =
  /^\/subscriptions\/[^/]+\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/(?:virtualMachineScaleSets\/([^/]+)\/)?virtualMachines\/([^/]+)(?:\/(\w+))?$/i;
const OTHER_VMID = 'ffffffff-1111-4222-8333-444444444444';
const ROLE = { actions: ['Microsoft.Compute/virtualMachines/*'], notActions: [] as string[] };

/** Set by tests beside the faults that all clouds share. */
export interface AzureOddities {
  /** Where headers of operations point to. */
  operationHost?: string;
  provisioningState?: string;
  /** Further codes of the instance view. */
  statuses?: readonly string[];
  notActions?: readonly string[];
}

export const azureCloud: CloudKind = {
  providerID: (_machine, index) => `azure://${COMPUTE}/virtualMachines/vm-${index}`,
  start: (options) => Azure.start(options),
};

export function odditiesOf(service: CloudService): AzureOddities {
  if (!(service instanceof Azure)) throw new Error('no emulated Azure');
  return service.oddities;
}

class Azure extends ServedCloud implements CloudProtocol {
  override readonly instances: readonly EmulatedInstance[];
  readonly oddities: AzureOddities = {};
  readonly #secret: string;
  readonly #options: CloudServiceOptions;
  readonly #tokens = new Set<string>();

  private constructor(options: CloudServiceOptions) {
    super();
    this.#options = options;
    this.#secret = `secret-${options.random.uuid()}`;
    this.instances = options.machines.map((machine, index) => new EmulatedInstance(`vm-${index}`, machine, options.clock, () => this.faults));
  }

  static async start(options: CloudServiceOptions): Promise<Azure> {
    const azure = new Azure(options);
    await azure.serve(azure, options);
    return azure;
  }

  override get variables(): Readonly<Record<string, string>> {
    return {
      AZURE_TENANT_ID: TENANT,
      AZURE_CLIENT_ID: CLIENT,
      AZURE_CLIENT_SECRET: this.#secret,
      AZURE_AUTHORITY_HOST: this.url,
      NODEFENCE_AZURE_ENDPOINT: this.url,
    };
  }

  protected override forget(): void {
    this.#tokens.clear();
  }

  nameOf({ method, path, query }: CloudRequest): string {
    const last = path.split('/').at(-1) ?? '';
    if (last === 'token') return path.startsWith('/metadata/') ? 'GET managed identity' : 'POST token';
    if (path.includes('/operations/')) return 'GET operation';
    if (last === 'permissions' || last === 'virtualMachines') return `GET ${last}`;
    if (method === 'POST') return `POST ${last}${last === 'powerOff' && query.get('skipShutdown') !== 'true' ? ' after its shutdown' : ''}`;
    return 'GET machine';
  }

  isSet(name: string): boolean {
    return /^POST (?!token)/.test(name);
  }

  failure({ status, code, message }: { status: number; code: string; message: string }): CloudAnswer {
    return json(status, { error: { code, message } });
  }

  tooOften(): CloudAnswer {
    return { ...this.failure({ status: 429, code: 'TooManyRequests', message: 'Too many requests.' }), headers: { 'Retry-After': '1' } };
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    if (name === 'POST token') return this.#login(request);
    if (name === 'GET managed identity') return this.#managed(request);
    const token = (request.headers['authorization'] ?? '').replace(/^Bearer /, '');
    if (!this.#tokens.has(token))
      return this.failure({ status: 401, code: 'ExpiredAuthenticationToken', message: 'The access token expiry is in the past.' });
    if (name === 'GET operation') return this.#operation();
    if (name === 'GET permissions') return json(200, { value: [{ ...ROLE, notActions: this.oddities.notActions ?? [] }] });
    if (name === 'GET virtualMachines') return json(200, { value: this.instances.map(({ id }) => ({ name: id })) });
    const [, group = '', set, plug = '', action] = MACHINE.exec(request.path) ?? [];
    const wanted = set === undefined ? plug.toLowerCase() : set === SCALE_SET ? `vm-${plug}` : '';
    const instance = this.instances.find(({ id }) => id === wanted);
    if (instance === undefined || group.toLowerCase() !== GROUP.toLowerCase())
      return this.failure({
        status: 404,
        code: 'ResourceNotFound',
        message: `The Resource '${plug}' under resource group '${group}' was not found.`,
      });
    return action === undefined ? this.#shown(instance, set === undefined ? undefined : plug) : this.#changed(instance, name);
  }

  #login({ path, body }: CloudRequest): CloudAnswer {
    const form = new URLSearchParams(body);
    const isKnown = form.get('client_secret') === this.#secret || form.get('client_assertion') === 'a-service-account-token';
    const isWell = form.get('client_id') === CLIENT && path === `/${TENANT}/oauth2/v2.0/token` && (form.get('scope') ?? '').endsWith('/.default');
    if (this.faults.refusesLogin === true || !isKnown || !isWell)
      return json(401, { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' });
    return this.#given();
  }

  #managed({ headers, query }: CloudRequest): CloudAnswer {
    if (headers['metadata'] !== 'true') return json(400, { error: 'invalid_request', error_description: 'Required metadata header not specified' });
    if (this.faults.refusesLogin === true || (query.get('client_id') ?? CLIENT) !== CLIENT)
      return json(400, { error: 'invalid_request', error_description: 'Identity not found' });
    return this.#given();
  }

  #given(): CloudAnswer {
    const token = `token-${this.#options.random.uuid()}`;
    this.#tokens.add(token);
    return json(200, { token_type: 'Bearer', expires_in: '3599', access_token: token });
  }

  #operation(): CloudAnswer {
    if (this.faults.failsOperation !== true) return json(200, { status: 'InProgress' });
    return json(200, { status: 'Failed', error: { code: 'InternalExecutionError', message: 'The host did not answer.' } });
  }

  /** `number`: as an instance of the scale set. */
  #shown({ id, machine, phase }: EmulatedInstance, number?: string): CloudAnswer {
    const { shows, isReplaced } = this.faults;
    const { provisioningState = 'Succeeded', statuses = [] } = this.oddities;
    const said: Readonly<Record<InstancePhase, string>> = { running: 'running', stopping: 'stopping', stopped: 'stopped', starting: 'starting' };
    const power = shows === null ? null : `PowerState/${shows ?? said[phase]}`;
    const codes = [`ProvisioningState/${provisioningState.toLowerCase()}`, ...(shows === 'absent' ? [] : [power]), ...statuses];
    const vmId = isReplaced === true ? OTHER_VMID : machine.uuid;
    const properties = { vmId, provisioningState, instanceView: { statuses: codes.map((code) => ({ code, level: 'Info' })) } };
    const path = number === undefined ? `virtualMachines/${id.toUpperCase()}` : `virtualMachineScaleSets/${SCALE_SET}/virtualMachines/${number}`;
    return json(200, { name: id, id: `${COMPUTE}/${path}`, properties });
  }

  #changed(instance: EmulatedInstance, name: string): CloudAnswer {
    const { failsOperation } = this.faults;
    if (name === 'POST start' && failsOperation !== true) instance.start();
    else if ((name === 'POST powerOff' || name === 'POST deallocate') && failsOperation !== true) instance.stop();
    else instance.told();
    const operation = `${this.oddities.operationHost ?? this.url}/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Compute/locations/x/operations/1`;
    return { status: 202, headers: { 'Azure-AsyncOperation': `${operation}?api-version=2024-03-01` }, body: '' };
  }
}

function json(status: number, body: unknown): CloudAnswer {
  return { status, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) };
}
