import { z } from 'zod';

import type { FirstTrust, Identity, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { isHost } from '../shared/address/host-text.ts';
import {
  firstPlaceCertificate,
  firstPlaceProblems,
  firstTrustDocumentation,
  firstTrustShape,
  unresolvedProblems,
} from '../shared/first-trust/parameters.ts';
import { areSameUUID, normalUUID } from '../shared/machine-uuid.ts';
import { canonical, checkParameters, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import { portNumber } from '../shared/port-number.ts';
import {
  booleanWord,
  LOGIN_TIMEOUT,
  loginTimeout,
  trustContradictions,
  trustDocumentation,
  trustOf,
  trustShape,
  writtenDefaults,
} from '../shared/web/parameters.ts';
import { originOf, placeText as textOf } from '../shared/web/place.ts';
import type { Place, Trust } from '../shared/web/trusted-socket.ts';

const PORT = 8006;
const ENDPOINTS_MAX = 16;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** `pve-vmid`: 100 to 999999999. */
const VMID = /^[1-9]\d{2,8}$/;
/** Names of machines are DNS names (`dns-name` of the API schema). */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})$/;
const ADDRESS = /^(?:(https?):\/\/)?([^/?#@\s]+)(?:\/(?:api2(?:\/json)?\/?)?)?$/i;
const TOKEN_ID = /^[^\s!=]+@[A-Za-z][\w.-]*![A-Za-z][\w.-]*$/;
/** As `PROXMOX_VE_API_TOKEN` of Terraform's provider has it: `USER@REALM!NAME=SECRET`. */
const API_TOKEN = /^([^\s=]+)=(\S+)$/;

const schema = z.object({
  endpoint: z
    .string()
    .refine((text) => placesOf(text) !== undefined, 'must be host names, addresses or URLs of hosts of one cluster, separated by commas')
    .optional(),
  ipport: portNumber.optional(),
  ssl: booleanWord.default(true),
  api_token: z
    .string()
    .refine((text) => tokenOf(text) !== undefined, 'must be USER@REALM!NAME=SECRET')
    .optional(),
  token_id: z.string().regex(TOKEN_ID, 'must be USER@REALM!NAME').optional(),
  token_secret: z.string().optional(),
  username: z
    .string()
    .regex(/^[^\s!]+$/, 'must be a user such as fence@pve; a token is written as token_id and token_secret')
    .optional(),
  password: z.string().optional(),
  region: z.string().optional(),
  ...trustShape,
  ...firstTrustShape,
  ssl_secure: booleanWord.optional(),
  login_timeout: loginTimeout,
  vmtype: z.literal('qemu', 'must be qemu: a container (lxc) shares the kernel of its host, and is not switched by this agent').default('qemu'),
  pve_node: z.string().optional(),
  pve_node_auto: z.string().optional(),
});

export const proxmoxParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    endpoint: {
      description:
        'Host name, address or URL of a host of the cluster; several, separated by commas: where one gives no answer to a read, the next is asked. Without it the first source of credentials tells.',
      aliases: ['ip', 'ipaddr', 'url'],
    },
    ipport: { description: 'TCP port, where `endpoint` names none.', default: '8006' },
    ssl: { description: 'Use TLS. Without it anybody on the path can read the password.', default: 'yes' },
    api_token: { description: 'API token, as `USER@REALM!NAME=SECRET`.', secret: true },
    token_id: { description: 'API token, its name: `USER@REALM!NAME`.' },
    token_secret: { description: 'API token, its secret.', secret: true },
    username: { description: 'User, such as `fence@pve`. `root@pam` where there is a password and no user.', aliases: ['login', 'user'] },
    password: { description: 'Password of the user.', secret: true, aliases: ['passwd'] },
    region: { description: "Which cluster of the cloud controller manager's configuration; the providerID says it." },
    ...trustDocumentation('host', 'machine'),
    ...firstTrustDocumentation,
    ssl_secure: { description: 'Of `fence_pve`: certificates are verified anyway. `no` is refused.' },
    login_timeout: LOGIN_TIMEOUT,
    vmtype: { description: 'Of `fence_pve`: only `qemu`; a container is not supported.', default: 'qemu' },
    pve_node: {
      description: 'Of `fence_pve`: not used, the host that has the machine is looked up at each read.',
      aliases: ['pve-node', 'nodename'],
    },
    pve_node_auto: { description: 'Of `fence_pve`: not used, the host is always looked up.', aliases: ['pve-node-auto'] },
  },
};

