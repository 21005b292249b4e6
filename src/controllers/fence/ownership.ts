export { FINALIZER } from '../shared/ownership.ts';

/** Marks of ours on objects of others: what carries them we may take back, nothing else (P8). */
export const OUT_OF_SERVICE_OWNER = 'nodefence.ha.k8s.io/out-of-service-by';
