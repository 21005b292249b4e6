import { z } from 'zod';

import type { ParameterProblem } from '../../../src/ports/agents.ts';
import { isHost } from '../address/host-text.ts';
import { parseBoolean, type Documentation } from '../parameter-schema.ts';
import { AUTHENTICATION_PROTOCOLS, PRIVACY_PROTOCOLS, type SnmpSettings, type User } from './settings.ts';

/** A name or an address; no option, blank or control character can be spelled with it. */
/** The least that RFC 3414 section 11.2 has. */
const PASSWORD_LENGTH_MIN = 8;
const SECURITY_LEVELS = ['noAuthNoPriv', 'authNoPriv', 'authPriv'] as const;

/** A word of a list in whatever case it is written. */
function wordOf<const W extends readonly string[]>(words: W): z.ZodType<W[number], string> {
  return z.string().transform((text, context): W[number] => {
    const known = words.find((word) => word.toLowerCase() === text.trim().toLowerCase());
    if (known === undefined) context.addIssue({ code: 'custom', message: `must be one of ${words.join(', ')}` });
    return known ?? '';
  });
}

const boolean = z.string().transform((text, context) => {
  const value = parseBoolean(text);
  if (value === undefined) context.addIssue({ code: 'custom', message: 'must be yes or no (also true, false, on, off, 1, 0)' });
  return value ?? false;
});

const password = z.string().min(PASSWORD_LENGTH_MIN, `must have at least ${PASSWORD_LENGTH_MIN} characters, as SNMP 3 demands`);

/** The parameters of a device that speaks SNMP, to be spread into the schema of its agent. */
export const snmpShape = {
  ip: z.string().refine(isHost, 'must be a host name or an address, without scheme and port').optional(),
  ipport: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port >= 1 && port <= 65_535, 'must be a port number')
    .default(161),
  inet4_only: boolean.default(false),
  inet6_only: boolean.default(false),
  snmp_version: wordOf(['1', '2c', '3']).optional(),
  community: z.string().optional(),
  username: z.string().max(32, 'must not be longer than 32 characters').optional(),
  password: password.optional(),
  snmp_auth_prot: wordOf(AUTHENTICATION_PROTOCOLS).optional(),
  snmp_sec_level: wordOf(SECURITY_LEVELS).optional(),
  snmp_priv_passwd: password.optional(),
  snmp_priv_prot: wordOf(PRIVACY_PROTOCOLS).optional(),
  snmp_context: z.string().max(32, 'must not be longer than 32 characters').optional(),
  snmp_timeout: z
    .string()
    .regex(/^(?:[1-5]|[0-4]\.[1-9])$/, 'must be 0.1 to 5 seconds')
    .transform(Number)
    .default(1),
};

export const snmpDocumentation = {
  ip: { description: 'Host name or address of the device.', required: true, aliases: ['ipaddr', 'host', 'address'] },
  ipport: { description: 'UDP port.', default: '161', aliases: ['udpport'] },
  inet4_only: { description: 'Use IPv4 only.', default: 'no', aliases: ['inet4-only'] },
  inet6_only: { description: 'Use IPv6 only.', default: 'no', aliases: ['inet6-only'] },
  snmp_version: { description: '`1`, `2c` or `3`.', default: '3 with a username, else 2c', aliases: ['snmp-version'] },
  community: { description: 'Community that may write, for SNMP 1 and 2c.', secret: true, fromSecret: true },
  username: { description: 'User of SNMP 3.', fromSecret: true, aliases: ['login'] },
  password: { description: 'Password for authentication.', secret: true, fromSecret: true, aliases: ['passwd'] },
  snmp_auth_prot: {
    description: `Authentication protocol: ${AUTHENTICATION_PROTOCOLS.join(', ')}.`,
    default: 'SHA',
    aliases: ['snmp-auth-prot'],
  },
  snmp_sec_level: {
    description: `${SECURITY_LEVELS.join(', ')}. Anybody on the network can forge answers to a user without authentication.`,
    default: 'what the passwords are enough for',
    aliases: ['snmp-sec-level'],
  },
  snmp_priv_passwd: { description: 'Password for privacy.', secret: true, fromSecret: true, aliases: ['snmp-priv-passwd'] },
  snmp_priv_prot: {
    description: `Privacy protocol: ${PRIVACY_PROTOCOLS.join(', ')}. AES-256 makes its key after Blumenthal, AES-256-C after Reeder (Cisco).`,
    default: 'AES',
    aliases: ['snmp-priv-prot'],
  },
  snmp_context: { description: 'Context of SNMP 3.', aliases: ['snmp-context'] },
  snmp_timeout: { description: 'Seconds that each of the 5 sendings of a read waits for an answer.', default: '1', aliases: ['snmp-timeout'] },
} satisfies Record<keyof typeof snmpShape, Documentation>;

