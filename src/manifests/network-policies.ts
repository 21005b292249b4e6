import type { KubeObject } from '../ports/objects.ts';
import { LABELS, NAMESPACE } from './access.ts';
import { COMPONENT } from './deployment.ts';
import { METRICS_PORT } from './metrics-access.ts';
import { DAEMON_PORT, NODE_COMPONENT } from './node-daemonset.ts';

/** On namespaces whose pods may ask for metrics. */
const METRICS_NAMESPACES = { 'nodefence.ha.k8s.io/metrics': 'allowed' };

interface Port {
  protocol: 'TCP' | 'UDP';
  port: number;
}

/** What one direction of a policy says. No `from` or `to`: everybody. */
export interface Passage {
  from?: object[];
  ports: Port[];
}

export interface NetworkPolicy extends KubeObject {
  spec: { podSelector: object; policyTypes: ('Ingress' | 'Egress')[]; ingress?: Passage[]; egress?: Passage[] };
}

function policy(name: string, spec: NetworkPolicy['spec']): NetworkPolicy {
  return { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name, namespace: NAMESPACE, labels: LABELS }, spec };
}

function tcp(...ports: number[]): Port[] {
  return ports.map((port) => ({ protocol: 'TCP', port }));
}

function udp(...ports: number[]): Port[] {
  return ports.map((port) => ({ protocol: 'UDP', port }));
}

/**
 * Who may speak to our pods. The node that a pod runs on always may, so that probes need no line. Daemons on the network of their node come with its address,
 * which no selector knows: each datagram is checked by its key instead.
 */
export const NETWORK_POLICIES: readonly NetworkPolicy[] = [
  // Pods of agent `job` too: nobody has to speak to them.
  policy('nodefence', { podSelector: {}, policyTypes: ['Ingress'] }),
  policy('nodefence-controller', {
    podSelector: { matchLabels: COMPONENT },
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ namespaceSelector: { matchLabels: METRICS_NAMESPACES } }], ports: tcp(METRICS_PORT) }, { ports: udp(DAEMON_PORT) }],
  }),
  policy('nodefence-node', { podSelector: { matchLabels: NODE_COMPONENT }, policyTypes: ['Ingress'], ingress: [{ ports: udp(DAEMON_PORT) }] }),
];

/** The name service and the API server, at whatever address. */
const CLUSTER: Passage[] = [{ ports: [...udp(53), ...tcp(53)] }, { ports: tcp(443, 6443) }];

/** By which devices are reached at their usual ports: SSH, HTTP and TLS (Redfish, clouds, filers), Keystone, Proxmox, Nova, SNMP, IPMI. */
export const DEVICE_PORTS: Port[] = [...tcp(22, 80, 443, 5000, 8006, 8774), ...udp(161, 623)];
/** What is asked before many nodes are fenced: a gateway by its name service, etcd, Prometheus. */
export const WITNESS_PORTS: Port[] = tcp(53, 2381, 9090);

/**
 * And whom they may speak to, by port. Not part of the above: whoever forgets a port has a node that is not fenced. A device elsewhere needs a line more.
 */
export const EGRESS_POLICIES: readonly NetworkPolicy[] = [
  policy('nodefence-controller-egress', {
    podSelector: { matchLabels: COMPONENT },
    policyTypes: ['Egress'],
    egress: [...CLUSTER, { ports: DEVICE_PORTS }, { ports: WITNESS_PORTS }, { ports: udp(DAEMON_PORT) }],
  }),
  policy('nodefence-node-egress', {
    podSelector: { matchLabels: NODE_COMPONENT },
    policyTypes: ['Egress'],
    egress: [...CLUSTER, { ports: udp(DAEMON_PORT) }],
  }),
];
