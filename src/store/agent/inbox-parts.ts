/**
 * The parts of the list of what waits: one for each kind of entry and each state of a record. Each
 * part is in the order of the list along an index, and is cut to the length of a page.
 */
import type { inboxKinds } from '#contract/agent/inbox'
import type { sourceKinds } from '#contract/records/growth/source'
import {
  type InboxKind,
  type InboxPlace,
  type InboxRecord,
  inboxPlaces,
  type WaitingState,
} from '#domain/agent/inbox'
import type { Fragment, Sql } from '../engine/db.ts'
import { anyOf, ofAccount } from '../growth/item-filter.ts'
import { havingWords } from '../growth/item-search.ts'
import type { ApprovalReader } from './approvals.ts'
import { isMadeShown } from './visibility.ts'

/** What all entries of a list have in common. */
export interface InboxFilter {
  kinds: readonly (typeof inboxKinds)[number][]
  /** The connection that it would go out from. */
  account?: string | undefined
  source?: (typeof sourceKinds)[number] | undefined
  /** Every text has all of these words. May be empty. */
  words: readonly string[]
  /** Null: the caller sees nothing of the agent. */
  as: ApprovalReader | null
}

export interface InboxPart {
  kind: InboxKind
  record: InboxRecord
  /** The table with its alias, perhaps joined to others. */
  from: Fragment
  /** The record's id. */
  id: Fragment
  where: Fragment
  /** The place of the source, a number. Absent: 0. */
  source?: Fragment
  /** What the part is sorted by within its source, before the id, and that as text. */
  key?: { column: Fragment; text: Fragment; read(text: string): Fragment }
}

type PartsOf = (sql: Sql, filter: InboxFilter) => (InboxPart | undefined)[]

const NONE = [undefined]

/** Items and engagements name only sources; those of the agent's records are these. */
const isFrom = (sql: Sql, filter: InboxFilter, source: Fragment): Fragment =>
  filter.source ? sql`and ${source} = ${filter.source}` : sql``

/**
 * Whether a text has all words, as parts of it. Upper and lower case are the same; outside ASCII
 * only a database whose locale knows the letters ignores the case of every single one.
 */
const hasWords = (sql: Sql, words: readonly string[], text: Fragment): Fragment =>
  words.reduce((before, word) => {
    const forms = [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)]
    const folded = forms.map((form) => form.replace(/[A-Z]+/g, (ascii) => ascii.toLowerCase()))
    return sql`${before} and exists (select from unnest(${[...new Set(folded)]}::text[]) w
      where strpos(lower(${text}), w) > 0)`
  }, sql``)

const item = (
  sql: Sql,
  filter: InboxFilter,
  { kind, where, ...order }: Pick<InboxPart, 'kind' | 'where' | 'source' | 'key'>,
): InboxPart => ({
  kind,
  record: 'item',
  from: sql`item i`,
  id: sql`i.id`,
  where: sql`${where} ${isFrom(sql, filter, sql`i.source_kind`)}
    ${filter.account ? sql`and ${anyOf(sql, ofAccount(sql, filter.account))}` : sql``}
    ${havingWords(sql, filter.words, { id: sql`i.id`, shelf: sql`'open'` })}`,
  ...order,
})

/** What keeps the records of one source together, in the words of the index. */
const ofSource = (sql: Sql, of: Fragment): NonNullable<InboxPart['key']> => {
  const column = sql`(case when ${of}.source_id is null or ${of}.source_kind = 'resurfaced' then ${of}.id
    else ${of}.source_id end)`
  return { column, text: sql`${column}::text`, read: (text) => sql`${text}::uuid` }
}

const waitingItems: PartsOf = (sql, filter) =>
  (['post', 'article'] as const).map((kind) =>
    item(sql, filter, {
      kind: kind === 'post' ? 'draft' : 'article',
      // As part of the text, so that the index is found.
      where: sql`i.status = 'drafted' and i.kind = '${sql.raw(kind)}'`,
      source: sql`source_place(i.source_kind)`,
      key: ofSource(sql, sql`i`),
    }),
  )

