import type { Parameters } from '../../src/ports/agents.ts';
import { parsed } from '../shared/parameter-schema.ts';
import { trustOf } from '../shared/web/parameters.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';
import { textAt } from '../shared/web/web-client.ts';
import { isOfGoogle } from './endpoints.ts';
import { jsonOf } from '../shared/cloud/host-file.ts';
import { gceParameters } from './parameters.ts';

/** What instances share that are reached by the same account. */
export interface GceSettings {
  serviceaccount: string | undefined;
  endpoint: string | undefined;
  trust: Trust;
}

/** Kinds of credentials that hold all they need, and nothing of this process. */
const OWN = new Set(['service_account', 'authorized_user']);

export function settingsOf(parameters: Parameters): GceSettings | { problems: readonly string[] } {
  const result = parsed(gceParameters, parameters);
  if (!result.success) return { problems: result.error.issues.map(({ path, message }) => `${String(path[0] ?? '')} ${message}`) };
  const { serviceaccount, endpoint } = result.data;
  // Else whoever may write a method could have the token of this process sent to a host of theirs.
  if (endpoint !== undefined && !isOfGoogle(endpoint) && !isOwn(serviceaccount))
    return {
      problems: [
        'endpoint is no host of googleapis.com: it needs a serviceaccount with the JSON of a key, for no credentials of this process are sent there',
      ],
    };
  return { serviceaccount, endpoint, trust: trustOf(result.data) };
}

function isOwn(serviceaccount: string | undefined): boolean {
  const type = textAt(jsonOf(serviceaccount ?? ''), 'type');
  return type !== undefined && OWN.has(type);
}
