import type { Parameters } from '../../src/ports/agents.ts';
import { parsed } from '../shared/parameter-schema.ts';
import { trustOf } from '../shared/web/parameters.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';
import type { IdentityFields } from './identity.ts';
import { openstackParameters, openstackProblems } from './parameters.ts';

/** What servers share that are reached by the same account. */
export interface OpenStackSettings {
  /** As written; where it has no password and no secret, only its auth URL counts. */
  own: IdentityFields;
  cloud: string | undefined;
  openrc: string | undefined;
  region: string | undefined;
  interface: string | undefined;
  comparesUUID: boolean;
  /** Its `ca` may be the path of a file. */
  trust: Trust;
}

/** Typed settings of complete parameters, or the problems in words. */
export function settingsOf(parameters: Parameters): OpenStackSettings | { problems: readonly string[] } {
  const problems = openstackProblems(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  const result = parsed(openstackParameters, parameters);
  if (!result.success || problems.length > 0) return { problems };
  const { cloud, openrc, region, interface: kind, system_uuid: comparesUUID, ...value } = result.data;
  const { ca, ssl_fingerprint, ssl_insecure, ssl_min_version, login_timeout, apitimeout: _unused, ...own } = value;
  return {
    own,
    cloud,
    openrc,
    region,
    interface: kind,
    comparesUUID,
    trust: trustOf({ ca, ssl_fingerprint, ssl_insecure, ssl_min_version, login_timeout }),
  };
}
