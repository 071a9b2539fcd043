/** Words of the contract as words of a command line. */

/** `postNow`, `edited_body` → `post-now`, `edited-body`. */
export const kebab = (name: string): string =>
  name
    .replaceAll(/[_\s]+/g, '-')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()

/** Options that every command, or every command of a kind, has; a field of the same name gets the prefix `input-`. */
const reservedFlags: ReadonlySet<string> = new Set([
  'all',
  'api-key',
  'api-url',
  'as-me',
  'data',
  'help',
  'idempotency-key',
  'json',
  'profile',
  'timeout',
  'version',
  'wait',
])

/** Commands that are no operations, and in the single binary those of the server. */
export const reservedGroups: ReadonlySet<string> = new Set([
  'admin',
  'completion',
  'health',
  'help',
  'login',
  'logout',
  'profiles',
  'serve',
  'whoami',
])

/** The flag of an input field, without its dashes: `writing_dna.voice_rules` → `writing-dna.voice-rules`. `--no-…` is taken for "none". */
export const flagOf = (path: readonly string[]): string => {
  const flag = path.map(kebab).join('.')
  return reservedFlags.has(flag) || flag.startsWith('no-') ? `input-${flag}` : flag
}
