import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { isHost } from '../shared/address/host-text.ts';
import { BOOT_TIME, bootTime } from '../shared/boot-time.ts';
import { canonical, parseBoolean, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
/** What a terminal takes literally: everything but control characters. */
const TYPEABLE = /^\P{Cc}*$/u;
/** IPMI 2.0 section 13.31 and 22.30: what fits into RAKP messages and user tables. */
const USERNAME_BYTES = 16;
const SECRET_BYTES = 20;

const PRIVILEGES = ['callback', 'user', 'operator', 'administrator'] as const;
const TRANSPORTS = ['auto', 'native', 'ipmitool'] as const;
/** Suites that authenticate, protect and encrypt (IPMI 2.0 table 22-20); with any other, a stranger on the network can write an `off` into the answers. */
const CIPHERS = ['3', '8', '12', '17'] as const;

function bytes(text: string): number {
  return Buffer.byteLength(text);
}

function typed(bytesMax: number): z.ZodString {
  return z
    .string()
    .regex(TYPEABLE, 'must not contain control characters')
    .refine((text) => bytes(text) <= bytesMax, `must not be longer than ${bytesMax} bytes, the most that IPMI 2.0 has room for`);
}

const boolean = z.string().transform((text, context) => {
  const value = parseBoolean(text);
  if (value === undefined) context.addIssue({ code: 'custom', message: 'must be yes or no (also true, false, on, off, 1, 0)' });
  return value ?? false;
});

function refused(why: string): z.ZodOptional<z.ZodString> {
  return z
    .string()
    .refine(() => false, why)
    .optional();
}

/** A key in hexadecimal digits, one character for each byte; zeros at its end mean nothing to either side. */
const hexadecimalKey = z
  .string()
  .regex(/^(?:0x)?(?:[0-9a-f]{2}){1,20}$/i, 'must be 1 to 20 bytes in hexadecimal digits')
  .transform((text) => Buffer.from(text.replace(/^0x/i, ''), 'hex').toString('latin1').replace(/\0+$/, ''))
  .refine((text) => text !== '', 'is all zeros, which means that the BMC has no key: remove the line');

const schema = z.object({
  transport: z.enum(TRANSPORTS, 'must be auto, native or ipmitool').default('auto'),
  verify_with: z.enum(['other'], 'must be other: the transport that did not switch').optional(),
  ip: z.string().refine(isHost, 'must be a host name or an address, without scheme and port').optional(),
  ipport: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port >= 1 && port <= 65_535, 'must be a port number')
    .default(623),
  username: typed(USERNAME_BYTES).optional(),
  password: typed(SECRET_BYTES).optional(),
  cipher: z.enum(CIPHERS, 'must be 17, 3, 12 or 8: every other suite leaves out authentication, integrity or encryption').default('17'),
  privlvl: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(PRIVILEGES, 'must be administrator, operator, user or callback'))
    .default('administrator'),
  kg: typed(SECRET_BYTES)
    .regex(/^[ -~]*$/, 'must be printable ASCII')
    .optional(),
  hexadecimal_kg: hexadecimalKey.optional(),
  guid: z.string().regex(UUID, 'must be a UUID').optional(),
  ipmitool_timeout: z
    .string()
    .regex(/^[1-5]$/, 'must be 1 to 5 seconds')
    .transform(Number)
    .default(1),
  bmc_boot_time: bootTime,
  inet4_only: boolean.default(false),
  inet6_only: boolean.default(false),
  lanplus: boolean
    .refine((isPlus) => isPlus, 'cannot be no: IPMI 1.5 lets anybody on the network forge answers; remove the line to use IPMI 2.0')
    .default(true),
  method: z.enum(['onoff'], 'must be onoff: a power cycle inside the BMC gives no evidence of off').default('onoff'),
  auth: refused('chooses among the methods of IPMI 1.5, which is never spoken: remove the line'),
  target: refused('asks for bridging to another controller, which this agent does not do: name the BMC of the machine itself'),
});