/** Who we are. */
export type ProxmoxAuth = { kind: 'token'; id: string; secret: string } | { kind: 'user'; username: string; password: string };

/** What the parameters of a method say; the rest is for the sources of credentials to tell. */
export interface ProxmoxSettings {
  places: readonly Place[] | undefined;
  auth: ProxmoxAuth | undefined;
  region: string | undefined;
  trust: Trust;
}

export function proxmoxProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named: Readonly<Record<string, string>> = canonical(proxmoxParameters, parameters);
  const problems = [
    ...checkParameters(proxmoxParameters, parameters, withSecrets),
    ...trustContradictions(named),
    ...firstPlaceProblems(named, writtenPlaces(named), 'endpoint'),
  ];
  const add = (parameter: string, message: string): void => void problems.push({ parameter, message });
  if (!withSecrets) return problems;
  if ((named['token_id'] === undefined) !== (named['token_secret'] === undefined))
    add(named['token_id'] === undefined ? 'token_id' : 'token_secret', 'is missing beside the other one');
  if (named['username'] !== undefined && named['password'] === undefined) add('password', 'is missing: it belongs to username');
  return problems;
}

/** Typed settings, or the problems in words (without values). */
export function proxmoxSettings(parameters: Parameters): ProxmoxSettings | { problems: readonly string[] } {
  const named = canonical(proxmoxParameters, parameters);
  const problems = [...proxmoxProblems(parameters, true), ...unresolvedProblems(named)].map(({ parameter, message }) => `${parameter} ${message}`);
  const result = parsed(proxmoxParameters, parameters);
  if (!result.success || problems.length > 0) return { problems };
  const { endpoint, ipport, ssl, region } = result.data;
  return {
    places: endpoint === undefined ? undefined : placesOf(endpoint, { port: ipport, tls: ssl }),
    auth: authIn(result.data),
    region,
    trust: trustOf(result.data),
  };
}

interface Credentials {
  api_token?: string | undefined;
  token_id?: string | undefined;
  token_secret?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
}

/** A token goes before a password. */
export function authIn({ api_token, token_id, token_secret, username, password }: Credentials): ProxmoxAuth | undefined {
  const token = api_token === undefined ? undefined : tokenOf(api_token);
  if (token !== undefined) return token;
  if (token_id !== undefined && token_secret !== undefined) return { kind: 'token', id: token_id, secret: token_secret };
  return password === undefined ? undefined : { kind: 'user', username: username ?? 'root@pam', password };
}

function tokenOf(text: string): ProxmoxAuth | undefined {
  const [, id = '', secret = ''] = API_TOKEN.exec(text.trim()) ?? [];
  return TOKEN_ID.test(id) ? { kind: 'token', id, secret } : undefined;
}

/** None where another source tells them. */
function writtenPlaces(named: Readonly<Record<string, string>>): readonly Place[] {
  return placesOf(named['endpoint'] ?? '', writtenDefaults(named)) ?? [];
}

export function firstTrustOf(parameters: Parameters): FirstTrust | undefined {
  const named = canonical(proxmoxParameters, parameters);
  return firstPlaceCertificate(named, writtenPlaces(named));
}

/** The queue key: one cluster. Without `endpoint` it is the one of this process's environment. */
export function deviceKeyOf(parameters: Parameters): string {
  const named = canonical(proxmoxParameters, parameters);
  const places = writtenPlaces(named);
  return ['proxmox', ...(places.length === 0 ? [named['region'] ?? ''] : places.map(placeText))].join(' ').trim();
}

