import type { CloudAnswer, CloudRequest } from './cloud-server.ts';
import type { EmulatedInstance } from './emulated-instance.ts';
import { json } from './keystone.ts';

/** Where servers stand; another hypervisor takes them up. */
export const HYPERVISOR = 'hypervisor-1';
const OTHER = 'hypervisor-2';

/** What may be odd with hypervisors. */
export interface ServiceOddities {
  /** Evacuations are accepted, and nothing moves. */
  staysOn?: true;
  /** The change of a service is accepted and forgotten. */
  forgetsChange?: true;
  /** Members of the server that are shown otherwise, by its id. */
  states?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Service {
  id: string;
  binary: string;
  host: string;
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
  forced_down: boolean;
  zone: string;
}

/**
 * Compute services and evacuation, written from nova's api-ref ("Compute services", "Servers - run an action") and nova/compute/api.py (`evacuate`: the service
 * of the host must be down) at 00a030403f.
 */
export class NovaServices {
  readonly services: readonly Service[];
  /** Host of each server. */
  readonly hosts: Map<string, string>;
  /** Does its nova-compute report? */
  isAlive = false;
  readonly #oddities: ServiceOddities;

  constructor(instances: readonly EmulatedInstance[], oddities: ServiceOddities) {
    this.#oddities = oddities;
    this.hosts = new Map(instances.map(({ id }) => [id, HYPERVISOR]));
    this.services = [HYPERVISOR, OTHER].map((host, index) => ({
      id: `e81d66a4-ddd3-4aba-8a84-171d1cb4d33${index}`,
      binary: 'nova-compute',
      host,
      status: 'enabled',
      disabled_reason: null,
      forced_down: false,
      zone: 'nova',
    }));
  }

  list({ query }: CloudRequest): CloudAnswer {
    const [host, binary] = [query.get('host'), query.get('binary')];
    const found = this.services.filter((one) => (host === null || one.host === host) && (binary === null || one.binary === binary));
    return json(200, { services: found.map((one) => this.#shown(one)) });
  }

  change({ path, body }: CloudRequest): CloudAnswer {
    const service = this.services.find(({ id }) => path.endsWith(`/${id}`));
    if (service === undefined) return json(404, { itemNotFound: { code: 404, message: 'Service could not be found.' } });
    const wanted = JSON.parse(body) as Partial<Service>;
    if (wanted.disabled_reason !== undefined && wanted.status !== 'disabled')
      return json(400, { badRequest: { code: 400, message: 'Specifying disabled_reason requires that status is disabled.' } });
    if (this.#oddities.forgetsChange !== true) {
      const reason = wanted.status === 'enabled' ? { disabled_reason: null } : {};
      Object.assign(service, { ...wanted, ...reason });
    }
    return json(200, { service: this.#shown(service) });
  }

  evacuate(id: string): CloudAnswer {
    const host = this.hosts.get(id);
    const service = this.services.find((one) => one.host === host);
    if (service !== undefined && this.#isUp(service))
      return json(400, { badRequest: { code: 400, message: `Compute service of ${service.host} is still in use.` } });
    if (this.#oddities.staysOn !== true) this.hosts.set(id, OTHER);
    return json(200, {});
  }

  #isUp({ host, forced_down }: Service): boolean {
    return !forced_down && (host !== HYPERVISOR || this.isAlive);
  }

  #shown(service: Service): unknown {
    return { ...service, state: this.#isUp(service) ? 'up' : 'down', updated_at: '2012-10-29T13:42:05.000000' };
  }
}
