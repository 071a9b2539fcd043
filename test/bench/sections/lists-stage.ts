/**
 * Workspaces with many items, as two years of work would have left them: of all states, in batches,
 * with tags, words and accounts.
 */

import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import type { Tenant, World } from '../world.ts'
import { wordAt } from './documents-stage.ts'

const WORDS_OF_ITEM = 22
const VOCABULARY = 20_000
const ITEMS_OF_BATCH = 10
const ITEMS_AT_ONCE = 5_000
const YEARS = 2
export const DAY_MS = 86_400_000

/** A word of a quarter of all posts that went out, and of nothing else. */
export const ONLY_POSTED = 'evergreen'
/** A word of all items that were rejected, and of nothing else. */
export const ONLY_REJECTED = 'unfounded'

/**
 * A tag of one in ten posts that went out in the first year, and a word of one in ten of the
 * second.
 */
export const FIRST_YEAR = 'beginnings'
export const SECOND_YEAR = 'continued'

/** A number from 0 to 1 for each item and purpose, the same in each run. */
const chance = (n: number, purpose: number): number => {
  const mixed = Math.imul(n + 1, 2_654_435_761) ^ Math.imul(purpose + 1, 1_597_334_677)
  return (Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519) >>> 0) / 0x1_0000_0000
}

type Status =
  | 'drafted'
  | 'approved'
  | 'scheduled'
  | 'posted'
  | 'rejected'
  | 'publish_failed'
  | 'publish_unconfirmed'
type Shares = [status: Status, upTo: number][]
/** What is new waits; what is old has gone out, but for some. Each with the shares before it. */
const NEW: Shares = [
  ['drafted', 0.5],
  ['approved', 0.6],
  ['scheduled', 0.8],
  ['posted', 0.95],
  ['rejected', 1],
]
const OLD: Shares = [
  ['drafted', 0.02],
  ['approved', 0.025],
  ['posted', 0.895],
  ['rejected', 0.985],
  ['publish_failed', 0.995],
  ['publish_unconfirmed', 1],
]

const statusOf = (n: number, count: number): Status => {
  const drawn = chance(n, 0)
  return (n > count * 0.9 ? NEW : OLD).find(([, upTo]) => drawn < upTo)![0]
}

/** By number: some were posted in each of the two years, far from their border. */
const isOfYear = (
  year: 1 | 2,
  n: number,
  { status, count }: { status: Status; count: number },
): boolean =>
  status === 'posted' && n % 10 === 3 && (year === 1 ? n < count * 0.45 : n > count * 0.55)

const bodyOf = (n: number, { status, count }: { status: Status; count: number }): string => {
  const words = Array.from({ length: WORDS_OF_ITEM }, (_, place) =>
    wordAt(Math.floor(VOCABULARY ** chance(n, place + 10)) - 1),
  )
  if (status === 'posted' && n % 4 === 0) words.push(ONLY_POSTED)
  if (status === 'rejected') words.push(ONLY_REJECTED)
  if (isOfYear(2, n, { status, count })) words.push(SECOND_YEAR)
  return words.join(' ')
}

const uuidOf = (text: string): string =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
/** The id of a batch by its number. */
export const batchOf = ({ id }: Tenant, number: number): string => uuidOf(`batch ${id} ${number}`)
/**
 * Its accounts: the one that is there and sends nearly all, one that sends one in a hundred, and
 * one that never sent.
 */
export const accountOf = ({ id }: Tenant, which: 'some' | 'none'): string =>
  uuidOf(`account ${id} ${which}`)

interface Made {
  n: number
  status: Status
  body: string
  tags: string
  created: number
}