export const ipmiParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ip: { description: 'Host name or address of the BMC.', required: true, aliases: ['ipaddr', 'host', 'address'] },
    ipport: { description: 'UDP port.', default: '623', aliases: ['port'] },
    username: { description: 'Login name, at most 16 bytes.', required: true, fromSecret: true, aliases: ['login'] },
    password: { description: 'Password, at most 20 bytes.', required: true, fromSecret: true, secret: true, aliases: ['passwd'] },
    transport: {
      description:
        '`native` speaks RMCP+ itself, `ipmitool` has ipmitool do it, `auto` is native and falls back to ipmitool where the BMC refuses its suite.',
      default: 'auto',
    },
    verify_with: { description: '`other`: each state is read by both transports, and counts only where they agree.', aliases: ['verify-with'] },
    cipher: { description: 'Cipher suite: 17, 3, 12 or 8 (the last two by ipmitool only). Never probed.', default: '17' },
    privlvl: { description: 'Privilege to ask for; operator suffices for on, off and status.', default: 'administrator' },
    kg: { description: 'BMC key (Kg) as text, where the BMC demands one.', secret: true, fromSecret: true },
    hexadecimal_kg: {
      description: 'BMC key (Kg) in hexadecimal digits; bytes that are not printable need transport native.',
      secret: true,
      fromSecret: true,
      aliases: ['hexadecimal-kg'],
    },
    guid: { description: "The GUID that the BMC shows, where it is the BMC's own and not the machine's.", aliases: ['system_guid'] },
    ipmitool_timeout: {
      description: 'Seconds (1 to 5) that each of the 3 sendings of a request waits for an answer, by either transport.',
      default: '1',
      aliases: ['ipmitool-timeout'],
    },
    bmc_boot_time: BOOT_TIME,
    inet4_only: { description: 'Use IPv4 only.', default: 'no', aliases: ['inet4-only'] },
    inet6_only: { description: 'Use IPv6 only.', default: 'no', aliases: ['inet6-only'] },
    lanplus: { description: 'IPMI 2.0; nothing else is spoken.', default: 'yes' },
    method: { description: '`onoff`; a cycle inside the BMC is refused, it gives no evidence.', default: 'onoff' },
    auth: { description: 'Refused: belongs to IPMI 1.5.' },
    target: { description: 'Refused: bridging.' },
  },
};

/** Where a BMC is and who we are to it; typed and complete. */
export interface IpmiSettings {
  /** In the order in which they are tried; the second only where the BMC refuses the first. */
  transports: readonly Transport[];
  /** States count only where the other transport reads the same. */
  verifiesWithOther: boolean;
  host: string;
  port: number;
  username: string;
  password: string;
  cipher: (typeof CIPHERS)[number];
  privilege: (typeof PRIVILEGES)[number];
  /** One character for each byte; undefined where the BMC has none. */
  kg: string | undefined;
  pinnedGuid: string | undefined;
  timeoutSeconds: number;
  /** A BMC has found out about its machine so long after its start. */
  bootMaxMs: number;
  family: 4 | 6 | undefined;
}

export type Transport = 'native' | 'ipmitool';

/** The suites that `native` speaks; MD5 is left to ipmitool. */
function isNative(cipher: (typeof CIPHERS)[number]): cipher is '3' | '17' {
  return cipher === '3' || cipher === '17';
}

/** What can be typed at a prompt of ipmitool, the only way there that shows a key to nobody. */
function isTypeable(key: string | undefined): boolean {
  return key === undefined || /^[ -~]+$/.test(key);
}

/** Which transports can serve these settings, in order; none where the wish cannot be met. */
function transportsOf(wish: (typeof TRANSPORTS)[number], cipher: (typeof CIPHERS)[number], kg: string | undefined): Transport[] {
  const able: Transport[] = [...(isNative(cipher) ? (['native'] as const) : []), ...(isTypeable(kg) ? (['ipmitool'] as const) : [])];
  return wish === 'auto' ? able : able.filter((transport) => transport === wish);
}

