/** What is wrong with an emulated cloud, as data; an empty object is an honest one. Times are real milliseconds. */
export interface CloudFaults {
  /** An accepted stop takes effect so late; the state is on its way until then. */
  stopMs?: number;
  startMs?: number;
  /** A stop, and a start, is accepted and nothing happens; ids of instances, or all. */
  ignoresSet?: true | readonly string[];
  /** It is on its way to stop for ever: trouble with its host. */
  sticksInStopping?: true;
  /** What the state says instead of the truth, in the cloud's own words; null too; `absent` leaves it out. */
  shows?: string | null;
  /** The operation ends in an error, after it has said that it is done. Clouds that have operations. */
  failsOperation?: true;
  /** After a stop the instance starts again by itself: a group replaces or restarts what is not healthy. */
  restartsAfterMs?: number;
  /** The instance behind the name is another one: another immutable id, UUID and address. */
  isReplaced?: true;
  /** A request whose name begins so fails with this status. */
  failures?: readonly CloudFailure[];
  /** More requests than this in a second are refused, in the cloud's own way to say so. */
  requestsPerSecond?: number;
  /** Tokens that were given until now are not taken any more. */
  forgetsTokens?: true;
  /** No login is taken. */
  refusesLogin?: true;
  /** The cloud's clock is ahead of ours. */
  aheadMs?: number;
  /** Every answer comes this late. */
  answerMs?: number;
  /** The answer to a set comes this late; what it asks for is done only then. */
  setAnswerMs?: number;
  /** Bodies are noise. */
  noise?: true;
  /** Bodies are cut in the middle, and the connection is closed. */
  truncates?: true;
  /** Half of each body comes, and the rest never. */
  stalls?: true;
  /** Requests are read and never answered. */
  isMute?: true;
}

export interface CloudFailure {
  /** Name of the request, in the emulator's words: `StopInstances`, `POST stop`. */
  request: string;
  status: number;
  /** The cloud's word for it: `UnauthorizedOperation`. */
  code: string;
  message: string;
  /** For ever when absent. */
  times?: number;
}