const made = (count: number, now: number): Made[] =>
  Array.from({ length: count }, (_, n) => {
    const status = statusOf(n, count)
    const tags = [
      ...(n % 100 === 0 ? ['sale'] : []),
      ...(n % 5 === 0 ? ['dock'] : []),
      ...(isOfYear(1, n, { status, count }) ? [FIRST_YEAR] : []),
    ]
    return {
      n,
      status,
      body: bodyOf(n, { status, count }),
      tags: tags.join(' '),
      created: now - YEARS * 365 * DAY_MS * (1 - n / count) - 1_000,
    }
  })

/** Ids are in the order of creation, as those of a server. */
const addItems = async (
  owner: postgres.Sql,
  { id, batches }: { id: string; batches: string[] },
  items: Made[],
): Promise<void> => {
  const part = <K extends keyof Made>(key: K) => items.map((item) => item[key])
  await owner`with given as (select *, to_timestamp(created / 1000) as made_at
    from unnest(${part('n')}::int[], ${part('status')}::text[],
      ${part('body')}::text[], ${part('tags')}::text[], ${part('created')}::float8[],
        ${batches}::uuid[]) g (n, status, body, tags, created, batch_id)),
    kept as (insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
      learnings, length, batch_id, tags, post_at,
        posted_at, account_external_id, created_at, updated_at)
      select (lpad(to_hex(created::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' ||
        substr(md5(n || ${id}), 1, 15))::uuid,
        ${id}::uuid, case when n % 40 = 0 then 'article'
          else 'post' end, replace(status, 'scheduled', 'approved'), body, 'point', 'claim',
        'for a measurement', '[]', '[]', length(body), batch_id, string_to_array(tags, ' '),
        case when status = 'scheduled' then now() + (n % 720 + 1) * interval '1 hour' end, case
          when status = 'posted' then made_at + interval '3 minutes' end,
        case when status in ('drafted', 'rejected') then null when n % 100 = 1 then 'some ' || ${id}
          else 'main' end, made_at, made_at
      from given returning id, body, tags, status, at),
    settled as (select *, status in ('posted', 'rejected') as is_settled from kept)
    insert into item_word (tenant_id, word, item_id, shelf, at)
      select ${id}::uuid, w, id, case when is_settled then status else 'open' end, case
        when is_settled then at end from settled, lateral
        (select distinct regexp_split_to_table(body, ' ') w union all
        select '#' || unnest(tags)) words`
}

/** Adds so many items to each workspace, with their batches and accounts. */
export const fillItems = async (
  { owner }: World,
  tenants: Tenant[],
  each: number,
): Promise<void> => {
  const now = Date.now()
  const items = made(each, now)
  for (const tenant of tenants) {
    const batches = Array.from({ length: Math.ceil(each / ITEMS_OF_BATCH) }, (_, number) =>
      batchOf(tenant, number),
    )
    await owner`insert into batch (id, tenant_id, status, focus, requested, created_at, updated_at)
      select id, ${tenant.id}, 'ready', 'for a measurement', ${ITEMS_OF_BATCH}, now(), now()
        from unnest(${batches}::uuid[]) id`
    await owner`insert into connection (id, tenant_id, network, external_id, handle, status,
      is_default, created_at, updated_at)
      select id, ${tenant.id}, 'sandbox', which || ' ' || ${tenant.id}, which, 'connected', false,
        now(), now()
      from unnest(${[accountOf(tenant, 'some'), accountOf(tenant, 'none')]}::uuid[],
        ${['some', 'none']}::text[]) a (id, which)`
    for (let from = 0; from < each; from += ITEMS_AT_ONCE) {
      const part = items.slice(from, from + ITEMS_AT_ONCE)
      await addItems(
        owner,
        { id: tenant.id, batches: part.map(({ n }) => batches[Math.floor(n / ITEMS_OF_BATCH)]!) },
        part,
      )
    }
    await owner`update item set account_external_id = c.external_id from connection c
      where item.tenant_id = ${tenant.id} and account_external_id = 'main'
        and c.tenant_id = ${tenant.id} and c.is_default`
  }
  await owner`vacuum analyze item, item_word, batch, connection`
}
