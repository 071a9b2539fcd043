/** Secrets in the clear: as text, or in any form that somebody could turn back into it. */
import { Buffer } from 'node:buffer'
import type postgres from 'postgres'
import { decodeBody, type EncodedBody } from '#store/engine/idempotency'

/** By the name under which a leak is reported. */
export type Secrets = Readonly<Record<string, string>>

/**
 * The base64 of a text at any offset in what was encoded, without the digits that its neighbours
 * change.
 */
const base64At = (bytes: Buffer, offset: number): string => {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '')
  return text.slice(
    Math.ceil((offset * 8) / 6),
    text.length - (((bytes.length + offset) * 8) % 6 === 0 ? 0 : 1),
  )
}

const WEBHOOK = 'whsec_'

/** For a webhook's secret the bytes sign; elsewhere the text is the secret. */
const formsOf = (secret: string): string[] => {
  const core = secret.startsWith(WEBHOOK) ? secret.slice(WEBHOOK.length) : secret
  const bytes = Buffer.from(core)
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset))
  const keys = core === secret ? [] : [Buffer.from(core, 'base64').toString('hex')]
  const all = [core, encodeURIComponent(core), bytes.toString('hex'), ...base64, ...keys]
  return [
    ...new Set([...all, ...all.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]),
  ]
}

/** The names of the secrets that a text holds. */
export const secretsIn = (text: string, secrets: Secrets): string[] =>
  Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [name] : [],
  )

/** `table: name` for each secret that stands in any row of any table. */
export const secretsInTables = async (owner: postgres.Sql, secrets: Secrets): Promise<string[]> => {
  const tables = await owner<
    { schema: string; name: string }[]
  >`select nspname as schema, relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'm') and nspname not like 'pg\\_%' and nspname <> 'information_schema'
      order by 1, 2`
  const forms = Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).map((form) => ({ name, form })),
  )
  const [names, texts] = [forms.map(({ name }) => name), forms.map(({ form }) => form)]
  const found: string[] = []
  for (const { schema, name } of tables) {
    const rows = await owner<
      { name: string }[]
    >`select distinct s.name from ${owner(schema)}.${owner(name)} t
      join unnest(${names}::text[], ${texts}::text[]) s (name, form) on position(s.form in t::text)
        > 0 order by 1`
    found.push(...rows.map((row) => `${name}: ${row.name}`))
  }
  return [...found, ...(await secretsInAnswers(owner, secrets))]
}

/** Long answers are kept compressed. */
const secretsInAnswers = async (owner: postgres.Sql, secrets: Secrets): Promise<string[]> => {
  const rows = await owner<
    (EncodedBody & { operation: string })[]
  >`select operation, encoding, body from idempotency
    where body is not null and encoding <> 'text'`
  return rows.flatMap(({ operation, ...answer }) =>
    secretsIn(opened(answer), secrets).map((name) => `answer of ${operation}: ${name}`),
  )
}

/** Empty for a sealed answer. */
const opened = (answer: EncodedBody): string => {
  try {
    return decodeBody(answer)
  } catch {
    return ''
  }
}
