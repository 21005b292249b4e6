import type { Cluster } from '../../ports/cluster.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Resource } from '../../ports/cluster.ts';
import {
  CSI_DRIVER,
  NAMESPACES,
  OLD_POD_DISRUPTION_BUDGETS,
  PERSISTENT_VOLUMES,
  POD_DISRUPTION_BUDGETS,
  STATEFUL_SETS,
  STORAGE_CLASSES,
} from './kinds.ts';
import type { PersistentVolume, StatefulSet } from './kinds.ts';

export interface SceneOptions {
  /** Namespace of the workload. */
  namespace: string;
  /** Pods of the StatefulSet `db`, each with one ReadWriteOnce volume. */
  replicas: number;
  terminationGracePeriodSeconds: number;
}

export const DEFAULT_SCENE: SceneOptions = { namespace: 'default', replicas: 3, terminationGracePeriodSeconds: 1 };

const STORAGE_CLASS = 'drill';
const LABELS = { app: 'db' };

/** Creates the workload and what it needs; what stands already is left as it is. Nodes come from kubelets. */
export async function createScene(cluster: Pick<Cluster, 'create'>, options: SceneOptions = DEFAULT_SCENE): Promise<void> {
  const ensure = async <T extends KubeObject>(resource: Resource<T>, object: T): Promise<void> => {
    try {
      await cluster.create(resource, object);
    } catch (error) {
      if (!(error instanceof ApiStatusError && error.status === 409)) throw error;
    }
  };
  for (const name of new Set(['default', 'kube-system', 'kube-node-lease', options.namespace])) await ensure(NAMESPACES, { metadata: { name } });
  await ensure(STORAGE_CLASSES, storageClass());
  for (let ordinal = 0; ordinal < options.replicas; ordinal += 1) await ensure(PERSISTENT_VOLUMES, volume(ordinal, options));
  await ensure(POD_DISRUPTION_BUDGETS, disruptionBudget(options)).catch(async (error: unknown) => {
    if (!(error instanceof ApiStatusError && error.status === 404)) throw error;
    await ensure(OLD_POD_DISRUPTION_BUDGETS, disruptionBudget(options));
  });
  await ensure(STATEFUL_SETS, statefulSet(options));
}

function storageClass(): KubeObject {
  return { metadata: { name: STORAGE_CLASS }, ...{ provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'Immediate' } };
}

function volume(ordinal: number, options: SceneOptions): PersistentVolume {
  const name = `disk-${String(ordinal)}`;
  return {
    metadata: { name },
    spec: {
      storageClassName: STORAGE_CLASS,
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      persistentVolumeReclaimPolicy: 'Retain',
      csi: { driver: CSI_DRIVER, volumeHandle: name },
      claimRef: { namespace: options.namespace, name: `data-db-${String(ordinal)}` },
    },
  };
}

function disruptionBudget(options: SceneOptions): KubeObject {
  const spec = { maxUnavailable: 1, selector: { matchLabels: LABELS } };
  return { metadata: { name: 'db', namespace: options.namespace }, ...{ spec } };
}

function statefulSet(options: SceneOptions): StatefulSet {
  return {
    metadata: { name: 'db', namespace: options.namespace, labels: LABELS },
    spec: {
      replicas: options.replicas,
      serviceName: 'db',
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: { containers: [{ name: 'db', image: 'drill' }], terminationGracePeriodSeconds: options.terminationGracePeriodSeconds },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { storageClassName: STORAGE_CLASS, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  };
}
