import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { CredentialSource } from '../shared/cloud/credentials.ts';
import { WebFailure, type WebAnswer } from '../shared/web/web-client.ts';
import { hostFile } from '../shared/cloud/host-file.ts';
import { tokenOf, type Grant, type TokenReach } from './oauth.ts';

/** Link-local, so that no name has to be resolved. */
const ADDRESS = '169.254.169.254';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
const FLAVOR = 'Metadata-Flavor';
/** What the firmware of an instance of this cloud says. */
const PRODUCT_NAME = '/sys/class/dmi/id/product_name';

/** The service account of the instance, or of the pod's Kubernetes service account with GKE's workload identity (AIP-4115). */
export function metadataSource(reach: TokenReach, host: HostEnvironment): CredentialSource<Grant> {
  return {
    name: 'metadata server',
    find: async (call) => {
      if (host.variable('NO_GCE_CHECK') === 'true') return { absent: 'NO_GCE_CHECK is true' };
      const named = host.variable('GCE_METADATA_HOST');
      const answer = await answerOf(reach, call, named ?? ADDRESS);
      if (answer instanceof WebFailure) {
        // Where there has to be one, it is only away.
        if (named !== undefined || (await isInstance(host, call)))
          throw call.error('Unreachable', `metadata server ${named ?? ADDRESS}: ${answer.message}`);
        return { absent: `${ADDRESS}: ${answer.message}` };
      }
      if (answer.headers[FLAVOR.toLowerCase()] !== 'Google') return { absent: 'what answers there is no metadata server of Google' };
      if (answer.status === 404) return { absent: 'the instance has no service account' };
      const token = tokenOf(reach, call, answer, 'metadata server', []);
      return { credentials: () => Promise.resolve(token) };
    },
  };
}

async function answerOf({ web }: TokenReach, call: Call, host: string): Promise<WebAnswer | WebFailure> {
  try {
    return await web.exchange(call, { method: 'GET', url: `http://${host}${PATH}`, headers: { [FLAVOR]: 'Google' } });
  } catch (error) {
    if (error instanceof WebFailure && error.kind !== 'ended') return error;
    throw error;
  }
}

async function isInstance(host: HostEnvironment, call: Call): Promise<boolean> {
  return (await hostFile(host, call, PRODUCT_NAME))?.startsWith('Google') === true;
}
