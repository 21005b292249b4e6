/** Marks of ours on objects of others: what carries them we may take back, nothing else (P8). */
export const OUT_OF_SERVICE_OWNER = 'nodefence.ha.k8s.io/out-of-service-by';
export const FINALIZER = 'nodefence.ha.k8s.io/fence';
export const NODE_LABEL = 'nodefence.ha.k8s.io/node';
export const TRIGGER_LABEL = 'nodefence.ha.k8s.io/trigger';
