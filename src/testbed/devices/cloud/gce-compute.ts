import type { CloudAnswer, CloudRequest } from './cloud-server.ts';
import type { EmulatedInstance, InstancePhase } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';
import { json } from './gce-identity.ts';

export const PROJECT = 'nodefence-emulated';
export const ZONE = 'europe-west3-a';

const STATUS: Readonly<Record<InstancePhase, string>> = { running: 'RUNNING', stopping: 'STOPPING', stopped: 'TERMINATED', starting: 'STAGING' };
/** What another machine that bears the name shows. */
const OTHER_ADDRESS = '192.0.2.250';
const OTHER_BY = 500n;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const QUERY: Readonly<Record<string, readonly string[]>> = {
  'POST stop': ['requestId', 'noGracefulShutdown', 'discardLocalSsd'],
  'POST start': ['requestId'],
  'DELETE instance': ['requestId'],
};

export interface ComputeExtras {
  /** The instances are members of this managed instance group. */
  managedBy?: string;
  /** The same of the instances that bear their names once they are replaced. */
  replacementManagedBy?: string;
  hasLocalSsd?: true;
  /** `deletionProtection` of the instances. */
  isProtected?: true;
  /** Permissions that the account lacks. */
  denied?: readonly string[];
}

interface Operation {
  name: string;
  type: 'stop' | 'start' | 'delete';
  instance: EmulatedInstance;
  requestId: string | undefined;
}

/** The instances and the zone operations of Compute Engine v1, as its reference describes them. */
export class GceCompute {
  /** Queries of stops and starts, oldest first. */
  readonly queries: URLSearchParams[] = [];
  readonly #instances: readonly EmulatedInstance[];
  readonly #faults: () => CloudFaults;
  readonly #extras: ComputeExtras;
  readonly #url: () => string;
  readonly #operations: Operation[] = [];

