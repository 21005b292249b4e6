import { ApiStatusError } from '../../ports/api-transport.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import { parseGoDuration } from '../shared/go-duration.ts';
import type { HealthCheckFacts, LabelSelector } from './snapshot.ts';

interface Spec {
  selector?: LabelSelector;
  clusterName?: unknown;
  /** metav1.Duration: v1beta1 of Cluster API, and OpenShift. */
  nodeStartupTimeout?: unknown;
  /** v1beta2. */
  checks?: { nodeStartupTimeoutSeconds?: unknown };
}

/** The health checks of one namespace, as far as they say how long a node may take. None where the kind is not served or may not be read. */
export async function readHealthChecks(
  cluster: Pick<Cluster, 'list'>,
  resource: Resource<UntypedObject>,
  namespace: string,
): Promise<HealthCheckFacts[]> {
  try {
    return (await cluster.list(resource, { namespace })).map(factsOf);
  } catch (error) {
    if (error instanceof ApiStatusError && (error.status === 404 || error.status === 403)) return [];
    throw error;
  }
}

function factsOf({ metadata, spec }: UntypedObject): HealthCheckFacts {
  const { selector = {}, clusterName, nodeStartupTimeout, checks } = (spec ?? {}) as Spec;
  const seconds = checks?.nodeStartupTimeoutSeconds;
  const toldMs = typeof nodeStartupTimeout === 'string' ? parseGoDuration(nodeStartupTimeout) : undefined;
  const timeoutMs = typeof seconds === 'number' ? seconds * 1_000 : toldMs;
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    selector,
    ...(typeof clusterName === 'string' && { clusterName }),
    ...(timeoutMs !== undefined && { nodeStartupTimeoutMs: timeoutMs }),
  };
}