/** The account that it would go out from: the one it is bound to, or the default one. */
const engagesFrom = (sql: Sql, account: string): Fragment =>
  sql`and exists (select from connection c where c.id = ${account} and case
    when e.account_external_id is null then c.is_default and c.status = 'connected'
    else c.external_id = e.account_external_id end)`

const engagement = (
  sql: Sql,
  filter: InboxFilter,
  { kind, where, source }: Pick<InboxPart, 'kind' | 'where' | 'source'>,
): InboxPart => ({
  kind,
  record: 'engagement',
  from: sql`engagement e`,
  id: sql`e.id`,
  where: sql`${where} ${isFrom(sql, filter, sql`e.source_kind`)}
    ${filter.account ? engagesFrom(sql, filter.account) : sql``}
    ${hasWords(sql, filter.words, sql`concat_ws(' ', e.body, e.post_author, e.post_text)`)}`,
  ...(source && {
    source,
    key: ofSource(sql, sql`e`),
  }),
})

const calls: PartsOf = (sql, filter) => {
  const { as, account } = filter
  if (!as || (filter.source && filter.source !== 'agent')) return NONE
  return [
    {
      kind: 'call',
      record: 'approval',
      from: sql`calls a`,
      id: sql`a.id`,
      where: sql`not a.is_of_draft
        ${account ? sql`and a.account = (select c.handle from connection c where c.id = ${account})` : sql``}
        ${hasWords(sql, filter.words, sql`a.text`)}`,
      key: {
        column: sql`a.expires_at`,
        text: sql`lpad((extract(epoch from a.expires_at) * 1000000)::bigint::text, 17, '0')`,
        read: (text) => sql`(timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond')`,
      },
    },
  ]
}

/** A text that the reader does not see is not searched. */
const replies =
  (status: 'held' | 'unknown'): PartsOf =>
  (sql, filter) => {
    const { as, words } = filter
    if (!as || filter.account || (filter.source && filter.source !== 'agent')) return NONE
    const seen = words.length > 0 ? sql`and ${isMadeShown(sql, sql`r.conversation_id`, as)}` : sql``
    return [
      {
        kind: 'reply',
        record: 'reply',
        from: sql`channel_reply r`,
        id: sql`r.id`,
        where: sql`r.status = '${sql.raw(status)}' ${seen} ${hasWords(sql, words, sql`r.text`)}`,
      },
    ]
  }

/** Who wrote a version, as the kind of a source. */
export const versionSource = (sql: Sql): Fragment =>
  sql`case v.author->>'kind' when 'session' then 'person' when 'agent' then 'agent' else 'key' end`

/** A draft of an archived playbook would change nothing. */
const proposals: PartsOf = (sql, filter) =>
  !filter.as || filter.account
    ? NONE
    : [
        {
          kind: 'playbook',
          record: 'playbook_version',
          from: sql`playbook_version v join playbook p on p.id = v.playbook_id and p.status = 'active'`,
          id: sql`v.id`,
          where: sql`v.state = 'draft' ${isFrom(sql, filter, versionSource(sql))}
            ${hasWords(sql, filter.words, sql`concat_ws(' ', p.name, v.rationale, v.content)`)}`,
        },
      ]

/** A tool that the agent may not use anyway waits for nobody. */
const changedTools: PartsOf = (sql, filter) =>
  !filter.as || filter.account || filter.source
    ? NONE
    : [
        {
          kind: 'tool_change',
          record: 'mcp_tool',
          from: sql`agent_tool_rule u join mcp_tool t on t.name = u.tool_name
            join mcp_server s on s.id = t.server_id and s.enabled`,
          id: sql`t.id`,
          where: sql`u.server_id is not null and u.decision in ('allow', 'ask')
            and u.definition_hash is not null and u.definition_hash <> t.hash
            ${hasWords(sql, filter.words, sql`concat_ws(' ', t.name, t.title, t.description)`)}`,
        },
      ]

