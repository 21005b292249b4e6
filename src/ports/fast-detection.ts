/** A node that is taken for failed though Kubernetes still counts it as Ready. */
export interface FastFailure {
  /** When its daemon was last heard; RFC 3339. */
  since: string;
  /** Why, one sentence. */
  message: string;
}

/** What the fence controller is given of the node daemons. */
export interface FastDetection {
  /** Undefined: it is not taken for failed. Asked again in the turn in which anything is sent. */
  failureOf(node: string): FastFailure | undefined;
  /** When a heartbeat of its daemon was last received here, or a node asked that saw it renew its slot on storage; monotonic. Undefined: neither was. */
  heardAtMs(node: string): number | undefined;
  /** It renews its slot on shared storage, as it says or as others see; undefined: nothing is known of it. Absent: nobody looks. */
  renewsLease?(node: string): boolean | undefined;
  /** Whether it reaches its storage, and whether its peers do, as their daemons say now. Absent: nobody listens. */
  reachesStorage?(node: string): { hostReaches: boolean | undefined; peersReach: boolean | undefined } | undefined;
}
