import { z } from 'zod';

import type { InstanceAddress, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { checkParameters, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import { LOGIN_TIMEOUT, loginTimeout, trustDocumentation, trustOf, trustShape } from '../shared/web/parameters.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';

const ENDPOINT = 'https://api.hetzner.cloud/v1';
const NUMBER = /^[1-9]\d{0,18}$/;
/** Names of servers are host names (Hetzner Cloud API, "Create a server"). */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i;

const schema = z.object({
  token: z
    .string()
    .regex(/^[!-~]{1,512}$/, 'must be an API token')
    .optional(),
  endpoint: z
    .string()
    .regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/, `must be the URL of the API, such as ${ENDPOINT}`)
    .optional(),
  ...trustShape,
  login_timeout: loginTimeout,
});

export const hetznerParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    token: {
      description: 'API token of the project, with the permission to read and to write. Without it: the chain of credentials below.',
      aliases: ['password', 'passwd'],
      fromSecret: true,
      secret: true,
    },
    endpoint: {
      description:
        'URL of the API, where it is another one; `HCLOUD_ENDPOINT` without it. Another host is given no token but that of the parameters.',
    },
    ...trustDocumentation('endpoint', 'server'),
    login_timeout: LOGIN_TIMEOUT,
  },
};

/** One project of Hetzner Cloud; equal settings share one. */
export interface HetznerSettings {
  token: string | undefined;
  /** As written; the environment may name another. */
  endpoint: string | undefined;
  /** A host that parameters name and that is not Hetzner's; undefined: there is none. */
  foreignHost: string | undefined;
  trust: Trust;
}

export function hetznerProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  return checkParameters(hetznerParameters, parameters, withSecrets);
}

/** Typed settings of complete parameters, or the problems in words. */
export function hetznerSettings(parameters: Parameters): HetznerSettings | { problems: readonly string[] } {
  const problems = hetznerProblems(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  const result = parsed(hetznerParameters, parameters);
  if (!result.success || problems.length > 0) return { problems };
  const { token, endpoint, ...trust } = result.data;
  return { token, endpoint, foreignHost: endpoint === undefined ? undefined : foreignHostIn(endpoint), trust: trustOf(trust) };
}

function foreignHostIn(endpoint: string): string | undefined {
  const { origin, host } = new URL(endpoint);
  return origin === new URL(ENDPOINT).origin ? undefined : host;
}

/** Without a slash at the end. */
export function endpointOf(written: string | undefined, variable: string | undefined): string {
  return (written ?? variable ?? ENDPOINT).replace(/\/+$/, '');
}

export function isNumber(plug: string): boolean {
  return NUMBER.test(plug);
}

export function plugProblem(plug: string): string | undefined {
  if (plug === '') return 'plug is missing: the number of the server, or its name';
  return NUMBER.test(plug) || NAME.test(plug) ? undefined : `${plug.slice(0, 60)} is no number and no name of a server`;
}

/** `hcloud://NUMBER`. A dedicated server (`hrobot://NUMBER`) is no server of the cloud. Source: hcloud-cloud-controller-manager, internal/providerid. */
export function hetznerInstance(providerID: string): InstanceAddress | undefined {
  const [, plug = ''] = /^hcloud:\/\/(\d+)$/.exec(providerID) ?? [];
  return NUMBER.test(plug) ? { plug, parameters: {} } : undefined;
}