/** What a parse of `snmpShape` gives. */
export type SnmpParameters = z.infer<z.ZodObject<typeof snmpShape>>;

type Level = (typeof SECURITY_LEVELS)[number];

function levelOf({ snmp_sec_level: level, password: authentication, snmp_priv_passwd: privacy }: SnmpParameters): Level {
  if (level !== undefined) return level;
  if (privacy !== undefined) return 'authPriv';
  return authentication === undefined ? 'noAuthNoPriv' : 'authNoPriv';
}

function versionOf({ snmp_version: version, username }: SnmpParameters): '1' | '2c' | '3' {
  return version ?? (username === undefined ? '2c' : '3');
}

/** What no single parameter shows: what a version needs and what it has no use for. Secrets may be absent when `withSecrets` is false. */
export function snmpProblems(parameters: SnmpParameters, withSecrets: boolean): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const needs = (name: keyof SnmpParameters, why: string): void => {
    if (parameters[name] === undefined && withSecrets) problems.push({ parameter: name, message: `is missing: ${why}` });
  };
  if (parameters.inet4_only && parameters.inet6_only) problems.push({ parameter: 'inet6_only', message: 'excludes inet4_only' });
  if (versionOf(parameters) !== '3') {
    // Without the Secret at hand a version that follows from its user name is not known yet.
    needs('community', `SNMP ${versionOf(parameters)} needs one; for SNMP 3 give a username`);
    if (parameters.snmp_sec_level !== undefined && parameters.snmp_version !== undefined)
      problems.push({ parameter: 'snmp_sec_level', message: `belongs to SNMP 3, but snmp_version is ${parameters.snmp_version}` });
    return problems;
  }
  needs('username', 'SNMP 3 needs one');
  const level = levelOf(parameters);
  if (level !== 'noAuthNoPriv') needs('password', `security level ${level} needs one`);
  if (level === 'authPriv') needs('snmp_priv_passwd', 'security level authPriv needs one');
  return problems;
}

/** How to speak to the device; `parameters` are complete (`snmpProblems`). */
export function snmpSettings(parameters: SnmpParameters): SnmpSettings {
  const version = versionOf(parameters);
  return {
    host: (parameters.ip ?? '').replace(/^\[|\]$/g, ''),
    port: parameters.ipport,
    family: parameters.inet4_only ? 4 : parameters.inet6_only ? 6 : undefined,
    security: version === '3' ? userOf(parameters) : { version, community: parameters.community ?? '' },
    tryMs: parameters.snmp_timeout * 1000,
  };
}

function userOf(parameters: SnmpParameters): User {
  const level = levelOf(parameters);
  const { username, password: word = '', snmp_priv_passwd: privacyWord = '', snmp_context: context = '' } = parameters;
  return {
    version: '3',
    name: username ?? '',
    context,
    authentication: level === 'noAuthNoPriv' ? undefined : { protocol: parameters.snmp_auth_prot ?? 'SHA', password: word },
    privacy: level === 'authPriv' ? { protocol: parameters.snmp_priv_prot ?? 'AES', password: privacyWord } : undefined,
  };
}

/** `host:port`: the same for every login to one device. Takes canonical names. */
export function snmpDeviceKey(named: Readonly<Record<string, string>>): string {
  const host = (named['ip'] ?? '').replace(/^\[|\]$/g, '').toLowerCase();
  return `${host.includes(':') ? `[${host}]` : host}:${(named['ipport'] ?? '161').replace(/^0+(?=\d)/, '')}`;
}
