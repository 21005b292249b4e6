import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { firstCredentials, type CredentialSource } from '../shared/cloud/credentials.ts';
import { hostFile } from '../shared/cloud/host-file.ts';
import type { HetznerSettings } from './parameters.ts';

export interface FoundToken {
  text: string;
  /** `environment`, for messages. */
  source: string;
}

/** The first place that has a token, in the order of the cloud controller manager of Hetzner. Nothing tells when it ends. */
export async function tokenOf({ token, foreignHost }: HetznerSettings, host: HostEnvironment, call: Call): Promise<FoundToken> {
  const parameters: CredentialSource<string> = {
    name: 'parameters',
    find: () => Promise.resolve(token === undefined ? { absent: 'no token' } : { credentials: token }),
  };
  const { credentials, source } = await firstCredentials(call, [parameters, ofEnvironment(host), ofFile(host)], foreignHost);
  return { text: credentials, source };
}

function ofEnvironment(host: HostEnvironment): CredentialSource<string> {
  return {
    name: 'environment',
    isOfProcess: true,
    find: () => {
      const text = host.variable('HCLOUD_TOKEN')?.trim();
      return Promise.resolve(text === undefined || text === '' ? { absent: 'HCLOUD_TOKEN is not set' } : { credentials: text });
    },
  };
}

function ofFile(host: HostEnvironment): CredentialSource<string> {
  return {
    name: 'token file',
    isOfProcess: true,
    find: async (call) => {
      const path = host.variable('HCLOUD_TOKEN_FILE');
      if (path === undefined) return { absent: 'HCLOUD_TOKEN_FILE is not set' };
      const text = (await hostFile(host, call, path))?.trim();
      if (text === undefined || text === '') throw call.error('Misconfigured', `file ${path} of HCLOUD_TOKEN_FILE has no token`);
      return { credentials: text };
    },
  };
}
