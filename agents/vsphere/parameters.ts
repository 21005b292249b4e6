import { z } from 'zod';

import type { Parameters } from '../../src/ports/agents.ts';
import { isHost } from '../shared/address/host-text.ts';
import { firstTrustDocumentation, firstTrustShape } from '../shared/first-trust/parameters.ts';
import type { ParameterSchema } from '../shared/parameter-schema.ts';
import { portNumber } from '../shared/port-number.ts';
import { OnePlace } from '../shared/web/one-place.ts';
import { booleanWord, LOGIN_TIMEOUT, loginTimeout, trustDocumentation, trustOf, trustShape } from '../shared/web/parameters.ts';
import { originOf } from '../shared/web/place.ts';
import type { Place, Trust } from '../shared/web/trusted-socket.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const ADDRESS =
  /^(?:(https?):\/\/)?(?:[^/@]*@)?(\[[^\]/]+\]|[^/:[\]]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)(?::(\d{1,5}))?(?:\/(?:sdk\/?)?)?$/i;
/** What vSphere calls a thumbprint: SHA-1, for which a second certificate can be made. */
const SHA1 = /^(?:sha-?1[:=\s]\s*)?(?:[0-9a-f]{2}:?){19}[0-9a-f]{2}$/i;

export const HOW_SHA256 = '`openssl s_client -connect HOST:443 </dev/null | openssl x509 -noout -fingerprint -sha256` shows it';

export function isWeakFingerprint(text: string): boolean {
  return SHA1.test(text.trim());
}

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
  ssl_fingerprint: z
    .string()
    .refine((text) => !isWeakFingerprint(text), `is a SHA-1 thumbprint, which is too weak to trust: give the SHA-256 one; ${HOW_SHA256}`)
    .pipe(trustShape.ssl_fingerprint.unwrap())
    .optional(),
  ssl_secure: booleanWord.optional(),
  api_path: z.string().optional(),
  filter: z.string().optional(),
  login_timeout: loginTimeout,
});

export const vsphereParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ip: {
      description: 'Host name or address of vCenter, or of an ESXi host that no vCenter manages. Without it the first source of credentials tells.',
      aliases: ['ipaddr', 'server', 'vcenter'],
    },
    ipport: { description: 'TCP port.', default: '443 (80 without TLS)' },
    ssl: { description: 'Use TLS. Without it anybody on the path can read the password.', default: 'yes' },
    username: { description: 'User of vSphere, such as `fence@vsphere.local`.', aliases: ['login', 'user'] },
    password: { description: 'Password.', secret: true, aliases: ['passwd'] },
    ...trustDocumentation('vCenter', 'power'),
    ...firstTrustDocumentation,
    ssl_secure: { description: 'Of `fence_vmware_*`: certificates are verified anyway. `no` is refused.' },
    api_path: { description: 'Of `fence_vmware_rest`: not used, the API is SOAP at `/sdk`.' },
    filter: { description: 'Of `fence_vmware_rest`: not used, machines are found by an index.' },
    login_timeout: LOGIN_TIMEOUT,
  },
};

/** What the parameters of a method say; the rest is for the sources of credentials to tell. */
export interface VsphereSettings {
  place: Place | undefined;
  /** Both or neither. */
  user: { username: string; password: string } | undefined;
  trust: Trust;
}

export const vspherePlace = new OnePlace('vsphere', vsphereParameters, placeOf);

/** Typed settings, or the problems in words (without values). */
export function settingsOf(parameters: Parameters): VsphereSettings | { problems: readonly string[] } {
  const found = vspherePlace.read(parameters);
  if ('problems' in found) return found;
  const { ip, ipport, ssl, username, password } = found.data;
  return {
    place: ip === undefined ? undefined : placeOf(ip, { port: ipport, tls: ssl }),
    user: username === undefined || password === undefined ? undefined : { username, password },
    trust: trustOf(found.data),
  };
}

/** `vsphere://<uuid>`: the UUID of its firmware as vSphere writes it. Source: kubernetes/cloud-provider-vsphere, pkg/cloudprovider/vsphere/util.go. */
export function providedUUID(providerID: string | undefined): string | undefined {
  const uuid = /^vsphere:\/\/(.+)$/
    .exec(providerID ?? '')?.[1]
    ?.trim()
    .toLowerCase();
  return uuid !== undefined && UUID.test(uuid) ? uuid : undefined;
}

export function isUUID(text: string): boolean {
  return UUID.test(text.trim());
}

/** Of a host name, an address, either with a port, or a URL of the API such as govc takes; undefined for anything else. */
export function placeOf(written: string, { port, tls }: { port?: number | undefined; tls?: boolean | undefined } = {}): Place | undefined {
  const [, scheme, name = '', inside] = ADDRESS.exec(written.trim()) ?? [];
  const host = name.replace(/^\[|\]$/g, '').toLowerCase();
  if (!isHost(host)) return undefined;
  const isSecure = scheme === undefined ? (tls ?? true) : scheme.toLowerCase() === 'https';
  const chosen = inside === undefined ? (port ?? (isSecure ? 443 : 80)) : Number(inside);
  return chosen >= 1 && chosen <= 65_535 ? { host, port: chosen, tls: isSecure } : undefined;
}

/** The URL of the API. */
export function apiUrl(place: Place): string {
  return `${originOf(place)}/sdk`;
}
