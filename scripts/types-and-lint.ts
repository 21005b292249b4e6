// The compiler over everything, then the linter over the files given (`.`: over everything), both on one program: each type is worked out once.
import { globSync, mkdirSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import ts from 'typescript';
import { CleanFiles } from './clean-files.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What the compiler found about each file, by its content: it looks again at what a change can reach. */
const COMPILED = `${ROOT}.cache/tsc.tsbuildinfo`;
const CLEAN = `${ROOT}.cache/eslint.json`;
const MODULES = ['**/*.{ts,mts,cts,js,mjs,cjs}', '**/.*.{ts,mts,cts,js,mjs,cjs}'];
/** As the linter's configuration ignores them. */
const IGNORED = ['dist', 'coverage', '.cache', '.drill', '**/node_modules'];
const HOST: ts.FormatDiagnosticsHost = { getCurrentDirectory: () => ROOT, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };

function configuration(): ts.ParsedCommandLine {
  const onUnRecoverableConfigFileDiagnostic = (found: ts.Diagnostic): never => {
    throw new Error(ts.formatDiagnostic(found, HOST));
  };
  const options = { noEmit: true, incremental: true, tsBuildInfoFile: COMPILED };
  const parsed = ts.getParsedCommandLineOfConfigFile(`${ROOT}tsconfig.json`, options, { ...ts.sys, onUnRecoverableConfigFileDiagnostic });
  if (parsed === undefined) throw new Error('tsconfig.json cannot be read');
  return parsed;
}

/** What the compiler has against the program, as `tsc` says it. */
function compiled(builder: ts.EmitAndSemanticDiagnosticsBuilderProgram, errors: readonly ts.Diagnostic[]): string {
  const found = [...errors, ...builder.getConfigFileParsingDiagnostics(), ...builder.getOptionsDiagnostics(), ...builder.getSyntacticDiagnostics()];
  if (found.length === 0) found.push(...builder.getGlobalDiagnostics(), ...builder.getSemanticDiagnostics());
  // Writes nothing but what it found.
  found.push(...builder.emit().diagnostics);
  return ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(found), HOST);
}

/** Every module but those that are as they were when nothing was found in them; where nobody waits, every one. */
function unclean(clean: CleanFiles): string[] {
  return globSync(MODULES, { cwd: ROOT, exclude: IGNORED }).filter((file) => process.env['CI'] === 'true' || !clean.has(file));
}

async function linted(builder: ts.BuilderProgram, words: readonly string[]): Promise<string> {
  const clean = new CleanFiles(ROOT, CLEAN, builder);
  const files = words.includes('.') ? unclean(clean) : [...words];
  if (files.length === 0) return '';
  const eslint = new ESLint({
    cwd: ROOT,
    warnIgnored: false,
    overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions: { projectService: false, programs: [builder.getProgram()] } } },
  });
  const results = await eslint.lintFiles(files);
  clean.keep(new Map(results.map(({ filePath, messages }) => [relative(ROOT, filePath), messages.length === 0])));
  const formatter = await eslint.loadFormatter('stylish');
  return formatter.format(results);
}

mkdirSync(`${ROOT}.cache`, { recursive: true });
const { fileNames: rootNames, options, errors } = configuration();
const builder = ts.createIncrementalProgram({ rootNames, options });
const said = compiled(builder, errors) + (await linted(builder, process.argv.slice(2)));
process.stdout.write(said);
process.exitCode = said === '' ? 0 : 1;