  constructor(instances: readonly EmulatedInstance[], faults: () => CloudFaults, extras: ComputeExtras, url: () => string) {
    this.#instances = instances;
    this.#faults = faults;
    this.#extras = extras;
    this.#url = url;
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    const [, project = '', zone = '', kind = '', item = ''] =
      /^\/compute\/v1\/projects\/([^/]+)\/zones\/([^/]+)\/(\w+)(?:\/([^/]+))?/.exec(request.path) ?? [];
    if (project !== PROJECT) return failure(403, 'forbidden', `Required 'compute.instances.get' permission for 'projects/${project}/zones/${zone}'`);
    if (zone !== ZONE) return notFound(`projects/${project}/zones/${zone}/${kind}/${item}`);
    if (kind === 'operations') return this.#operation(item);
    if (item === '') return this.#list(request.query);
    const instance = this.#instances.find((one) => item === one.machine.node || item === this.idOf(one));
    if (instance === undefined || instance.end === 'deleted') return notFound(`projects/${project}/zones/${zone}/instances/${item}`);
    if (name === 'GET instance') return json(200, selected(this.#shown(instance), request.query.get('fields')));
    if (name === 'POST testIamPermissions') return this.#permissions(request.body);
    return this.#set(instance, name, request.query);
  }

  /** The immutable id; that of another instance, where it is replaced. */
  idOf(instance: EmulatedInstance): string {
    return String(BigInt(instance.id) + (this.#faults().isReplaced === true ? OTHER_BY : 0n));
  }

  #set(instance: EmulatedInstance, name: string, query: URLSearchParams): CloudAnswer {
    const known = QUERY[name];
    if (known === undefined) {
      instance.told();
      return json(200, { kind: 'compute#operation', name: 'operation-other', status: 'DONE' });
    }
    const problem = this.#problemOf(known, query, name);
    if (problem !== undefined) return failure(400, 'invalid', problem);
    this.queries.push(query);
    const requestId = query.get('requestId') ?? undefined;
    const same = requestId === undefined ? undefined : this.#operations.find((one) => one.requestId === requestId);
    if (same !== undefined) return json(200, this.#told(same));
    if (name === 'DELETE instance' && this.#extras.isProtected === true)
      return failure(400, 'invalid', `Invalid resource usage: 'Resource cannot be deleted if it's protected against deletion.'.`);
    const type = name === 'DELETE instance' ? 'delete' : name === 'POST stop' ? 'stop' : 'start';
    const operation = { name: `operation-${String(this.#operations.length + 1).padStart(4, '0')}`, type, instance, requestId } as const;
    this.#operations.push(operation);
    instance[type]();
    // As it is taken up: the work begins after the answer.
    return json(200, { ...this.#told(operation), status: 'RUNNING', progress: 0, error: undefined });
  }

  #problemOf(known: readonly string[], query: URLSearchParams, name: string): string | undefined {
    for (const [key, value] of query) {
      if (!known.includes(key)) return `Invalid JSON payload received. Unknown name "${key}": Cannot bind query parameter.`;
      if (key === 'requestId' && !UUID.test(value)) return `Invalid value for field 'requestId': '${value}'. Must be a valid UUID.`;
      if (key !== 'requestId' && value !== 'true' && value !== 'false') return `Invalid value at '${key}' (TYPE_BOOL), "${value}"`;
    }
    const isSilent = name === 'POST stop' && this.#extras.hasLocalSsd === true && query.get('discardLocalSsd') === null;
    return isSilent ? 'Instances with Local SSD can only be stopped with discardLocalSsd given.' : undefined;
  }

  #operation(name: string): CloudAnswer {
    const operation = this.#operations.find((one) => one.name === name);
    return operation === undefined ? notFound(`projects/${PROJECT}/zones/${ZONE}/operations/${name}`) : json(200, this.#told(operation));
  }

  #told({ name, type, instance, requestId }: Operation): object {
    const isUnderWay = type === 'delete' ? instance.end === 'deleting' : instance.phase === (type === 'stop' ? 'stopping' : 'starting');
    const error = { errors: [{ code: 'RESOURCE_NOT_READY', message: `The resource 'instances/${instance.machine.node}' is not ready` }] };
    return {
      kind: 'compute#operation',
      name,
      operationType: type,
      targetId: this.idOf(instance),
      clientOperationId: requestId,
      status: isUnderWay ? 'RUNNING' : 'DONE',
      progress: isUnderWay ? 0 : 100,
      ...(this.#faults().failsOperation === true && !isUnderWay ? { error, httpErrorStatusCode: 409, httpErrorMessage: 'CONFLICT' } : {}),
    };
  }

  #permissions(body: string): CloudAnswer {
    const { permissions = [] } = JSON.parse(body) as { permissions?: string[] };
    return json(200, { permissions: permissions.filter((one) => this.#extras.denied?.includes(one) !== true) });
  }

  #list(query: URLSearchParams): CloudAnswer {
    const from = Number(query.get('pageToken') ?? '0');
    const size = Number(query.get('maxResults') ?? '500');
    const items = this.#instances.slice(from, from + size).map((one) => this.#shown(one));
    const next = from + size < this.#instances.length ? { nextPageToken: String(from + size) } : {};
    return json(200, { kind: 'compute#instanceList', items, ...next });
  }

  #shown(instance: EmulatedInstance): Record<string, unknown> {
    const { shows, isReplaced } = this.#faults();
    const { node, address } = instance.machine;
    const { hasLocalSsd } = this.#extras;
    const managedBy = isReplaced === true ? (this.#extras.replacementManagedBy ?? this.#extras.managedBy) : this.#extras.managedBy;
    const path = `projects/${PROJECT}/zones/${ZONE}`;
    const created = `projects/1/zones/${ZONE}/instanceGroupManagers/${managedBy ?? ''}`;
    return {
      kind: 'compute#instance',
      id: this.idOf(instance),
      name: node,
      creationTimestamp: isReplaced === true ? '2026-11-26T08:00:00.000-00:00' : '2026-01-02T03:04:05.000-00:00',
      ...(shows === 'absent' ? {} : { status: shows === undefined ? STATUS[instance.phase] : shows }),
      zone: `${this.#url()}/compute/v1/${path}`,
      selfLink: `${this.#url()}/compute/v1/${path}/instances/${node}`,
      networkInterfaces: [{ name: 'nic0', networkIP: isReplaced === true ? OTHER_ADDRESS : address }],
      disks: [{ type: 'PERSISTENT', boot: true }, ...(hasLocalSsd === true ? [{ type: 'SCRATCH' }] : [])],
      metadata: {
        items: [{ key: 'kube-env', value: 'bootstrap secrets' }, ...(managedBy === undefined ? [] : [{ key: 'created-by', value: created }])],
      },
      scheduling: { automaticRestart: true, provisioningModel: 'STANDARD' },
    };
  }
}

/** A partial response: the members that `fields` names, whole. */
function selected(shown: Record<string, unknown>, fields: string | null): object {
  if (fields === null) return shown;
  let plain = fields;
  while (plain.includes('(')) plain = plain.replaceAll(/\([^()]*\)/g, '');
  const names = plain.split(',').map((field) => field.split('/')[0]);
  return Object.fromEntries(Object.entries(shown).filter(([name]) => names.includes(name)));
}

function notFound(resource: string): CloudAnswer {
  return failure(404, 'notFound', `The resource '${resource}' was not found`);
}

export function failure(status: number, reason: string, message: string): CloudAnswer {
  const domain = reason === 'rateLimitExceeded' ? 'usageLimits' : 'global';
  return json(status, { error: { code: status, message, errors: [{ message, domain, reason }] } });
}
