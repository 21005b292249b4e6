import { isIP } from 'node:net';

import type { ParameterProblem } from '../../src/ports/agents.ts';
import { parseBoolean } from '../shared/parameter-schema.ts';
import type { FenceMetadata } from './metadata.ts';

/** Why the program needs the name: by it, it knows whom to believe. */
export type NameUse = 'certificate' | 'host key';

/**
 * Undefined: the address will do, and the program is given the one that was checked. Where TLS may be spoken and the certificate is looked at, the name is
 * in it; where SSH is, the host key is known by it.
 */
export function nameUse({ parameters }: FenceMetadata, named: Readonly<Record<string, string>>): NameUse | undefined {
  const isYes = (name: string): boolean => parseBoolean(named[name] ?? parameters.get(name)?.default ?? 'no') === true;
  if (isYes('ssh') || isYes('secure')) return 'host key';
  const mayUseTls = ['ssl', 'ssl_secure', 'ssl_insecure'].some((name) => parameters.has(name));
  return mayUseTls && !isYes('ssl_insecure') ? 'certificate' : undefined;
}

/** Which of its addresses a name is asked for. */
export function familyOf(named: Readonly<Record<string, string>>): 4 | 6 | undefined {
  const isYes = (name: string): boolean => parseBoolean(named[name] ?? 'no') === true;
  return isYes('inet6_only') ? 6 : isYes('inet4_only') ? 4 : undefined;
}

/** A certificate that is checked keeps a stranger out; of host keys the library believes each that it sees first. */
export function nameWarnings(program: string, metadata: FenceMetadata, named: Readonly<Record<string, string>>): ParameterProblem[] {
  const parameter = named['ip'] === undefined ? 'ipaddr' : 'ip';
  const host = named[parameter];
  if (host === undefined || isIP(host) !== 0 || nameUse(metadata, named) !== 'host key') return [];
  const message = `is a name, which ${program} looks up again after its address was checked against --device-addresses: write the address`;
  return [{ parameter, message }];
}
