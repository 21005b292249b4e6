/**
 * Account of the daemons. Its tokens say on which node they are used: those of a DaemonSet's pods by the pod, those for systemd because they are asked for so
 * (`kubectl create token nodefence-node --bound-object-kind Node --bound-object-name NODE`). A kubelet's own credential will not do: NodeRestriction keeps it
 * to the Leases of kube-node-lease.
 */
export const NODE_ACCOUNT = 'nodefence-node';
/** For how long a daemon by systemd may have a token: a node that was off for longer is given one by hand. */
export const TOKEN_SECONDS_MAX = 7 * 24 * 3_600;
