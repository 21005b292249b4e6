/** What a controller may order the daemon of a node to do: a soft fence. None of it is ever evidence. */
export const ORDERED_ACTIONS = ['restart-kubelet', 'restart-container-runtime', 'reboot'] as const;
export type OrderedAction = (typeof ORDERED_ACTIONS)[number];

export interface Order {
  /** UUID in lower case: it is done once, however often it comes. */
  id: string;
  action: OrderedAction;
}

/** `taken`: it is being done. */
export const ORDER_STATES = ['taken', 'done', 'failed', 'refused'] as const;
export type OrderState = (typeof ORDER_STATES)[number];

/** Why a daemon refuses an order; `not-remembered`: that it was taken could not be written. */
const ORDER_REFUSALS = [
  'not-opted-in',
  'other-boot',
  'older-epoch',
  'expired',
  'unknown-past',
  'going-down',
  'rebooting',
  'under-way',
  'not-remembered',
] as const;
export type OrderRefusal = (typeof ORDER_REFUSALS)[number];

/** What became of an order, as the daemon attests it. */
export interface OrderOutcome extends Order {
  state: OrderState;
  /** One sentence for people, in printable ASCII. */
  words: string;
  /** Of one that was refused. Absent: an older daemon says it in words alone. */
  why?: OrderRefusal;
}

/** So many are attested, the newest last: whoever waits looks each second. */
export const ATTESTED_ORDERS_MAX = 4;
const WORDS_MAX = 200;

/** What a program on the node said, fit for an attestation. */
export function orderWords(text: string): string {
  return (
    text
      .replaceAll(/[^!-~]+/gu, ' ')
      .trim()
      .slice(0, WORDS_MAX) || 'nothing was said'
  );
}

/** Undefined: a word that this version does not know. */
export function orderRefusalOf(text: unknown): OrderRefusal | undefined {
  return ORDER_REFUSALS.find((known) => known === text);
}

export function isOrderedAction(text: unknown): text is OrderedAction {
  return ORDERED_ACTIONS.some((action) => action === text);
}

/** What is known when an order comes. It was sealed by the controllers' key. */
export interface OrderInputs {
  order: Order;
  /** The daemon was started with `--soft-fence`. */
  isOptedIn: boolean;
  isForThisBoot: boolean;
  /** How long ago the heartbeat was sent that carried it back; undefined: this process sent none such lately. */
  ageMs: number | undefined;
  validMs: number;
  /** Term of the leader that sent it, and the latest that this boot has heard of. */
  epoch: number;
  latestEpoch: number;
  /** Orders of this boot that are remembered, the newest last. */
  remembered: readonly OrderOutcome[];
  /** `false`: what an earlier process was ordered cannot be read, so that any order may have been done. */
  isPastKnown: boolean;
  /** The node takes itself down, or its daemon is being stopped. */
  isGoingDown: boolean;
}

/** `again`: it was decided before, and stays as it was. */
export type OrderDecision =
  | { id: 'begin'; decision: 'begin' }
  | { id: 'again'; decision: 'again' }
  | { id: OrderRefusal; decision: 'refuse'; why: string };

interface Row {
  id: OrderRefusal;
  applies: (inputs: OrderInputs) => boolean;
  why: (inputs: OrderInputs) => string;
}

/** The first that applies. */
const REFUSALS: readonly Row[] = [
  { id: 'not-opted-in', applies: ({ isOptedIn }) => !isOptedIn, why: () => 'the daemon of this node was not started with --soft-fence' },
  { id: 'other-boot', applies: ({ isForThisBoot }) => !isForThisBoot, why: () => 'it is for another boot of this node' },
  {
    id: 'older-epoch',
    applies: ({ epoch, latestEpoch }) => epoch < latestEpoch,
    why: ({ epoch, latestEpoch }) => `it comes from a leader of term ${epoch}, and one of term ${latestEpoch} was heard since`,
  },
  {
    id: 'expired',
    applies: ({ ageMs, validMs }) => ageMs === undefined || ageMs >= validMs,
    why: ({ validMs }) => `it answers no heartbeat of the last ${validMs / 1000} s: it is too old, or the daemon was started anew`,
  },
  {
    id: 'unknown-past',
    applies: ({ isPastKnown }) => !isPastKnown,
    why: () => 'what was ordered before cannot be read: see the log of the daemon',
  },
  { id: 'going-down', applies: ({ isGoingDown }) => isGoingDown, why: () => 'the node takes itself down, or its daemon is being stopped' },
  {
    id: 'rebooting',
    applies: ({ remembered }) => remembered.some(({ action, state }) => action === 'reboot' && (state === 'taken' || state === 'done')),
    why: () => 'this boot was told to reboot before',
  },
  {
    id: 'under-way',
    applies: ({ remembered }) => remembered.some(({ state }) => state === 'taken'),
    why: ({ remembered }) => `another order is under way: ${remembered.find(({ state }) => state === 'taken')?.action ?? ''}`,
  },
];

/** Whether an order is done. Once decided it stays so: what was refused is not done by a later copy of it. */
export function decideOrder(inputs: OrderInputs): OrderDecision {
  if (inputs.remembered.some(({ id }) => id === inputs.order.id)) return { id: 'again', decision: 'again' };
  const row = REFUSALS.find(({ applies }) => applies(inputs));
  return row === undefined ? { id: 'begin', decision: 'begin' } : { id: row.id, decision: 'refuse', why: row.why(inputs) };
}
