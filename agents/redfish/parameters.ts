import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { Parameters } from '../../src/ports/agents.ts';
import { isHost } from '../shared/address/host-text.ts';
import { BOOT_TIME, bootTime } from '../shared/boot-time.ts';
import { firstTrustDocumentation, firstTrustProblems, firstTrustShape, TLS_PINS, unresolvedProblems } from '../shared/first-trust/parameters.ts';
import { canonical, parseBoolean, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import { portNumber } from '../shared/port-number.ts';
import {
  booleanWord,
  LOGIN_TIMEOUT,
  loginTimeout,
  plainFingerprint,
  trustContradictions,
  trustDocumentation,
  trustShape,
} from '../shared/web/parameters.ts';
import { tlsVersionOf, type TlsVersion } from '../shared/web/tls-version.ts';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

const schema = z.object({
  ip: z.string().refine(isHost, 'must be a host name or an address, without scheme and port').optional(),
  ipport: portNumber.optional(),
  ssl: booleanWord.optional(),
  scheme: z.enum(['https', 'http'], 'must be https or http').optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  systems_uri: z
    .string()
    .regex(/^\/[!-~]*$/, 'must be a path such as /redfish/v1/Systems/1')
    .optional(),
  system_uuid: z.string().regex(UUID, 'must be a UUID').optional(),
  serial: z.string().optional(),
  redfish_uri: z
    .string()
    .regex(/^\/[!-~]*$/, 'must be a path')
    .default('/redfish/v1/'),
  ...trustShape,
  ...firstTrustShape,
  resource: z.enum(['system', 'outlet'], 'must be system or outlet').default('system'),
  pdu: z.string().optional(),
  auth: z.enum(['auto', 'session', 'basic'], 'must be auto, session or basic').default('auto'),
  chassis_witness: booleanWord.default(true),
  bmc_boot_time: bootTime,
  login_timeout: loginTimeout,
});

export const redfishParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ip: { description: 'Host name or address of the BMC.', required: true, aliases: ['ipaddr', 'host', 'address'] },
    ipport: { description: 'TCP port.', default: '443 (80 without TLS)', aliases: ['port'] },
    ssl: { description: 'Use TLS.', default: 'yes' },
    scheme: { description: '`https` or `http`; the same as `ssl`.' },
    username: { description: 'Login name.', required: true, fromSecret: true, aliases: ['login'] },
    password: { description: 'Password.', required: true, fromSecret: true, secret: true, aliases: ['passwd'] },
    systems_uri: { description: 'Path of the ComputerSystem, needed where the BMC has several.', aliases: ['systems-uri'] },
    system_uuid: { description: 'Chooses the ComputerSystem by its UUID.', aliases: ['uuid'] },
    serial: { description: 'Chooses the ComputerSystem by its SerialNumber.', aliases: ['serial_number'] },
    redfish_uri: { description: 'Path of the service root.', default: '/redfish/v1/', aliases: ['redfish-uri'] },
    ...trustDocumentation('BMC', 'power'),
    ...firstTrustDocumentation,
    resource: {
      description: 'What a plug is: a ComputerSystem (`system`), or an `outlet` of a rack PDU that speaks Redfish.',
      default: 'system',
    },
    pdu: { description: 'Id or path of the PDU, where the device has several.' },
    auth: { description: '`session`, `basic`, or `auto`: a session, basic where the BMC has no session service.', default: 'auto' },
    chassis_witness: { description: "Demand that the PowerState of the machine's own Chassis agrees, where it shows one.", default: 'yes' },
    bmc_boot_time: BOOT_TIME,
    login_timeout: LOGIN_TIMEOUT,
  },
};

