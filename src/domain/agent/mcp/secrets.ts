/**
 * Servers can repeat what they were given, so secrets are removed from their texts before these are
 * kept or shown.
 */

/** Shorter values would be found in any text. */
const SHORTEST = 8
const HIDDEN = '[a secret of this server]'

/** The values of headers and variables, and what follows a scheme such as Bearer. */
export const secretsIn = (config: {
  headers?: Record<string, string>
  env?: Record<string, string>
}): string[] => {
  const values = [...Object.values(config.headers ?? {}), ...Object.values(config.env ?? {})]
  return secretsOf(values.flatMap((value) => [value, ...value.split(/[\s,;=]+/)]))
}

/** The secrets that are long enough, the longest first. */
export const secretsOf = (values: readonly string[]): string[] =>
  [...new Set(values.filter(({ length }) => length >= SHORTEST))].sort(
    (a, b) => b.length - a.length,
  )

/** The text without the secrets, even if it is JSON or part of an address. */
export const withoutSecrets = (
  text: string,
  secrets: readonly string[],
  instead = HIDDEN,
): string =>
  secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .reduce((rest, secret) => rest.replaceAll(secret, instead), text)

/** Removes the secrets from all texts in a value, including names of fields. */
export const cleanedOf = <T>(value: T, secrets: readonly string[], instead?: string): T =>
  secrets.length === 0
    ? value
    : (JSON.parse(withoutSecrets(JSON.stringify(value), secrets, instead)) as T)