/** Brackets are kept out; lower case. */
function hostOf(ip: string): string {
  return ip.replace(/^\[|\]$/g, '').toLowerCase();
}

/** `host:port`, the queue key of the device: one BMC, one queue, whatever method names it. */
export function deviceKeyOf(parameters: Parameters): string {
  const named = canonical(ipmiParameters, parameters);
  const host = hostOf(named['ip'] ?? '');
  return `${host.includes(':') ? `[${host}]` : host}:${(named['ipport'] ?? '623').replace(/^0+(?=\d)/, '')}`;
}

/** What single parameters cannot say: those that contradict each other. */
export function contradictions(parameters: Parameters, named = canonical(ipmiParameters, parameters)): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (named['kg'] !== undefined && named['hexadecimal_kg'] !== undefined) {
    problems.push({ parameter: 'kg', message: 'and hexadecimal_kg are both given: remove one' });
  }
  if (parseBoolean(named['inet4_only'] ?? 'no') === true && parseBoolean(named['inet6_only'] ?? 'no') === true) {
    problems.push({ parameter: 'inet4_only', message: 'and inet6_only contradict each other: remove one' });
  }
  const result = parsed(ipmiParameters, parameters);
  if (result.success) problems.push(...unspeakable(result.data));
  return problems;
}

/** What no transport, or not the one that is named, can do. */
function unspeakable({ transport, verify_with, cipher, hexadecimal_kg }: z.output<typeof schema>): ParameterProblem[] {
  const able = transportsOf('auto', cipher, hexadecimal_kg);
  const byNative = `cipher ${cipher} is spoken by ipmitool only: set cipher=17 or cipher=3`;
  const byTool = 'hexadecimal_kg has bytes that cannot be typed at the prompt of ipmitool: set a printable key';
  if (able.length === 0) return [{ parameter: 'cipher', message: `is spoken by ipmitool only, and ${byTool}` }];
  if (verify_with === 'other' && able.length < 2) {
    return [{ parameter: 'verify_with', message: `needs both transports, but ${able[0] === 'native' ? byTool : byNative}` }];
  }
  if (transport !== 'auto' && !able.includes(transport)) {
    return [{ parameter: 'transport', message: `cannot be ${transport}: ${transport === 'native' ? byNative : byTool}` }];
  }
  return [];
}

/** Typed settings of complete parameters, or the problems in words (without values). */
export function parseSettings(parameters: Parameters): IpmiSettings | { problems: string[] } {
  const named = canonical(ipmiParameters, parameters);
  const result = parsed(ipmiParameters, parameters);
  const problems = [
    ...(result.error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`),
    ...contradictions(parameters, named).map(({ parameter, message }) => `${parameter} ${message}`),
  ];
  for (const name of ['ip', 'username', 'password']) if (named[name] === undefined) problems.push(`${name} is missing`);
  if (!result.success || problems.length > 0) return { problems };
  const value = result.data;
  const kg = value.kg ?? value.hexadecimal_kg;
  return {
    transports: transportsOf(value.transport, value.cipher, kg),
    verifiesWithOther: value.verify_with === 'other',
    host: hostOf(value.ip ?? ''),
    port: value.ipport,
    username: value.username ?? '',
    password: value.password ?? '',
    cipher: value.cipher,
    privilege: value.privlvl,
    kg,
    pinnedGuid: value.guid,
    timeoutSeconds: value.ipmitool_timeout,
    bootMaxMs: value.bmc_boot_time * 1000,
    family: value.inet4_only ? 4 : value.inet6_only ? 6 : undefined,
  };
}

/** One kept session per BMC, credentials and transport; a hash, so that no password becomes a key. */
export function sessionKey(settings: IpmiSettings): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex');
}

export const ONE_MACHINE = 'a BMC switches one machine: remove plug, or name the agent of the chassis or PDU that has one';
