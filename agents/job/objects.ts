/** On a Job and its pods: its name, and the device and plug that it is for. */
export const JOB_LABEL = 'nodefence.ha.k8s.io/job';
export const DEVICE_LABEL = 'nodefence.ha.k8s.io/job-device';
export const NODE_ANNOTATION = 'nodefence.ha.k8s.io/node';
export const ACTION_ANNOTATION = 'nodefence.ha.k8s.io/action';
export const INTENT_ANNOTATION = 'nodefence.ha.k8s.io/intent';
/** The file of arguments, by the downward API. */
export const ARGUMENTS_ANNOTATION = 'nodefence.ha.k8s.io/arguments';

export type JobAction = 'on' | 'off' | 'status' | 'run';
