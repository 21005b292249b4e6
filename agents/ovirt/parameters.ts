import { z } from 'zod';

import type { Parameters } from '../../src/ports/agents.ts';
import { firstTrustDocumentation, firstTrustShape } from '../shared/first-trust/parameters.ts';
import type { ParameterSchema } from '../shared/parameter-schema.ts';
import { portNumber } from '../shared/port-number.ts';
import { OnePlace } from '../shared/web/one-place.ts';
import { booleanWord, LOGIN_TIMEOUT, loginTimeout, trustDocumentation, trustOf, trustShape } from '../shared/web/parameters.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';
import { API_PATH, placeOf, type EnginePlace } from './place.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** What a virtual machine may be called. A quote would end the search's value, and `*` would match others. */
const NAME = /^[\p{L}\p{N}._-]{1,255}$/u;

const schema = z.object({
  ip: z
    .string()
    .refine((text) => placeOf(text) !== undefined, 'must be a host name or an address')
    .optional(),
  ipport: portNumber.optional(),
  ssl: booleanWord.default(true),
  username: z.string().optional(),
  password: z.string().optional(),
  ...trustShape,
  ...firstTrustShape,
  ssl_secure: booleanWord.optional(),
  api_path: z
    .string()
    .regex(/^(?:\/[\w.~-]+)+\/?$/, 'must be a path such as /ovirt-engine/api')
    .optional(),
  api_version: z
    .string()
    .regex(/^(?:auto|4(?:\.\d+)*)$/, 'must be 4 or auto: version 3 of the API is older than any engine that is still maintained')
    .default('auto'),
  disable_http_filter: booleanWord.default(false),
  use_cookies: booleanWord.optional(),
  cookie_file: z.string().optional(),
  notls: booleanWord.optional(),
  login_timeout: loginTimeout,
});

export const ovirtParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ip: {
      description: 'Host name or address of the engine, or the URL of its API. Without it the first source of credentials tells.',
      aliases: ['ipaddr', 'server', 'engine', 'ovirt_url'],
    },
    ipport: { description: 'TCP port.', default: '443 (80 without TLS)' },
    ssl: { description: 'Use TLS. Without it anybody on the path can read the password.', default: 'yes' },
    username: { description: 'User of the engine with its profile, such as `fence@internal`.', aliases: ['login', 'user', 'ovirt_username'] },
    password: { description: 'Password.', secret: true, aliases: ['passwd', 'ovirt_password'] },
    ...trustDocumentation('engine', 'power'),
    ca: {
      description: "Certificates (PEM) that may sign the engine's, such as the engine's own authority; the system's otherwise.",
      aliases: ['ssl_ca', 'cacert', 'ovirt_ca_bundle'],
    },
    ...firstTrustDocumentation,
    ssl_secure: { description: 'Of `fence_rhevm`: certificates are verified anyway. `no` is refused.' },
    api_path: { description: 'Path of the API at `ip`.', default: API_PATH },
    api_version: { description: 'Version of the API: `4`, or `auto`, which is 4.', default: 'auto' },
    disable_http_filter: {
      description: "See what the user's role as an administrator shows, not only what permissions of the user itself do (header `Filter`).",
      default: 'no',
    },
    use_cookies: { description: 'Of `fence_rhevm`: not used, one token is kept anyway.' },
    cookie_file: { description: 'Of `fence_rhevm`: not used.' },
    notls: { description: 'Of `fence_rhevm`: not used, SSL 3.0 is never spoken.' },
    login_timeout: LOGIN_TIMEOUT,
  },
};

/** What the parameters of a method say; the rest is for the sources of credentials to tell. */
export interface OvirtSettings {
  place: EnginePlace | undefined;
  /** Both or neither. */
  user: { username: string; password: string } | undefined;
  isFiltered: boolean;
  trust: Trust;
}

export const ovirtPlace = new OnePlace('ovirt', ovirtParameters, placeOf);

/** Typed settings, or the problems in words (without values). */
export function settingsOf(parameters: Parameters): OvirtSettings | { problems: readonly string[] } {
  const found = ovirtPlace.read(parameters);
  if ('problems' in found) return found;
  const { ip, ipport, ssl, username, password, api_path, disable_http_filter } = found.data;
  return {
    place: ip === undefined ? undefined : placeOf(ip, { port: ipport, tls: ssl, path: api_path?.replace(/\/$/, '') }),
    user: username === undefined || password === undefined ? undefined : { username, password },
    isFiltered: !disable_http_filter,
    trust: trustOf(found.data),
  };
}

/** `ovirt://<id of the machine>`. Source: openshift/cluster-api-provider-ovirt, pkg/utils/constants.go and pkg/actuators/machine/machine.go. */
export function providedId(providerID: string | undefined): string | undefined {
  const id = /^ovirt:\/\/(.+)$/
    .exec(providerID ?? '')?.[1]
    ?.trim()
    .toLowerCase();
  return id !== undefined && UUID.test(id) ? id : undefined;
}

export function isId(text: string): boolean {
  return UUID.test(text.trim());
}

/** Why nothing can be asked for this plug. */
export function namingProblem(plug: string): string | undefined {
  if (plug === '') return 'plug is missing: the id or the name of the virtual machine';
  if (isId(plug) || NAME.test(plug)) return undefined;
  return 'plug is neither an id nor the name of a virtual machine: letters, digits, `.`, `_` and `-`';
}
