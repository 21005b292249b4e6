const pod = (name: string): string => `
  - name: ${name}
    podTemplate:
      spec:
        containers: [{name: ${name}, image: 'IMAGE:VERSION', command: [binary]}]
        restartPolicy: Never`;

/** Two remedies and a recovery, each a pod. */
export const DEADLOCK = `
apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
  - nodeConditionType: KernelDeadlock
    nodeConditionStatus: true
    nodeConditionPeriod: 30s
    latched: false
    remedy1: [{name: repair}, {period: 1m}]
    remedy2: [{name: replace}, {period: 1m}]
    recovery: [{name: undo}]
    maxAttempts: 1
remedyConfigs:${pod('repair')}${pod('replace')}${pod('undo')}
`;
