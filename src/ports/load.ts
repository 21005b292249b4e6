/** How busy this process is. */
export interface Load {
  /** Share of the time since the last question in which its event loop was not idle; 0 to 1. */
  busyShare(): number;
}