/** By the states that wait: a state without parts does not compile. */
const partsOf: Record<WaitingState, PartsOf> = {
  'item.approved': (sql, filter) => [
    item(sql, filter, {
      kind: 'restored',
      where: sql`i.status = 'approved' and i.restored_as_of is not null`,
    }),
  ],
  'engagement.approved': (sql, filter) => [
    engagement(sql, filter, {
      kind: 'restored',
      where: sql`e.status = 'approved' and e.restored_as_of is not null`,
    }),
  ],
  'item.publish_unconfirmed': (sql, filter) => [
    item(sql, filter, { kind: 'doubt', where: sql`i.status = 'publish_unconfirmed' and i.review` }),
  ],
  'engagement.execute_unconfirmed': (sql, filter) => [
    engagement(sql, filter, {
      kind: 'doubt',
      where: sql`e.status = 'execute_unconfirmed' and e.review`,
    }),
  ],
  'item.publish_failed': (sql, filter) => [
    item(sql, filter, { kind: 'refused', where: sql`i.status = 'publish_failed'` }),
  ],
  'engagement.execute_failed': (sql, filter) => [
    engagement(sql, filter, { kind: 'refused', where: sql`e.status = 'execute_failed'` }),
  ],
  'agent_approval.pending': calls,
  'channel_reply.held': replies('held'),
  'channel_reply.unknown': replies('unknown'),
  'playbook_version.draft': proposals,
  'mcp_tool.changed': changedTools,
  'item.drafted': waitingItems,
  'engagement.drafted': (sql, filter) => [
    engagement(sql, filter, {
      kind: 'engagement',
      where: sql`e.status = 'drafted'`,
      source: sql`source_place(e.source_kind)`,
    }),
  ],
}

/** All parts that the caller may see, whatever kinds are asked for. */
export const inboxParts = (sql: Sql, filter: InboxFilter): InboxPart[] =>
  Object.values(partsOf)
    .flatMap((parts) => parts(sql, filter))
    .filter((part) => part !== undefined)

/** Undefined if all of the part comes before the place. */
const afterPlace = (
  sql: Sql,
  { kind, id, source, key }: InboxPart,
  after: InboxPlace | undefined,
): Fragment | undefined => {
  const place = inboxPlaces[kind]
  if (!after || place > after.kind) return sql``
  if (place < after.kind) return undefined
  if (!key) return sql`and ${id} > ${after.id}::uuid`
  return source
    ? sql`and (${source}, ${key.column}, ${id}) > (${after.source}::integer, ${key.read(after.key)}, ${after.id}::uuid)`
    : sql`and (${key.column}, ${id}) > (${key.read(after.key)}, ${after.id}::uuid)`
}

/**
 * A limit whose number Postgres does not know when it plans. It then expects to read a tenth of the
 * rows, so it reads them along an index in the order that is asked for. With a known limit, it
 * would read and sort all rows of a workspace that it takes to have fewer than that: it knows only
 * how many rows a workspace has on average.
 */
export const atMost = (sql: Sql, limit: number): Fragment =>
  sql`limit (select ${sql.raw(String(limit))})`

interface Cut {
  limit: number
  after?: InboxPlace | undefined
}

/** The places of the entries after `after` that these parts have, each part cut to the limit. */
export const placesOf = (
  sql: Sql,
  parts: readonly InboxPart[],
  { limit, after }: Cut,
): Fragment[] =>
  parts.flatMap((part) => {
    const { kind, record, id, source, key } = part
    const beyond = afterPlace(sql, part, after)
    if (!beyond) return []
    const order = [source, key?.column, id].filter((one) => one !== undefined)
    return [
      sql`(select ${sql.raw(String(inboxPlaces[kind]))} as place_kind,
        ${source ?? sql`0`} as place_source, ${key?.text ?? sql`''`} as place_key,
        ${id} as place_id, '${sql.raw(kind)}' as kind, '${sql.raw(record)}' as record
        from ${part.from} where ${part.where} ${beyond}
        order by ${joined(sql, order)} ${atMost(sql, limit)})`,
    ]
  })

const joined = (sql: Sql, parts: readonly Fragment[]): Fragment =>
  sql`${parts.map((part, index) => sql`${index === 0 ? sql`` : sql`,`} ${part}`)}`
