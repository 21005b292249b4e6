import { parsePreservationPools } from '../../config/preservation-pools.ts';
import { Problems } from '../../config/problems.ts';
import type { PreservationDependencies } from '../../controllers/preservation/dependencies.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { ConfigMap } from '../../ports/objects.ts';

/** Name of the ConfigMap in the fence namespace. */
export const POOLS_CONFIG = 'preservation-pools';

/** The pools as they are configured at each look; read anew when the ConfigMap has changed. */
export function configuredPools(configMaps: Pick<Lister<ConfigMap>, 'get'>, namespace: string): PreservationDependencies['pools'] {
  let known: { data: ConfigMap['data']; read: ReturnType<PreservationDependencies['pools']> } | undefined;
  return () => {
    const data = configMaps.get(`${namespace}/${POOLS_CONFIG}`)?.data;
    if (known !== undefined && known.data === data) return known.read;
    const problems = new Problems();
    const pools = parsePreservationPools(data ?? {}, problems);
    const read = { pools, problems: problems.all().map(({ where, message }) => `${where}: ${message}`) };
    known = { data, read };
    return read;
  };
}
