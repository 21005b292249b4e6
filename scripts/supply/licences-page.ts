import { lockedPackages } from './locked-packages.ts';

const HEAD = `<!-- Written by \`npm run generate\` from package-lock.json; edits are lost. -->

# Licences of what ships

nodefence is under the [Apache License 2.0](../LICENSE). The program runs with these packages, whose licences allow that; each package brings the text of its licence along. A test refuses any other licence (\`scripts/supply/licences.test.ts\`). \`node scripts/supply/sbom.ts\` prints the same packages as a CycloneDX bill of materials, with the hashes of their content.

| package | version | licence |
| ------- | ------- | ------- |
`;

/** docs/licences.md: every package of the lock file that is no tool of development. */
export function licencesPage(root: string): string {
  const rows = lockedPackages(root)
    .filter(({ isDevelopment }) => !isDevelopment)
    .map(({ name, version, licence, isOptional }) => `| ${name} | ${version} | ${licence}${isOptional ? ' (optional)' : ''} |`);
  return `${HEAD}${[...new Set(rows)].join('\n')}\n`;
}
