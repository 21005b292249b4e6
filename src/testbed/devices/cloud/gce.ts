import { CloudServer, type CloudAnswer, type CloudProtocol, type CloudRequest } from './cloud-server.ts';
import type { CloudKind, CloudService, CloudServiceOptions } from './cloud-service.ts';
import { EmulatedInstance, type CloudMachine } from './emulated-instance.ts';
import type { CloudFaults } from './faults.ts';
import { failure, GceCompute, PROJECT, ZONE, type ComputeExtras } from './gce-compute.ts';
import { GceIdentity, type GceCredentials } from './gce-identity.ts';

/**
 * Google Compute Engine, written from its documents alone, for there is no emulator of others that can stop an instance: the discovery document of Compute
 * Engine v1 (revision 20261106), AIP-4110 to 4117 about credentials, and the page `Compute Engine rate quotas`. No real one was at hand to compare with.
 */
export interface GceService extends CloudService {
  instances: readonly EmulatedInstance[];
  credentials: GceCredentials;
  /** Host and port of the metadata server. */
  metadataHost: string;
  /** Queries of stops and starts that arrived, oldest first. */
  queries: readonly URLSearchParams[];
  idOf(instance: EmulatedInstance): string;
  /** Answers in its place, where it gives an answer. */
  echo(answer: (request: CloudRequest) => CloudAnswer | undefined): void;
}

const FIRST_ID = 7_000_000_000_000_000_001n;
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^POST \/compute\/v1\/.*\/instances\/[^/]+\/(\w+)$/, 'POST '],
  [/^GET \/compute\/v1\/.*\/instances\/[^/]+$/, 'GET instance'],
  [/^DELETE \/compute\/v1\/.*\/instances\/[^/]+$/, 'DELETE instance'],
  [/^GET \/compute\/v1\/.*\/instances$/, 'GET instances'],
  [/^GET \/compute\/v1\/.*\/operations\/[^/]+$/, 'GET operation'],
  [/^POST \/token$/, 'POST token'],
  [/^POST \/v1\/token$/, 'POST sts'],
  [/^POST \/v1\/projects\/-\/serviceAccounts\/[^/]+:generateAccessToken$/, 'POST generateAccessToken'],
  [/^GET \/subject$/, 'GET subject'],
  [/^GET \/computeMetadata\/v1\/instance\/service-accounts\/default\/token$/, 'GET metadata token'],
];

function nameOf({ method, path }: CloudRequest): string {
  const asked = `${method} ${path}`;
  for (const [pattern, name] of NAMES) {
    const found = pattern.exec(asked);
    if (found !== null) return `${name}${found[1] ?? ''}`;
  }
  return asked;
}

class GceProtocol implements CloudProtocol {
  readonly nameOf = nameOf;
  other: (request: CloudRequest) => CloudAnswer | undefined = () => undefined;
  readonly #identity: GceIdentity;
  readonly #compute: GceCompute;
  readonly #url: () => string;

  constructor(identity: GceIdentity, compute: GceCompute, url: () => string) {
    this.#identity = identity;
    this.#compute = compute;
    this.#url = url;
  }

  isSet(name: string): boolean {
    return name === 'POST stop' || name === 'POST start' || name === 'DELETE instance';
  }

  answer(request: CloudRequest, name: string): CloudAnswer {
    const other = this.other(request);
    if (other !== undefined) return other;
    const identity = this.#identity;
    switch (name) {
      case 'POST token':
        return identity.token(request, this.#url());
      case 'POST sts':
        return identity.exchange(request);
      case 'POST generateAccessToken':
        return identity.impersonate(request);
      case 'GET subject':
        return identity.subject(request);
      case 'GET metadata token':
        return identity.metadata(request);
    }
    if (!request.path.startsWith('/compute/v1/')) return failure(404, 'notFound', 'Not Found');
    if (!identity.isGood(request.headers['authorization']))
      return failure(401, 'authError', 'Request had invalid authentication credentials. Expected OAuth 2 access token.');
    return this.#compute.answer(request, name);
  }

  failure({ status, code, message }: { status: number; code: string; message: string }): CloudAnswer {
    return failure(status, code, message);
  }

  tooOften(): CloudAnswer {
    return failure(403, 'rateLimitExceeded', "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute'");
  }
}

export async function startGce(options: CloudServiceOptions & ComputeExtras): Promise<GceService> {
  let faults: CloudFaults = {};
  const instances = options.machines.map(
    (machine, index) => new EmulatedInstance(String(FIRST_ID + BigInt(index)), machine, options.clock, () => faults),
  );
  const identity = new GceIdentity(() => faults);
  let url = '';
  const urlOf = (): string => url;
  const compute = new GceCompute(instances, () => faults, options, urlOf);
  const protocol = new GceProtocol(identity, compute, urlOf);
  const { host, certificate } = options;
  const api = await CloudServer.start({ host, protocol, ...(certificate === undefined ? {} : { certificate }) });
  // The metadata server speaks plain HTTP, whatever the others do; what is wrong with the API is not wrong with it.
  const metadata = await CloudServer.start({ host, protocol });
  url = api.url;
  const metadataHost = `${host}:${metadata.port}`;
  return {
    url,
    variables: { GCE_METADATA_HOST: metadataHost, CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${url}/compute/v1/` },
    files: {},
    settings: {},
    instances,
    credentials: identity.credentials(url),
    metadataHost,
    queries: compute.queries,
    idOf: (instance) => compute.idOf(instance),
    echo: (answer) => {
      protocol.other = answer;
    },
    get requests() {
      return [...metadata.requests, ...api.requests];
    },
    leftOpen: () => ({ sessions: 0, connections: api.connections + metadata.connections }),
    setFaults: (next) => {
      faults = next;
      api.faults = next;
      if (next.forgetsTokens === true) identity.forgetAll();
    },
    close: async () => {
      for (const instance of instances) instance.close();
      await Promise.all([api.close(), metadata.close()]);
    },
  };
}

export const gceCloud: CloudKind = {
  providerID: ({ node }: Pick<CloudMachine, 'node' | 'uuid'>) => `gce://${PROJECT}/${ZONE}/${node}`,
  start: startGce,
};
