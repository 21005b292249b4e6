import { setTimeout as pause } from 'node:timers/promises';
import type { FaultStage } from '../../../src/drill/faults/script.ts';
import { CONTROLLER_USER } from '../../../src/drill/run/cluster-session.ts';
import { firstAnswer } from '../../../src/drill/run/pause.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../../src/manifests/access.ts';
import { API_FLOW, flowOf, levelOf } from './flow-control.ts';

const AWAY_MS = 8_000;
const THROTTLED_MS = 15_000;
const READERS = 20;
const CALL_MS = 5_000;
/** The API server believes a token for ten seconds that it has seen before. */
const REFUSED_WITHIN_MS = 20_000;
const UNAUTHORIZED = 401;
const WITHOUT_TOKEN_MS = 5_000;
const POLL_MS = 100;

/** What happens to the control plane while a machine is being switched off. */
export interface Disturbance {
  says: string;
  /** Requests are refused because of it: a server that has just begun knows no roles yet. */
  refuses?: true;
  play(stage: FaultStage): Promise<void>;
}

async function send({ session }: FaultStage, method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> {
  const response = await session.transport.request({ method, path, ...(body === undefined ? {} : { body }), deadlineMs: CALL_MS });
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
}

/** All requests of the controllers' account are in a priority level of its own, of so many shares, for a while. */
async function limited(stage: FaultStage, shares: number, during: (isOver: () => boolean) => Promise<void>): Promise<void> {
  await send(stage, 'POST', `${API_FLOW}/prioritylevelconfigurations`, levelOf(shares));
  await send(stage, 'POST', `${API_FLOW}/flowschemas`, flowOf(NAMESPACE, CONTROLLER_ACCOUNT));
  const untilMs = performance.now() + THROTTLED_MS;
  await during(() => performance.now() > untilMs);
  await send(stage, 'DELETE', `${API_FLOW}/flowschemas/nodefence-limited`);
  await send(stage, 'DELETE', `${API_FLOW}/prioritylevelconfigurations/nodefence-limited`);
}

/** Somebody with the same account reads as fast as it gets answers. */
async function read({ session }: FaultStage, isOver: () => boolean): Promise<void> {
  const transport = session.transportOf(CONTROLLER_USER);
  const reader = async (): Promise<void> => {
    while (!isOver()) await transport.request({ method: 'GET', path: '/api/v1/pods', deadlineMs: CALL_MS });
  };
  await Promise.all(Array.from({ length: READERS }, reader));
}

/** The account is made anew: every token of before is refused, and the file has another one some seconds later. */
async function exchangeAccount(stage: FaultStage): Promise<void> {
  const { session } = stage;
  const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  await send(stage, 'DELETE', `${accounts}/${CONTROLLER_ACCOUNT}`);
  await send(stage, 'POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: CONTROLLER_ACCOUNT } });
  const transport = session.transportOf(CONTROLLER_USER);
  const refused = async (): Promise<true | undefined> => {
    const { status } = await transport.request({ method: 'GET', path: '/api/v1/nodes', deadlineMs: CALL_MS });
    return status === UNAUTHORIZED ? true : undefined;
  };
  if ((await firstAnswer(refused, REFUSED_WITHIN_MS, POLL_MS)) === undefined) throw new Error('no token was refused');
  await pause(WITHOUT_TOKEN_MS);
  await session.bindController();
  session.kubeconfig(CONTROLLER_USER);
}

export const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  nothing: { says: 'nothing; what the others are measured by', play: () => Promise.resolve() },
  'api-server': {
    says: `kube-apiserver is killed, and started again ${AWAY_MS / 1_000} s later`,
    refuses: true,
    play: async ({ session: { controlPlane } }) => {
      controlPlane.pause('refuse');
      await pause(AWAY_MS);
      controlPlane.resume();
    },
  },
  etcd: {
    says: `etcd is killed, and started again ${AWAY_MS / 1_000} s later`,
    play: async ({ session: { controlPlane } }) => {
      controlPlane.restartStore(AWAY_MS);
      await pause(AWAY_MS);
    },
  },
  compaction: {
    says: 'kube-apiserver is started anew, and etcd compacted meanwhile: watches that go on are answered 410',
    refuses: true,
    play: async ({ session: { controlPlane } }) => {
      controlPlane.forgetHistory();
      await pause(AWAY_MS);
    },
  },
  throttled: {
    says: `API Priority and Fairness: one share for the controllers' account, ${READERS} readers beside, ${THROTTLED_MS / 1_000} s`,
    play: (stage) => limited(stage, 1, (isOver) => read(stage, isOver)),
  },
  refused: {
    says: `API Priority and Fairness: no share for the controllers' account, each request is answered 429, ${THROTTLED_MS / 1_000} s`,
    play: (stage) => limited(stage, 0, () => pause(THROTTLED_MS)),
  },
  token: {
    says: `the controllers' account is made anew: their tokens are refused, and exchanged ${WITHOUT_TOKEN_MS / 1_000} s later`,
    refuses: true,
    play: exchangeAccount,
  },
};
