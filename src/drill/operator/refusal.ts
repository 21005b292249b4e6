/** What the operator's folder says cannot be played; every line names file, object, key and line. Nothing was started. */
export class ConfigurationRefused extends Error {
  override readonly name = 'ConfigurationRefused';
  readonly lines: readonly string[];

  constructor(folder: string, lines: readonly string[]) {
    super(`the configuration in ${folder} cannot be played:\n${lines.map((line) => `  ${line}`).join('\n')}`);
    this.lines = lines;
  }
}
