import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../../src/ports/agents.ts';
import { isHost } from '../address/host-text.ts';
import { parseBoolean } from '../parameter-schema.ts';
import { firstTrustProblems, isTrustedFirst } from '../first-trust/parameters.ts';
import { portNumber } from '../port-number.ts';
import type { Documentation } from '../parameter-schema.ts';
import { parseKnownHosts } from './host-trust.ts';
import type { HostTrust } from './host-trust.ts';

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}=?$/;
const PRIVATE_KEY = /^\s*-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----\n[\s\S]+-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----\s*$/;
const INSECURE = 'insecure';

/** A Secret keeps line ends; in one line of a ConfigMap they are written `\n`. */
function unfolded(text: string): string {
  return text.replaceAll('\\n', '\n');
}

const boolean = z.string().transform((text, context) => {
  const value = parseBoolean(text);
  if (value === undefined) context.addIssue({ code: 'custom', message: 'must be yes or no (also true, false, on, off, 1, 0)' });
  return value ?? false;
});

/** The members of an agent's schema that say where and who, for an agent that speaks SSH. */
export const sshShape = {
  ip: z.string().refine(isHost, 'must be a host name or an address, without port').optional(),
  ipport: portNumber.optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  private_key: z
    .string()
    .transform(unfolded)
    .refine((text) => PRIVATE_KEY.test(text), 'must be a private key in OpenSSH or PEM form')
    .optional(),
  passphrase: z.string().optional(),
  known_hosts: z
    .string()
    .transform(unfolded)
    .superRefine((text, context) => {
      if (text.trim() === INSECURE) return;
      const parsed = parseKnownHosts(text);
      if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
    })
    .optional(),
  host_key_fingerprint: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((one) => one !== ''))
    .refine(
      (all) => all.length > 0 && all.every((one) => FINGERPRINT.test(one)),
      'must be SHA256: and 43 characters of base64, as ssh-keygen -l writes it; several are separated by blanks',
    )
    .transform((all) => all.map((one) => one.replace(/=$/, '')))
    .optional(),
  legacy_algorithms: boolean.default(false),
  login_timeout: z
    .string()
    .regex(/^\d{1,3}(\.\d+)?$/, 'must be a number of seconds')
    .transform(Number)
    .default(5),
};

export const sshDocumentation = {
  ip: { description: 'Host name or address of the device.', required: true, aliases: ['ipaddr', 'host', 'address'] },
  ipport: { description: 'TCP port.', default: '22' },
  username: { description: 'Login name.', required: true, fromSecret: true, aliases: ['login'] },
  password: { description: 'Password, also for keyboard-interactive.', fromSecret: true, secret: true, aliases: ['passwd'] },
  private_key: {
    description: 'Private key (OpenSSH or PEM), instead of or besides the password.',
    fromSecret: true,
    secret: true,
    aliases: ['ssh-privatekey'],
  },
  passphrase: { description: 'Passphrase of the private key.', fromSecret: true, secret: true },
  known_hosts: {
    description:
      'Lines of known_hosts with the host key of the device. `insecure` believes any host: whoever is on the path reads the password and can lie.',
    fromSecret: true,
  },
  host_key_fingerprint: { description: 'SHA-256 fingerprint of the host key instead, as `ssh-keygen -l` writes it; several separated by blanks.' },
  legacy_algorithms: { description: 'Offer SHA-1 key exchange, CBC ciphers and SHA-1 MACs too, which old switches need.', default: 'no' },
  login_timeout: { description: 'Seconds for connecting and logging in.', default: '5' },
} as const satisfies Record<keyof typeof sshShape, Documentation>;

export type SshParameters = z.infer<z.ZodObject<typeof sshShape>>;

/** Where a host is, how it is trusted and who we are to it; typed and complete. */
export interface SshSettings {
  host: string;
  port: number;
  username: string;
  password: string | undefined;
  privateKey: string | undefined;
  passphrase: string | undefined;
  trust: HostTrust;
  legacyAlgorithms: boolean;
  loginTimeoutMs: number;
}

/** What single parameters cannot say. Of canonical names; values are never quoted. */
export function sshContradictions(named: Readonly<Record<string, string>>, withSecrets: boolean): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const say = (parameter: string, message: string): void => void problems.push({ parameter, message });
  const hasTrust = named['known_hosts'] !== undefined || named['host_key_fingerprint'] !== undefined || isTrustedFirst(named);
  problems.push(...firstTrustProblems(named, ['known_hosts', 'host_key_fingerprint']));
  if (named['known_hosts'] !== undefined && named['host_key_fingerprint'] !== undefined)
    say('known_hosts', 'and host_key_fingerprint are both given: remove one');
  if (withSecrets && !hasTrust) say('known_hosts', 'or host_key_fingerprint is missing: the host could be anybody (`ssh-keyscan` writes the line)');
  if (withSecrets && named['password'] === undefined && named['private_key'] === undefined) say('password', 'or private_key is missing');
  return problems;
}

/** A host that anybody on the path may be. */
export function sshWarnings({ known_hosts: trusted = '' }: Parameters): ParameterProblem[] {
  if (trusted.trim() !== INSECURE) return [];
  const message = 'insecure believes any host: whoever is on the path reads the password, and can say that it is off; write the line of ssh-keyscan';
  return [{ parameter: 'known_hosts', message }];
}

/** Complete settings of parsed parameters that `sshContradictions` found nothing wrong with. */
export function sshSettingsOf(value: SshParameters): SshSettings {
  return {
    host: sshHostOf(value.ip ?? ''),
    port: value.ipport ?? 22,
    username: value.username ?? '',
    password: value.password,
    privateKey: value.private_key,
    passphrase: value.passphrase,
    trust: trustOf(value),
    legacyAlgorithms: value.legacy_algorithms,
    loginTimeoutMs: value.login_timeout * 1000,
  };
}

/** Brackets are kept out; lower case. */
export function sshHostOf(ip: string): string {
  return ip.replace(/^\[|\]$/g, '').toLowerCase();
}

/** `host:port`, the queue key of a device. */
export function hostAndPort(ip: string, port: string): string {
  const host = sshHostOf(ip);
  return `${host.includes(':') ? `[${host}]` : host}:${port.replace(/^0+(?=\d)/, '')}`;
}

function trustOf({ known_hosts: text, host_key_fingerprint: fingerprints }: SshParameters): HostTrust {
  if (fingerprints !== undefined) return { kind: 'pinned', fingerprints };
  if (text?.trim() === INSECURE) return { kind: 'insecure' };
  const parsed = parseKnownHosts(text ?? '');
  return { kind: 'known-hosts', entries: 'entries' in parsed ? parsed.entries : [] };
}
