/**
 * The hints of one thing that happens, and whether they cover all that its statements wrote. Which
 * hints are expected is in test/data/hints.json; UPDATE_ROUND_TRIPS=1 with
 * `npm test -- test/flow/round-trips` writes today's there.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type HintKind, rowHints } from '#contract/hints'
import { type ChangeHint, hintsOf } from '#decisions/app/hints'
import type { TestApp } from '../app.ts'

/** Tables without a declared record, and what changes for those who look when they are written. */
const otherTables: Record<string, HintKind | null> = {
  account_authorization: 'connection',
  agent_module: 'module',
  channel_link_code: 'channel_identity',
  member: 'member',
  redraft: 'item',
  resident_post: 'sandbox',
  tenant: 'workspace',
  webhook_endpoint: 'webhook',
  // The row of a job, a document, an artifact or an item changes with these, and says so.
  agent_event: null,
  file: null,
  file_block: null,
  item_print: null,
  item_word: null,
  item_word_move: null,
  document_word: null,
  // What nobody is shown.
  actor: null,
  audit: null,
  counter: null,
  deployment: null,
  deployment_secret: null,
  device_grant: null,
  file_removal: null,
  idempotency: null,
  inbound_event: null,
  inbound_route: null,
  migration: null,
  node: null,
  outbox: null,
  person: null,
  person_reset: null,
  throttle: null,
  work: null,
}

/** The kinds of which one must be hinted if the table was written. */
const kindsOf = (table: string): HintKind[] => {
  const declared = rowHints[table]
  if (declared) return declared.map(([kind]) => kind)
  const kind = otherTables[table]
  if (kind === undefined) throw new Error(`which hint is due when ${table} is written?`)
  return kind === null ? [] : [kind]
}

const WRITES =
  /\b(?:insert into|update|delete from) "?(\w+)"?(?= set| \(| where| using| \w+ (?:set|using|where))/g

const writtenTables = (texts: readonly string[]): string[] => [
  ...new Set(
    texts.flatMap((text) =>
      [...text.replace(/\s+/g, ' ').matchAll(WRITES)].map((match) => match[1]!),
    ),
  ),
]

/** Collects the hints of all commits, whoever follows. */
export const hearAll = ({ workplace: { hints } }: TestApp): ChangeHint[] => {
  const heard: ChangeHint[] = []
  const { committed } = hints
  hints.committed = (tenantId, letter) => {
    heard.push(...hintsOf(letter))
    committed.call(hints, tenantId, letter)
  }
  return heard
}

const FILE = new URL('../../data/hints.json', import.meta.url)
type Section = 'commands' | 'work'
const read = (): Record<Section, Record<string, string>> => JSON.parse(readFileSync(FILE, 'utf8'))

/** The names in a section of the table. */
export const hintedNames = (section: Section): string[] => Object.keys(read()[section])

/** Each as `what: kind`, without its id or who did it. */
const shownOf = (hints: readonly ChangeHint[]): string =>
  [...new Set(hints.map(({ what, kind }) => `${what}: ${kind}`))].sort().join(', ')

/** Throws if something was written of which no hint tells, or if the hints are others. */
export const expectHints = (
  section: Section,
  name: string,
  { hints, texts }: { hints: readonly ChangeHint[]; texts: readonly string[] },
): void => {
  const kinds = new Set(hints.map(({ kind }) => kind))
  const silent = writtenTables(texts).filter((table) => {
    const due = kindsOf(table)
    return due.length > 0 && !due.some((kind) => kinds.has(kind))
  })
  if (silent.length > 0) throw new Error(`${name}: no hint tells that ${silent.join()} was written`)
  const all = read()
  const shown = shownOf(hints)
  if (all[section][name] === shown) return
  if (!process.env.UPDATE_ROUND_TRIPS)
    throw new Error(`${name}: expected ${all[section][name]}; heard ${shown}`)
  const entries = Object.entries({ ...all[section], [name]: shown })
  all[section] = Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(FILE, `${JSON.stringify(all, null, 2)}\n`)
}
