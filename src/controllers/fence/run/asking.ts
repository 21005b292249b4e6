/** The one question of a run, whether it may change anything: asked when the first one wants to know, and answered once. */
export class Asking {
  readonly #question: () => Promise<void>;
  #answer: Promise<void> | undefined;
  #isAllowed = false;

  /** `question` rejects where the run may change nothing, or nobody knows. */
  constructor(question: () => Promise<void>) {
    this.#question = question;
  }

  /** It was asked, and the answer was yes. */
  get isAllowed(): boolean {
    return this.#isAllowed;
  }

  answer(): Promise<void> {
    this.#answer ??= this.#question().then(() => {
      this.#isAllowed = true;
    });
    return this.#answer;
  }
}
