/** What goes out to channels. */

import { channelReplyRecord, questionLimits } from '#contract/records/agent/channel-message'
import type { ChannelOrigin } from '#domain/agent/channel/answer'
import type { Channel } from '#domain/agent/channel/channel'
import type { ChannelReply, ReplyStatus } from '#domain/agent/channel/reply'
import type { ShownReply } from '#domain/agent/channel/reply-view'
import type { Reader } from '#domain/agent/conversation'
import type { SealedRow } from '#kernel/sealer'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapPart, one } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { isMadeGone, isMadeShown } from './visibility.ts'

const table = tableOf(channelReplyRecord)

const replyTables = (sql: Sql): Fragment =>
  sql`channel_reply r left join channel_connection c on c.id = r.connection_id`
const channel = (sql: Sql): Fragment => sql`coalesce(r.channel, c.channel) as channel`

export const replyPart = (id: string) =>
  one<ChannelReply>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'r')} from channel_reply r where r.id = ${id}`,
  )

export const repliesPart = (connectionId: string, ids: readonly string[]) =>
  many<ChannelReply>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'r')} from channel_reply r where r.connection_id = ${connectionId}
        and r.id = any(${[...ids]}::uuid[])`,
  )

const hiddenColumns = (
  sql: Sql,
  as: Reader,
): Fragment => sql`(not ${isMadeShown(sql, sql`r.conversation_id`, as)}) as is_hidden,
  ${isMadeGone(sql, sql`r.conversation_id`)} as is_gone`

/** The message that a reply answers, with so many of its characters. */
const questionOf = (sql: Sql, as: Reader, most: number): Fragment =>
  sql`(select jsonb_build_object('text', left(m.text, ${most}), 'is_cut', length(m.text) > ${most},
    'subject', m.subject, 'sender', coalesce(m.sender_name, m.sender), 'at', m.created_at,
    'is_hidden', not ${isMadeShown(sql, sql`m.conversation_id`, as)})
    from channel_message m where m.id = r.message_id and m.text is not null) as asked`

export const shownReplyPart = (id: string, as: Reader) =>
  one<ShownReply>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'r')}, ${channel(sql)}, ${hiddenColumns(sql, as)},
        ${questionOf(sql, as, questionLimits.read)} from ${replyTables(sql)} where r.id = ${id}`,
  )

interface Filters {
  status?: ReplyStatus | undefined
  connection?: string | undefined
  job?: string | undefined
  as: Reader
}

export const listReplies =
  ({ limit, after, status, connection, job, as }: Page & Filters): Query<ShownReply> =>
  (sql) =>
    sql`select ${table.columns(sql, 'r')}, ${channel(sql)}, ${hiddenColumns(sql, as)},
      ${questionOf(sql, as, questionLimits.listed)} from ${replyTables(sql)}
      where true ${status ? sql`and r.status = ${status}` : sql``}
      ${connection ? sql`and r.connection_id = ${connection}` : sql``} ${
        job
          ? sql`and r.job_id =
        ${job}`
          : sql``
      }
      ${after ? sql`and r.id < ${after}` : sql``} order by r.id desc limit ${limit + 1}`

/** The row that the secret of a reply is sealed for. */
export const replySecretRow = (id: string): SealedRow => `channel_reply/${id}/secret`

/** What goes out with its parts but is shown nowhere. */
export interface Unshown {
  /** The sealed secret in base64; null if there is none. */
  secret: string | null
  /** The HTML of each part; null if there is none. */
  html: string[] | null
}

export const unshownPart = (id: string) =>
  one<Unshown>(
    {},
    (sql) =>
      sql`select encode(secret, 'base64') as secret, html from channel_reply where id = ${id}`,
  )

export const insertReply = (reply: ChannelReply, secret?: Buffer): Query =>
  table.insert(reply, secret && { secret })

/** Saves a reply together with its parts. */
export const saveFormed =
  (reply: ChannelReply, html: readonly string[] | null): Query =>
  (sql) =>
    sql`update channel_reply set parts = ${sql.json(reply.parts)},
      html = ${html && [...html]}::text[], updated_at = ${reply.updated_at} where id = ${reply.id}`

/**
 * Once a reply can no longer go out, its secret is of no use. `of`: its channel, if its connection
 * is deleted in the same letter but the reply stays.
 */
export const saveReply = (reply: ChannelReply, of?: Channel): Query => {
  const isPast = reply.status === 'sent' || reply.status === 'discarded'
  return table.save(reply, {
    ...(of && { connection_id: null, channel: of }),
    ...(isPast && { secret: null, html: null }),
  })
}

/** Whether the message came from a linked sender who is no longer linked to a member. */
export const isSenderGone = (messageId: string | null) =>
  mapPart(
    one<{ id: string }>(
      {},
      (sql) => sql`select m.id from channel_message m where m.id = ${messageId}
        and m.identity_id is not null and not exists (
        select from channel_identity i join member b on b.tenant_id = i.tenant_id
          and b.person_id = i.person_id where i.id = m.identity_id)`,
    ),
    (message) => message !== undefined,
  )

/** The replies of a connection of which a message is on the wire. */
export const sendingReplies = (connectionId: string) =>
  many<ChannelReply>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'r')} from channel_reply r where r.connection_id = ${connectionId}
        and r.status = 'sending' limit 100`,
  )

