/**
 * What happened, as seen from outside the controller: one line of JSON each in the drill (every process writes its own file), one array in
 * the simulation. The laws are judged from these alone. `at` is milliseconds on one clock for the whole run.
 */
export type TraceEvent = DeviceEvent | PowerEvent | ApiEvent | DiskEvent | NodeEvent | ControllerEvent | FaultEvent | OperatorEvent | DumpEvent;

interface Traced {
  at: number;
}

/** A request that a device answered. */
export interface DeviceEvent extends Traced {
  kind: 'device';
  /** Address or name of the device. */
  device: string;
  plug: string;
  /** The machine that the device really switches. */
  node: string;
  /** `identity`: it showed the machine's UUID (may be the same answer as a read). `run`: a program was begun on it. */
  action: 'login' | 'identity' | 'read' | 'set' | 'run';
  want?: 'on' | 'off';
  /** HTTP status or completion, and for reads the state shown: `200 Off`. `lost`: a set that was sent and did not arrive, as only the simulation can tell. */
  answer: string;
  /** For reads: the power state shown. */
  shown?: 'on' | 'off' | 'pending' | 'unknown';
  /** It opens (`on`) and closes (`off`) a path to this storage, and no power. */
  storage?: string;
  /** Connection or session the request came over. */
  session: string;
  /** Asked by a BareMetalOperator, and not by a controller of ours; found out when a run is judged. */
  isForeign?: true;
}

/** The machine's true power changed. */
export interface PowerEvent extends Traced {
  kind: 'power';
  node: string;
  state: 'on' | 'off';
  /** `reset`: its power stays on, and nothing that ran on it does any more. */
  cause: 'set' | 'panic' | 'restore' | 'start' | 'reset';
  /** Of a set that was foreign. */
  isForeign?: true;
}

/** A request as the API server's audit saw it, after it was answered. Watches are recorded when opened. */
export interface ApiEvent extends Traced {
  kind: 'api';
  user: string;
  verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  /** `plural.group`, or `plural` for the core group. */
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  status: number;
  /** Body of a write, parsed. */
  request?: unknown;
  /** The object as stored after a successful write (for a delete: as it was). */
  object?: unknown;
}

/** A workload process wrote to the shared disk. */
export interface DiskEvent extends Traced {
  kind: 'disk';
  volume: string;
  node: string;
  podUID: string;
  counter: number;
}

/** Something happened to the machine or kubelet (from the simulated world, not from the API). */
export interface NodeEvent extends Traced {
  kind: 'node';
  node: string;
  what: 'boot' | 'panic' | 'hang' | 'kubelet-up' | 'kubelet-down' | 'pod-start' | 'pod-stop';
  bootID?: string;
  pod?: string;
}

export interface ControllerEvent extends Traced {
  kind: 'controller';
  /** Lease holder identity. */
  id: string;
  /** `clock-set`: its clock on the wall. */
  what: 'start' | 'crash' | 'pause' | 'resume' | 'stop' | 'clock-set';
}

/** The fault was injected; times in the drill's timeline count from here. `etcd-restored`: what the API server shows is older from here on. */
export interface FaultEvent extends Traced {
  kind: 'fault';
  fault: string;
  node: string;
}

/** A BareMetalOperator has told a device something; written when the device had answered, or when the wait for it was over. */
export interface OperatorEvent extends Traced {
  kind: 'operator';
  node: string;
  device: string;
  want: 'on' | 'off';
  /** From the begin of the call until `at`. */
  tookMs: number;
  answer: string;
}

/** A kdump message with the address of a node reached a controller; as only the simulation can tell, and a drill that sends it over the loopback. */
export interface DumpEvent extends Traced {
  kind: 'dump';
  node: string;
  /** Of the controller, as its devices know it. */
  session: string;
}
