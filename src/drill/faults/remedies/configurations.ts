/** A remedy that is a pod with one of the programs of the drill. */
function job(name: string, program: string, more = ''): string {
  return `
  - name: ${name}
    runOn: ${more.includes('runOn') ? 'target' : 'other'}
    podTemplate:
      spec:
        containers: [{ name: ${name}, image: 'drill/${program}' }]
        restartPolicy: Never
        terminationGracePeriodSeconds: 1${more.replace('runOn', '')}`;
}

function configuration(thresholds: string, remedies = ''): string {
  return `apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:${thresholds}${remedies === '' ? '' : `\nremedyConfigs:${remedies}`}
`;
}

/** Seconds of the Configurations that are played. */
export const PERIODS = { deadlock: 3, readOnly: 2, restarted: 3, stale: 6, full: 3 } as const;
export const WEDGED_DEADLINE_SECONDS = 3;

const condition = (type: string, periodSeconds: number): string => `
  - nodeConditionType: ${type}
    nodeConditionStatus: true
    nodeConditionPeriod: ${periodSeconds}s
    maxAttempts: 1`;

/** Drained first; what is left of the trouble then is answered by a fence. */
export const DEADLOCK = configuration(`${condition('KernelDeadlock', PERIODS.deadlock)}
    heartbeatPeriod: 3s
    remedy1: [{ name: drain }, { period: 4s }]
    remedy2: [{ name: fence }, { period: 5m }]
    recovery: [{ name: uncordon }]`);

/** Three pods: the first is wedged, the second fails, the third helps. */
export const READ_ONLY = configuration(
  `${condition('ReadonlyFilesystem', PERIODS.readOnly)}
    heartbeatPeriod: 3s
    remedy1: [{ name: remount }, { period: 2s }]
    remedy2: [{ name: repair }, { period: 2s }]
    remedy3: [{ name: check }, { period: 5m }]
    recovery: [{ name: welcome }]`,
  job('remount', 'hang', `runOn\n        activeDeadlineSeconds: ${WEDGED_DEADLINE_SECONDS}`) +
    job('repair', 'fail') +
    job('check', 'succeed', 'runOn') +
    job('welcome', 'succeed'),
);

/** What is due while the monitor reads clear is not begun. */
export const RESTARTED = configuration(
  `${condition('KernelDeadlock', PERIODS.restarted)}
    heartbeatPeriod: 3s
    remedy1: [{ name: repair }, { period: 4s }]
    remedy2: [{ name: drain }, { period: 5m }]
    recovery: [{ name: uncordon }]`,
  job('repair', 'succeed-slowly'),
);

/** Heartbeats stand still before the period of one is over, and before the second remedy of another. */
export const STALE = configuration(
  `${condition('KernelDeadlock', PERIODS.stale)}
    heartbeatPeriod: 2s
    remedy1: [{ name: repair }, { period: 8s }]
    remedy2: [{ name: drain }, { period: 5m }]
    recovery: [{ name: uncordon }]${condition('ReadonlyFilesystem', PERIODS.stale)}
    heartbeatPeriod: 2s
    remedy1: [{ name: cordon }]`,
  job('repair', 'succeed'),
);

/** One pod, which takes its time. */
export const CRASHED = configuration(
  `${condition('KernelDeadlock', PERIODS.deadlock)}
    heartbeatPeriod: 3s
    remedy1: [{ name: repair }, { period: 5m }]`,
  job('repair', 'succeed-slowly'),
);

/** One drain, and nothing behind it. */
export const DRAINED = configuration(`${condition('KernelDeadlock', PERIODS.deadlock)}
    heartbeatPeriod: 3s
    remedy1: [{ name: drain }, { period: 5m }]`);

/** As the seed prints it, with a shorter period. */
export const FULL = configuration(`${condition('DiskPressure', PERIODS.full)}
    remedy1:
     - name: storage-fence
     - clean-resourece: true
     - period: 5m
    recovery:
     - name: recovery`);
