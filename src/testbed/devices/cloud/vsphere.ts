import { createHash, X509Certificate } from 'node:crypto';

import type { CloudAnswer, CloudProtocol, CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import { EmulatedInstance } from './emulated-instance.ts';
import { ServedCloud } from './served-cloud.ts';
import { EmulatedMachine, firmwareUUID, type VsphereOddities } from './vsphere-machine.ts';
import { contentXml, envelope, escaped, faultXml, innerOf, methodOf, objectXml, textAt, textProperty, textsAt } from './vsphere-xml.ts';

/**
 * vCenter, or an ESXi host, as VMware's "vSphere Web Services API" reference describes it (8.0), as far as a machine is found, read and switched; how faults,
 * tasks and properties are written was read off vcsim (govmomi 0.46.0), which the agent's own tests use beside.
 */
const USER = 'fence@vsphere.local';
const PAGE_MAX = 500;

export const vsphereCloud: CloudKind = {
  providerID: ({ uuid }, index) => `vsphere://${firmwareUUID(uuid, index)}`,
  start: (options) => Vcenter.start(options),
};

/** The emulated vCenter of a service that `vsphereCloud` started. */
export function vcenterOf(service: CloudService): Vcenter {
  if (service instanceof Vcenter) return service;
  throw new Error('no vCenter');
}

class Vcenter extends ServedCloud implements CloudProtocol {
  oddities: VsphereOddities = {};
  override readonly instances: readonly EmulatedInstance[];
  readonly password: string;
  readonly machines: readonly EmulatedMachine[];
  readonly #options: CloudServiceOptions;
  readonly #sessions = new Set<string>();
  readonly #views = new Set<string>();
  #pages = new Map<string, string[]>();

  private constructor(options: CloudServiceOptions) {
    super();
    this.#options = options;
    this.password = `pass<word> & "${options.random.uuid()}"`;
    this.instances = options.machines.map(
      (machine, index) => new EmulatedInstance(firmwareUUID(machine.uuid, index), machine, options.clock, () => this.faults),
    );
    this.machines = this.instances.map(
      (instance, index) =>
        new EmulatedMachine(
          instance,
          index,
          () => this.faults,
          () => this.oddities,
        ),
    );
  }

  static async start(options: CloudServiceOptions): Promise<Vcenter> {
    const vcenter = new Vcenter(options);
    await vcenter.serve(vcenter, options);
    return vcenter;
  }

  override get variables(): Readonly<Record<string, string>> {
    return { GOVC_URL: `${this.url}/sdk`, GOVC_USERNAME: USER, GOVC_PASSWORD: this.password };
  }

  override get settings(): Readonly<Record<string, string>> {
    const { certificate } = this.#options;
    if (certificate === undefined) return {};
    const digest = createHash('sha256').update(new X509Certificate(certificate.certificatePem).raw).digest('hex');
    return { 'vsphere.ssl_fingerprint': digest };
  }

  protected override forget(): void {
    this.#sessions.clear();
  }

  protected override get sessions(): number {
    return this.#sessions.size;
  }

  nameOf({ body }: CloudRequest): string {
    return methodOf(body);
  }

  isSet(name: string): boolean {
    return name === 'PowerOffVM_Task' || name === 'PowerOnVM_Task';
  }

  failure({ status, code, message }: { status: number; code: string; message: string }): CloudAnswer {
    if (status !== 500) return { status, headers: { 'Content-Type': 'text/html' }, body: `<html><body>${escaped(message)}</body></html>` };
    const privilege =
      code === 'NoPermission' ? `${objectXml('object', 'VirtualMachine', 'vm-100')}<privilegeId>VirtualMachine.Interact.PowerOff</privilegeId>` : '';
    return fault(code, message, privilege);
  }

  /** Of the proxy in front of the service. */
  tooOften(): CloudAnswer {
    return this.failure({ status: 503, code: '', message: '503 Service Unavailable (Failed to connect to endpoint)' });
  }

  answer({ body, headers, path }: CloudRequest, method: string): CloudAnswer {
    if (path !== '/sdk') return this.failure({ status: 404, code: '', message: 'Not Found' });
    if (method === 'RetrieveServiceContent') return answered(method, this.#content());
    if (method === 'Login') return this.#login(body);
    const session = /vmware_soap_session="?([^";]+)/.exec(headers['cookie'] ?? '')?.[1] ?? '';
    if (!this.#sessions.has(session)) return fault('NotAuthenticated', 'The session is not authenticated.', '<privilegeId>System.View</privilegeId>');
    if (method === 'Logout') {
      this.#sessions.delete(session);
      return answered(method, '');
    }
    return this.#asked(method, body);
  }

  #content(): string {
    const isHost = this.oddities.host !== undefined;
    const about = isHost ? ['VMware ESXi', 'HostAgent'] : ['VMware vCenter Server', 'VirtualCenter'];
    const named = (name: string, type: string, ofCenter: string, ofHost: string): string => objectXml(name, type, isHost ? ofHost : ofCenter);
    return [
      '<returnval>',
      named('rootFolder', 'Folder', 'group-d1', 'ha-folder-root'),
      named('propertyCollector', 'PropertyCollector', 'propertyCollector', 'ha-property-collector'),
      named('viewManager', 'ViewManager', 'ViewManager', 'ViewManager'),
      `<about><name>${about[0] ?? ''}</name><apiType>${about[1] ?? ''}</apiType><apiVersion>8.0.2.0</apiVersion></about>`,
      named('sessionManager', 'SessionManager', 'SessionManager', 'ha-sessionmgr'),
      named('authorizationManager', 'AuthorizationManager', 'AuthorizationManager', 'ha-authmgr'),
      named('searchIndex', 'SearchIndex', 'SearchIndex', 'ha-searchindex'),
      '</returnval>',
    ].join('');
  }

  #login(body: string): CloudAnswer {
    if (this.faults.refusesLogin === true || textAt(body, 'userName') !== USER || textAt(body, 'password') !== this.password)
      return fault('InvalidLogin', 'Cannot complete login due to an incorrect user name or password.');
    const key = this.#options.random.uuid();
    this.#sessions.add(key);
    const answer = answered('Login', `<returnval><key>${key}</key><userName>${USER}</userName></returnval>`);
    return { ...answer, headers: { ...answer.headers, 'Set-Cookie': `vmware_soap_session="${key}"; Path=/; HttpOnly; Secure;` } };
  }

  #asked(method: string, body: string): CloudAnswer {
    const [, type = '', id = ''] = /<_this type="(\w+)">([^<]*)</.exec(body) ?? [];
    switch (method) {
      case 'FindAllByUuid':
        if (this.oddities.hasNoFindAllByUuid === true) return fault('MethodNotFound', 'SearchIndex does not implement: FindAllByUuid');
        return answered(method, this.#found(this.machines.filter((each) => each.hasUUID(textAt(body, 'uuid') ?? ''))));
      case 'FindByUuid':
        return answered(method, this.#found(this.machines.filter((each) => each.hasUUID(textAt(body, 'uuid') ?? '')).slice(0, 1)));
      case 'FindByInventoryPath':
        return answered(method, this.#found(this.machines.filter(({ path }) => path === textAt(body, 'inventoryPath')).slice(0, 1)));
      case 'CreateContainerView':
        this.#views.add(`view-${this.#views.size + 1}`);
        return answered(method, objectXml('returnval', 'ContainerView', `view-${this.#views.size}`));
      case 'DestroyView':
        return answered(method, '');
      case 'RetrievePropertiesEx':
        return this.#retrieved(body);
      case 'ContinueRetrievePropertiesEx':
        return this.#page('ContinueRetrievePropertiesEx', this.#pages.get(textAt(body, 'token') ?? '') ?? []);
      case 'HasPrivilegeOnEntities':
        return answered(method, this.#privileges(body));
      default:
        return this.#switched(method, type, id);
    }
  }

  #found(machines: readonly EmulatedMachine[]): string {
    return machines.map(({ id }) => objectXml('returnval', 'VirtualMachine', id)).join('');
  }

  #retrieved(body: string): CloudAnswer {
    const paths = new Map(innerOf(body, 'propSet').map((set) => [textAt(set, 'type') ?? '', textsAt(set, 'pathSet')]));
    const [, type = '', id = ''] = /<obj type="(\w+)">([^<]*)</.exec(body) ?? [];
    const shown = (machine: EmulatedMachine): string =>
      contentXml('VirtualMachine', machine.id, machine.properties, paths.get('VirtualMachine') ?? [], this.oddities.hidden);
    if (type === 'ContainerView') {
      const max = Number(textAt(body, 'maxObjects') ?? PAGE_MAX);
      const all = this.machines.map(shown);
      return this.#page('RetrievePropertiesEx', all, max);
    }
    const machine = this.machines.find((each) => each.id === id);
    if (machine === undefined) {
      const message = 'The object has already been deleted or has not been completely created';
      return fault('ManagedObjectNotFound', message, objectXml('obj', type, id));
    }
    const tasks = machine.tasks.map((task) => contentXml('Task', task.id, task.properties, paths.get('Task') ?? [], this.oddities.hidden));
    const found = this.oddities.showsOther === true ? (this.machines.find((each) => each !== machine) ?? machine) : machine;
    return this.#page('RetrievePropertiesEx', [shown(found), this.#host(paths.get('HostSystem') ?? []), ...tasks]);
  }

  #host(paths: readonly string[]): string {
    const { host, hostConnectionState = 'connected', hidden } = this.oddities;
    const managedBy = host === undefined ? '192.0.2.5' : host.managedBy;
    const properties = {
      name: textProperty('esx-1.example'),
      'runtime.connectionState': textProperty(hostConnectionState, 'HostSystemConnectionState'),
      ...(managedBy === undefined ? {} : { 'summary.managementServerIp': textProperty(managedBy) }),
    };
    return contentXml('HostSystem', 'host-9', properties, paths, hidden);
  }

  #page(method: string, objects: readonly string[], wanted = PAGE_MAX): CloudAnswer {
    const max = Math.min(wanted, this.oddities.pageSize ?? PAGE_MAX);
    const rest = objects.slice(max);
    const token = `token-${this.#pages.size + 1}`;
    if (rest.length > 0) this.#pages = new Map([...this.#pages, [token, rest]]);
    return answered(method, `<returnval>${rest.length > 0 ? `<token>${token}</token>` : ''}${objects.slice(0, max).join('')}</returnval>`);
  }

  #privileges(body: string): string {
    const answers = textsAt(body, 'privId').map(
      (id) =>
        `<privAvailability><privId>${id}</privId><isGranted>${String(this.oddities.lacks?.includes(id) !== true)}</isGranted></privAvailability>`,
    );
    return `<returnval>${objectXml('entity', 'VirtualMachine', textAt(body, 'entity') ?? '')}${answers.join('')}</returnval>`;
  }

  #switched(method: string, type: string, id: string): CloudAnswer {
    const machine = this.machines.find((each) => each.id === id);
    if (type !== 'VirtualMachine' || machine === undefined)
      return fault('ManagedObjectNotFound', 'The object has already been deleted or has not been completely created', objectXml('obj', type, id));
    if (!this.isSet(method)) {
      machine.instance.told();
      return fault('NotSupported', `${method} is not emulated`);
    }
    return answered(method, objectXml('returnval', 'Task', machine.switched(method === 'PowerOffVM_Task' ? 'off' : 'on')));
  }
}

function answered(method: string, inner: string): CloudAnswer {
  const body = envelope(`<${method}Response xmlns="urn:vim25">${inner}</${method}Response>`);
  return { status: 200, headers: { 'Content-Type': 'text/xml; charset=utf-8' }, body };
}

function fault(code: string, message: string, inner = ''): CloudAnswer {
  return { status: 500, headers: { 'Content-Type': 'text/xml; charset=utf-8' }, body: faultXml(code, message, inner) };
}