/** A machine as a providerID names it. */
export interface ProvidedMachine {
  plug: string;
  region?: string;
  uuid?: string;
}

/**
 * `proxmox://REGION/VMID`, or `proxmox://UUID` with the UUID of its firmware. Sources: sergelogvinov/proxmox-cloud-controller-manager, pkg/provider/provider.go
 * (both, the second one for Cluster API's ionos-cloud/cluster-api-provider-proxmox).
 */
export function providedMachine(providerID: string | undefined): ProvidedMachine | undefined {
  const [, uuid] = /^proxmox:\/\/([^/]+)$/.exec(providerID ?? '') ?? [];
  if (uuid !== undefined) return UUID.test(uuid) ? { plug: uuid.toLowerCase(), uuid: uuid.toLowerCase() } : undefined;
  const [, region = '', vmid = ''] = /^proxmox:\/\/([^/]*)\/([^/]+)$/.exec(providerID ?? '') ?? [];
  if (!VMID.test(vmid)) return undefined;
  return { plug: vmid, ...(region === '' ? {} : { region }) };
}

export function isVmid(plug: string): boolean {
  return VMID.test(plug);
}

export function isUUID(plug: string): boolean {
  return UUID.test(plug.trim());
}

/** In either byte order. */
export function isSameUUID(left: string | undefined, right: string | undefined): boolean {
  const [one, other] = [normalUUID(left), normalUUID(right)];
  return one !== undefined && other !== undefined && areSameUUID(one, other);
}

export function plugProblem(plug: string, identity: Pick<Identity, 'providerID'> | undefined): string | undefined {
  if (plug === '') return 'plug is missing: the number (vmid), the name or the UUID of the virtual machine';
  if (!NAME.test(plug)) return `${plug.slice(0, 60)} is no number, no name and no UUID of a virtual machine`;
  const provided = providedMachine(identity?.providerID);
  if (provided === undefined) return undefined;
  const isOther = isUUID(plug)
    ? provided.uuid !== undefined && !isSameUUID(plug, provided.uuid)
    : isVmid(plug) && provided.uuid === undefined && plug !== provided.plug;
  return isOther ? `${plug} is another machine: the providerID names ${provided.plug}` : undefined;
}

interface Defaults {
  port?: number | undefined;
  tls?: boolean | undefined;
}

/** Of hosts in one text; undefined where one of them is none. */
export function placesOf(written: string, defaults: Defaults = {}): readonly Place[] | undefined {
  const texts = written.split(/[\s,]+/).filter((text) => text !== '');
  const places = texts.flatMap((text) => placeOf(text, defaults) ?? []);
  return places.length === texts.length && places.length > 0 && places.length <= ENDPOINTS_MAX ? places : undefined;
}

/** Of a host name, an address, either with a port, or a URL of the API; undefined for anything else. A URL without a port means that of its scheme. */
function placeOf(written: string, { port, tls }: Defaults): Place | undefined {
  const [, scheme, rest = ''] = ADDRESS.exec(written) ?? [];
  const isBare = /^[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.%]*$/.test(rest);
  const [, name = '', inside] = isBare ? ['', rest] : (/^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(rest) ?? []);
  const host = name.replace(/^\[|\]$/g, '').toLowerCase();
  if (!isHost(host)) return undefined;
  const isSecure = scheme === undefined ? (tls ?? true) : scheme.toLowerCase() === 'https';
  const ofScheme = scheme === undefined ? PORT : isSecure ? 443 : 80;
  const chosen = inside === undefined ? (port ?? ofScheme) : Number(inside);
  return chosen >= 1 && chosen <= 65_535 ? { host, port: chosen, tls: isSecure } : undefined;
}

/** `host`, or `host:port` where the port is not that of Proxmox VE. */
export function placeText(place: Place): string {
  return textOf(place, PORT);
}

/** The URL of the API. */
export function apiUrl(place: Place): string {
  return `${originOf(place)}/api2/json`;
}