/** Where a BMC is, how it is trusted and who we are to it; typed and complete. */
export interface RedfishSettings {
  host: string;
  port: number;
  tls: boolean;
  username: string;
  password: string;
  systemsUri: string | undefined;
  systemUUID: string | undefined;
  serial: string | undefined;
  rootUri: string;
  ca: string | undefined;
  /** 64 lower-case hexadecimal digits. */
  fingerprint: string | undefined;
  insecure: boolean;
  minVersion: TlsVersion;
  resource: 'system' | 'outlet';
  pdu: string | undefined;
  auth: 'auto' | 'session' | 'basic';
  chassisWitness: boolean;
  /** A BMC has found out about its machine so long after its start. */
  bootMaxMs: number;
  connectTimeoutMs: number;
}

/** Brackets and a zone are kept out; lower case. */
function hostOf(ip: string): string {
  return ip.replace(/^\[|\]$/g, '').toLowerCase();
}

/** `host:port`, the queue key of the device: one BMC, one queue, whatever method names it. */
export function deviceKeyOf(parameters: Parameters): string {
  const named = canonical(redfishParameters, parameters);
  const isPlain = named['scheme'] === 'http' || (named['scheme'] === undefined && named['ssl'] !== undefined && parseBoolean(named['ssl']) === false);
  const host = hostOf(named['ip'] ?? '');
  const port = named['ipport'] ?? (isPlain ? '80' : '443');
  return `${host.includes(':') ? `[${host}]` : host}:${port.replace(/^0+(?=\d)/, '')}`;
}

/** What single parameters cannot say: those that contradict each other. */
export function contradictions(parameters: Parameters, named = canonical(redfishParameters, parameters)): string[] {
  const problems: string[] = [];
  const ssl = named['ssl'] === undefined ? undefined : parseBoolean(named['ssl']);
  if (ssl !== undefined && named['scheme'] !== undefined && ssl !== (named['scheme'] === 'https'))
    problems.push('ssl and scheme contradict each other');
  const trust = [...trustContradictions(named), ...firstTrustProblems(named, TLS_PINS)];
  problems.push(...trust.map(({ parameter, message }) => `${parameter} ${message}`));
  const ofSystem = ['systems_uri', 'system_uuid', 'serial'].filter((name) => named[name] !== undefined);
  if (named['resource'] === 'outlet' && ofSystem.length > 0) problems.push(`${ofSystem.join(', ')} chooses a ComputerSystem, but resource is outlet`);
  if (named['resource'] !== 'outlet' && named['pdu'] !== undefined) problems.push('pdu chooses a PDU, but resource is not outlet');
  return problems;
}

/** Typed settings of complete parameters, or the problems in words (without values). */
export function parseSettings(parameters: Parameters): RedfishSettings | { problems: string[] } {
  const named = canonical(redfishParameters, parameters);
  const result = parsed(redfishParameters, parameters);
  const problems = [
    ...(result.error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`),
    ...contradictions(parameters, named),
  ];
  for (const name of ['ip', 'username', 'password']) if (named[name] === undefined) problems.push(`${name} is missing`);
  problems.push(...unresolvedProblems(named).map(({ parameter, message }) => `${parameter} ${message}`));
  if (!result.success || problems.length > 0) return { problems };
  const value = result.data;
  const tls = value.scheme === undefined ? (value.ssl ?? true) : value.scheme === 'https';
  return {
    host: hostOf(value.ip ?? ''),
    port: value.ipport ?? (tls ? 443 : 80),
    tls,
    username: value.username ?? '',
    password: value.password ?? '',
    systemsUri: value.systems_uri,
    systemUUID: value.system_uuid,
    serial: value.serial,
    rootUri: value.redfish_uri,
    ca: value.ca,
    fingerprint: plainFingerprint(value.ssl_fingerprint),
    insecure: value.ssl_insecure,
    minVersion: tlsVersionOf(value.ssl_min_version),
    resource: value.resource,
    pdu: value.pdu,
    auth: value.auth,
    chassisWitness: value.chassis_witness,
    bootMaxMs: value.bmc_boot_time * 1000,
    connectTimeoutMs: value.login_timeout * 1000,
  };
}

/** One kept connection per device, trust and credentials; a hash, so that no password becomes a key. */
export function connectionKey(settings: RedfishSettings): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex');
}
