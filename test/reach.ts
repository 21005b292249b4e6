import { ApiClient } from '../src/kube/client.ts';
import type { ApiTransport } from '../src/ports/api-transport.ts';
import type { Cluster } from '../src/ports/cluster.ts';

/** How an agent reaches the API server of a test bed: by the client that ships. */
export function reach(transport: ApiTransport): Cluster {
  return new ApiClient({ transport });
}