/**
 * The replies of a conversation that are held, waiting to be sent or on the wire, with their rows
 * of work.
 */
export const openRepliesOf = (conversationId: string) =>
  many<ChannelReply & { work: string | null }>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'r')}, w.id as work from channel_reply r
      left join work w on w.kind = 'channel_reply' and w.ref_id = r.id
      where r.conversation_id = ${conversationId} and r.status in ('held', 'queued', 'sending')
        order by r.id limit 1000`,
  )

export interface ReplyInFlight {
  reply_id: string
  origin: 'manual' | 'automatic'
  since: Date
}

/** Replies that may have a message on the wire. */
export const repliesInFlight = many<ReplyInFlight>(
  { since: true },
  (
    sql,
  ) => sql`select r.id as reply_id, 'manual' as origin, r.updated_at as since from channel_reply r
    where r.status = 'sending' order by r.id limit 100`,
)

/** The rows of work of a connection's replies that wait to be sent. */
export const waitingReplies = (connectionId: string) =>
  many<{ work: string; tries: number; run_at: Date }>(
    { run_at: true },
    (sql) => sql`select w.id as work, r.tries, w.run_at from channel_reply r
      join work w on w.kind = 'channel_reply' and w.ref_id = r.id and w.state = 'queued'
      where r.connection_id = ${connectionId} and r.status = 'queued' order by r.id limit 1000`,
  )

/** When the next message of a connection may leave. */
export const outgoingPart = (connectionId: string) =>
  one<{ next_out_at: Date | null }>(
    { next_out_at: true },
    (sql) => sql`select next_out_at from channel_connection where id = ${connectionId}`,
  )

/**
 * Notes that a message has left, which means that the provider no longer refuses to send, or that
 * the provider wants us to wait.
 */
export const saveOutgoing =
  (
    connectionId: string,
    { nextOutAt, isSent, now }: { nextOutAt: Date | null; isSent: boolean; now: Date },
  ): Query =>
  (sql) =>
    sql`update channel_connection set next_out_at = greatest(next_out_at, ${nextOutAt}::timestamptz)
      ${
        isSent
          ? sql`, last_out_at = ${now}, last_error = nullif(last_error, send_error),
        send_error = null`
          : sql``
      } where id = ${connectionId}`

/**
 * The message that began the root job with this id. Undefined if no message did, or if its
 * connection is gone.
 */
export const channelOriginPart = (rootId: string) =>
  one<ChannelOrigin>(
    {},
    (sql) => sql`select m.id as message_id, m.sender, m.sender_name, m.reply_to, m.direct_to,
      m.is_shared,
        m.conversation_id, c.id as connection_id, c.channel, c.config, exists (
          select from channel_reply u where u.status = 'unknown' and u.connection_id = c.id
            and u.conversation_id = m.conversation_id
            and not exists (select from channel_reply l where l.conversation_id = u.conversation_id
              and l.connection_id = c.id and l.id > u.id)) as is_in_doubt
      from channel_message m join channel_connection c on c.id = m.connection_id
        where m.job_id = ${rootId} limit 1`,
  )

/** `r` was on its way before that time, and no person has decided on it since. */
const wasUnderWay = (sql: Sql, before: Date): Fragment =>
  sql`r.status in ('queued', 'sending') and coalesce(r.decided_at, r.created_at) < ${before}`

/** How many replies were on their way before that time. */
export const countOldReplies = async (sql: Sql, before: Date): Promise<number> => {
  const [row] = await sql<{ count: number }>`select count(*)::int as count from channel_reply r
    where ${wasUnderWay(sql, before)}`
  return row!.count
}

/**
 * Saves replies that were on their way before that time as `left` leaves them to a person. Letters
 * of the workspace wait meanwhile.
 */
export const leaveOldReplies = async (
  sql: Sql,
  before: Date,
  left: (reply: ChannelReply) => ChannelReply,
): Promise<void> => {
  await sql`select from actor for no key update`
  const old = await sql<ChannelReply>`select ${table.columns(sql, 'r')} from channel_reply r
    where ${wasUnderWay(sql, before)}`
  for (const reply of old) {
    await saveReply(left(reply))(sql)
    await sql`delete from work where kind = 'channel_reply' and ref_id = ${reply.id}`
  }
}
