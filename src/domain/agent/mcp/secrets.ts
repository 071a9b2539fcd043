/**
 * Servers can repeat what they were given: no word of theirs is kept or shown with a secret in it.
 */

/** Shorter values would be found in any text. */
const SHORTEST = 8
const HIDDEN = '[a secret of this server]'

/** The values of headers and variables, and what stands behind a scheme such as Bearer. */
export const secretsIn = (config: {
  headers?: Record<string, string>
  env?: Record<string, string>
}): string[] => {
  const values = [...Object.values(config.headers ?? {}), ...Object.values(config.env ?? {})]
  return secretsOf(values.flatMap((value) => [value, ...value.split(/[\s,;=]+/)]))
}

/** Those that are long enough, the longest first. */
export const secretsOf = (values: readonly string[]): string[] =>
  [...new Set(values.filter(({ length }) => length >= SHORTEST))].sort(
    (a, b) => b.length - a.length,
  )

/** Text without them, also where it is JSON or part of an address. */
export const withoutSecrets = (
  text: string,
  secrets: readonly string[],
  instead = HIDDEN,
): string =>
  secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .reduce((rest, secret) => rest.replaceAll(secret, instead), text)

/** The same in all texts of a value, names of fields included. */
export const cleanedOf = <T>(value: T, secrets: readonly string[], instead?: string): T =>
  secrets.length === 0
    ? value
    : (JSON.parse(withoutSecrets(JSON.stringify(value), secrets, instead)) as T)
